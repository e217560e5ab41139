import { createHash } from 'node:crypto'
import { Script } from 'node:vm'
import { describe, expect, test } from 'vitest'
import { studio } from '../deployments/studio.fixture.js'
import { createEmulator, type Emulator } from '../emulator.js'
import { started, version } from '../emulator.fixture.js'
import type { EmulatorOptions } from '../options.js'
import { pageScript } from './page-script.js'

/** Requests a page without a token. */
const get = (emulator: Emulator, path = '/_emulator', method = 'GET') =>
  emulator.fetch(new Request(`http://any${path}`, { method }))
const pageOf = async (emulator: Emulator, path = '/_emulator') => (await get(emulator, path)).text()

describe('the page and its state', () => {
  test('the emulator page and its state are HTML and JSON for the same origin only', async () => {
    const { emulator } = started()
    for (const [path, type] of [
      ['/_emulator', 'text/html; charset=utf-8'],
      ['/_emulator/state', 'application/json'],
      ['/_emulator?x=1#y', 'text/html; charset=utf-8'],
    ] as const) {
      const { status, headers } = await get(emulator, path)
      expect([status, headers.get('content-type')]).toEqual([200, type])
      expect(headers.get('x-content-type-options')).toBe('nosniff')
      expect(headers.get('cross-origin-resource-policy')).toBe('same-origin')
      expect(headers.get('cache-control')).toBe('no-store')
      expect(Array.from(headers.keys()).filter((name) => name.startsWith('access-control'))).toEqual([])
      expect(headers.get('content-security-policy')).toMatch(/^default-src 'none'; .*frame-ancestors 'none'/)
    }
  })

  test('the emulator page is served over HTTP', async () => {
    const { emulator } = started()
    const { url } = await emulator.listen()
    const page = await fetch(`${url}/_emulator`)
    expect([page.status, await page.text()]).toEqual([200, await pageOf(emulator)])
    await emulator.close()
  })

  test('the emulator page allows only its own style and script', async () => {
    const { emulator } = started()
    const answer = await get(emulator)
    const policy = answer.headers.get('content-security-policy')
    const page = await answer.text()
    for (const kind of ['style', 'script']) {
      const all = Array.from(page.matchAll(new RegExp(`<${kind}>([^]*?)</${kind}>`, 'g')), ([, text = '']) => text)
      expect(all.length).toBe(1)
      expect(policy).toContain(`${kind}-src 'sha256-${createHash('sha256').update(all.join('')).digest('base64')}'`)
    }
    expect(page).not.toMatch(/ (style|on\w+)=|(src|href|action)="(?!\/_emulator["/]|#land"|data:)/)
  })

  test('the script of the emulator page has no syntax errors', () => {
    expect(() => new Script(pageScript)).not.toThrow()
  })

  test('the emulator page and its state are read-only and only at their own paths', async () => {
    const { emulator } = started()
    const posted = await get(emulator, '/_emulator', 'POST')
    expect([posted.status, posted.headers.get('allow')]).toEqual([405, 'GET'])
    expect(emulator.counters.unrouted).toBe(0)
    for (const path of [
      '/_emulator/',
      '/_emulator/other',
      '/_emulator/deployments',
      '/_emulator/deployments/a/b',
      '/_emulator/deployments/..',
      '/_emulators',
      '/v1/_emulator',
      '/_emulator%2fstate',
    ]) {
      expect([path, (await get(emulator, path)).status]).toEqual([path, 404])
    }
    expect(emulator.counters.unrouted).toBe(8)
  })

  test('the root of the emulator redirects browsers to the page, but not programs', async () => {
    const { emulator } = started()
    const root = (accept?: string, method = 'GET') =>
      emulator.fetch(new Request('http://any/', { method, headers: accept === undefined ? {} : { accept } }))
    const led = await root('text/html,application/xhtml+xml,*/*;q=0.8')
    expect([led.status, led.headers.get('location')]).toEqual([302, '/_emulator'])
    expect((await root('application/json')).status).toBe(404)
    expect((await root()).status).toBe(404)
    expect((await root('text/html', 'POST')).status).toBe(404)
    const without = started({ page: false }).emulator
    expect((await without.fetch(new Request('http://any/', { headers: { accept: 'text/html' } }))).status).toBe(404)
  })

  test('the emulator page and its state can be turned off', async () => {
    const { emulator } = started({ page: false })
    expect([(await get(emulator)).status, (await get(emulator, '/_emulator/state')).status]).toEqual([404, 404])
    expect(emulator.counters.unrouted).toBe(2)
    expect(() => createEmulator(JSON.parse('{"page":"off"}') as EmulatorOptions)).toThrow(
      /^option page: must be true or false, got a text$/,
    )
  })

  test('an operation whose configured path is that of the emulator page can still be called', async () => {
    const { call, emulator } = started({ settings: { createDeploymentPath: '/_emulator' } })
    expect(await call('POST', '/_emulator', {})).toMatchObject({
      status: 400,
      body: { message: 'application: is missing' },
    })
    expect((await get(emulator)).status).toBe(200)
  })

  test('requests for the emulator page are not counted, limited, delayed or faulted as operations', async () => {
    const { call, emulator, clock } = started({
      latencyMs: 1000,
      faults: [
        { operation: '*', nth: [1], status: 503 },
        { operation: 'deployments.list', drop: 'before', nth: [2] },
      ],
    })
    for (let request = 0; request < 50; request++) expect((await get(emulator)).status).toBe(200)
    expect(emulator.counters).toMatchObject({ requests: {}, rejected: {}, unrouted: 0, dropped: 0 })
    expect(clock.sleepers).toBe(0)
    const first = call('GET', '/v1/deployments')
    await clock.advance(1000)
    expect((await first).status).toBe(503)
  })
})

test('names are escaped in the emulator page', async () => {
  const { call, emulator, deploy } = await studio()
  const image = '"><img src=x onerror=alert(1)>'
  const evil = `${image}<script>alert('2')</script>`
  await call('POST', '/v1/app', { name: evil })
  const path = `/v1/app/${encodeURIComponent(evil)}/version`
  expect((await call('POST', path, { ...version, name: evil })).status).toBe(200)
  await call('POST', '/v1/fleet', { name: evil })
  await call('POST', `/v1/fleet/${encodeURIComponent(evil)}/policies`, { name: evil })
  const id = await deploy({ application: evil, version: evil, tags: [image] })
  emulator.faults.add({ operation: '*', status: 500, probability: 0.125, message: evil })

  const page = await pageOf(emulator)
  expect(page).not.toMatch(/<img|onerror=alert\(1\)>|alert\('2'\)/)
  expect(page.match(/<script/g)).toHaveLength(1)
  expect(page).toContain(`<code>${id}</code>`)
  const detail = await pageOf(emulator, `/_emulator/deployments/${id}`)
  expect(detail).not.toMatch(/<img|onerror=alert\(1\)>|alert\('2'\)/)
  const searched = await pageOf(emulator, `/_emulator?q=${encodeURIComponent(evil)}`)
  expect(searched).not.toMatch(/<img|onerror=alert\(1\)>|alert\('2'\)/)
  expect(searched).toContain('value="&#34;&#62;&#60;img')
  // The name occurs in the application, its version, both again with the deployment, its tag, the fleet, its policy,
  // and the fault's message.
  expect(page.split('&#60;img src=x onerror=alert(1)&#62;')).toHaveLength(1 + 8)
  expect(page).toContain('12.5 % of requests')
})

test('empty sections of the emulator page show a placeholder text', async () => {
  const { emulator } = started()
  const page = await pageOf(emulator)
  for (const [id, said] of [
    ['requests', 'None so far.'],
    ['rejections', 'None: no request has been over a limit.'],
    ['locations', 'No location has a deployment.'],
    ['applications', 'None so far.'],
    ['fleets', 'None so far.'],
    ['faults', 'None: everything goes as documented.'],
  ]) {
    expect(page).toMatch(new RegExp(`<section id="${id}">\\n<h2>.*</h2>\\n<p class="none">${said}</p>`))
  }
  expect(await pageOf(emulator, '/_emulator?q=x')).toContain('None so far')
})

test('the emulator page shows the state, with accessible names for all its parts', async () => {
  const { call, clock, emulator, deploy } = await studio({
    limits: {},
    capacity: 3,
    faults: [{ operation: 'deployments.get', nth: [1, 3], count: 1, status: 503, retryAfterMs: 1000 }],
  })
  await call('PATCH', '/v1/app/arena', { is_active: true })
  const ids = [await deploy({ tags: ['match-7'] }), await deploy()]
  await clock.advance(20_000)
  await call('DELETE', `/v1/stop/${ids[0]}`)
  for (let request = 0; request < 12; request++) await call('GET', '/v1/deployments')
  const page = await pageOf(emulator)
  const section = (id: string) => new RegExp(`<section id="${id}">[^]*?</section>`).exec(page)?.[0] ?? ''

  expect(page).toMatch(
    /<html lang="en">[^]*<title>Muster emulator<\/title>[^]*<h1><a href="\/_emulator">Muster emulator<\/a><\/h1>/,
  )
  expect(page).toContain('<time datetime="2026-01-01T00:00:20.000Z">2026-01-01 00:00:20 UTC</time>')
  expect(page).toContain('<dt>ready</dt><dd><b>1</b>')
  expect(page).toContain('<dt>stopping</dt><dd><b>1</b>')
  expect(page).toContain('<dt>Rejected (429)</dt><dd><b>2</b>')
  expect(section('map')).toMatch(/role="img" aria-label="World map: 2 deployments at \d of \d+ locations/)
  const link = `<a href="/_emulator/deployments/${ids[0]}"><code>${ids[0]}</code></a>`
  const row = `id="deployments-${ids[0]}"><th role="rowheader" scope="row">${link}</th>.*TERMINATING.*match-7`
  expect(section('deployments')).toMatch(new RegExp(row))
  expect(section('deployments')).toContain('<td role="cell" data-heading="Age" class="number">20 s</td>')
  expect(section('locations')).toContain('<th role="columnheader" scope="col" class="number">Capacity</th>')
  expect(section('requests')).toContain(
    '<code>deployments.list</code></th><td role="cell" data-heading="Requests" class="number">12</td>',
  )
  expect(section('requests')).toContain('<b>429</b> × 2')
  expect(section('rejections')).toContain(
    '<th role="rowheader" scope="row">listDeployments</th>' +
      '<td role="cell" data-heading="Rejected" class="number">2</td>',
  )
  expect(section('faults')).toContain('requests 1, 3, at most 1 time')
  expect(section('faults')).toContain('retryAfterMs: 1000')
  expect(section('faults')).toContain('class="number">0 of 0</td>')
  expect(section('map')).toContain('<small>1 ready, 1 stopping</small>')
  for (const [, id] of page.matchAll(/aria-labelledby="([\w-]+)"/g)) expect(page).toContain(`id="${id}"`)
  const all = Array.from(page.matchAll(/ id="([^"]+)"/g), ([, id]) => id)
  expect(new Set(all).size).toBe(all.length)
})
