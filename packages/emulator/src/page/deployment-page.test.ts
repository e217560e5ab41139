import { expect, test } from 'vitest'
import { studio } from '../deployments/studio.fixture.js'
import type { Emulator } from '../emulator.js'
import type { EmulatorOptions } from '../options.js'

const read = async (emulator: Emulator, id: string) => {
  const answer = await emulator.fetch(new Request(`http://any/_emulator/deployments/${id}`))
  return { status: answer.status, text: await answer.text() }
}
const sectionOf = (page: string, id: string) => new RegExp(`<section id="${id}">[^]*?</section>`).exec(page)?.[0] ?? ''

const envs = [
  { key: 'API_SECRET', value: 'NAMED-LIKE-ONE' },
  { key: 'A', value: 'VERSION-SECRET', is_secret: true },
  { key: 'B', value: 'replaced', is_secret: true },
]
const environment_variables = [
  { key: 'B', value: 'plain <b>', is_hidden: false },
  { key: 'C', value: 'HIDDEN-ONE', is_hidden: true },
]

async function deployed(options: EmulatorOptions = {}) {
  const made = await studio(options, { envs })
  const id = await made.deploy({ environment_variables, tags: ['match-7'] })
  return { ...made, id, page: async () => (await read(made.emulator, id)).text }
}

test('a deployment page shows facts, steps, ports, log and variables', async () => {
  const { clock, id, page, emulator } = await deployed()
  await clock.advance(15_000)
  const text = await page()
  expect(text).toContain(`<title>${id} – Muster emulator</title>`)
  const summary = sectionOf(text, 'deployment')
  for (const part of [
    '>READY</span> for 4 s',
    'arena 1.0',
    'Copenhagen',
    '15 s ago',
    'match-7',
    `data-stop="/_emulator/deployments/${id}/stop"`,
  ]) {
    expect(summary).toContain(part)
  }
  expect(sectionOf(text, 'failure')).toBe('')
  expect(sectionOf(text, 'log')).toMatch(/starting arena 1\.0\n.* listening on 7777\/UDP \(game\)\n.* ready/)
  expect(sectionOf(text, 'ports')).toMatch(/game.*>7777<.*>30000<.*>UDP</)
  const steps = Array.from(sectionOf(text, 'steps').matchAll(/status \w+">(\w+)</g), ([, status]) => status)
  expect(steps).toEqual(['INITIALIZING', 'SEEKING', 'SEEKED', 'SCANNING', 'DEPLOYING', 'READY'])

  const variables = sectionOf(text, 'variables')
  for (const name of ['A', 'API_SECRET', 'B', 'C', 'SERVICE_REQUEST_ID', 'SERVICE_DELETE_TOKEN']) {
    expect(variables).toContain(`<code>${name}</code>`)
  }
  expect(variables).toContain('<code>plain &#60;b&#62;</code>')
  const secrets = [
    'NAMED-LIKE-ONE',
    'VERSION-SECRET',
    'HIDDEN-ONE',
    emulator.environment(id)?.['SERVICE_DELETE_TOKEN'] as string,
  ]
  for (const secret of secrets) expect(text).not.toContain(secret)
  expect(variables.split('class="hidden-value"')).toHaveLength(1 + secrets.length)
  for (const [, label] of text.matchAll(/aria-labelledby="([\w-]+)"/g)) expect(text).toContain(`id="${label}"`)
})

test('a deployment page shows the reason of a failure without secrets', async () => {
  const { clock, page } = await deployed({
    launch: ({ env }) => Promise.reject(new Error(`no image for ${env['C']} and ${JSON.stringify(env)}`)),
  })
  await clock.advance(15_000)
  const text = await page()
  expect(sectionOf(text, 'deployment')).toContain('>ERROR</span>')
  expect(sectionOf(text, 'failure')).toMatch(/the container could not be started: no image for •••••• and \{/)
  expect(text).not.toMatch(/HIDDEN-ONE|VERSION-SECRET/)
})

test('a deployment page shows the exit code and last output of a container without secrets', async () => {
  const said = Array.from({ length: 300 }, (_, line) => `line ${line} with HIDDEN-ONE`).join('\n')
  const container = { exited: Promise.resolve(7), logs: () => said, stop: () => {} }
  const { clock, page } = await deployed({ launch: () => container })
  await clock.advance(15_000)
  const text = await page()
  expect(sectionOf(text, 'failure')).toContain('ended by itself with exit code 7')
  expect(sectionOf(text, 'failure')).toContain('Exit code <b>7</b>')
  expect(sectionOf(text, 'log')).toContain('line 299 with ••••••</pre>')
  expect(sectionOf(text, 'log')).not.toContain('line 99 ')
})

test('a deployment page shows that no server could be allocated', async () => {
  const { clock, page } = await deployed({ capacity: 0 })
  await clock.advance(1000)
  const text = await page()
  expect(sectionOf(text, 'deployment')).toContain('none: no server could be allocated')
  expect(sectionOf(text, 'failure')).toContain('Allocate Server')
  expect(sectionOf(text, 'log')).toContain('Nothing so far')
})

test('an unknown deployment has a 404 page', async () => {
  const { emulator } = await studio()
  const { status, text } = await read(emulator, 'abc')
  expect([status, text.includes('does not know <code>abc</code>'), text.includes('<main id="live">')]).toEqual([
    404,
    true,
    true,
  ])
})

test('a deployment page stops its deployment only by its button', async () => {
  const { clock, id, emulator, page } = await deployed({ token: undefined })
  await clock.advance(15_000)
  const { url, close } = await emulator.listen()
  const stop = (headers: Readonly<Record<string, string>>, of = id, method = 'POST') =>
    fetch(`${url}/_emulator/deployments/${of}/stop`, { method, headers })
  const button = { 'x-muster-emulator': 'stop' }
  // Two attacks. A form of another site sends no header. A script of another site on the same machine sends a request
  // whose Sec-Fetch-Site header names its origin.
  expect((await stop({})).status).toBe(403)
  expect((await stop({ 'content-type': 'application/x-www-form-urlencoded' })).status).toBe(403)
  expect((await stop({ ...button, 'sec-fetch-site': 'cross-site' })).status).toBe(403)
  expect((await stop({ ...button, 'sec-fetch-site': 'same-site' })).status).toBe(403)
  expect((await stop(button, id, 'GET')).status).toBe(405)
  expect((await stop(button, 'abc')).status).toBe(404)
  // The CORS preflight that a browser sends before it lets another site's script send the header.
  const asked = await stop({ origin: 'http://evil.example', 'access-control-request-method': 'POST' }, id, 'OPTIONS')
  expect([asked.status, asked.headers.get('access-control-allow-origin')]).toEqual([405, null])
  expect(await page()).toContain('>READY</span>')

  const stopped = await stop({ ...button, 'sec-fetch-site': 'same-origin' })
  expect([stopped.status, await stopped.json()]).toEqual([200, { outcome: 'stopped' }])
  expect(await page()).toContain('>TERMINATING</span>')
  expect(await page()).not.toContain('data-stop')
  expect(await (await stop(button)).json()).toEqual({ outcome: 'stopping already' })
  expect(emulator.counters).toMatchObject({ unrouted: 0 })
  await close()
})

test('the stop button of a deployment page needs the token if the emulator has a configured token', async () => {
  const { clock, id, emulator } = await deployed({ token: 'dev' })
  await clock.advance(15_000)
  const stop = (headers: Readonly<Record<string, string>>) =>
    emulator.fetch(new Request(`http://any/_emulator/deployments/${id}/stop`, { method: 'POST', headers }))
  const button = { 'x-muster-emulator': 'stop' }
  expect((await stop(button)).status).toBe(401)
  expect((await stop({ ...button, authorization: 'token wrong' })).status).toBe(401)
  expect((await stop({ authorization: 'token dev' })).status).toBe(403)
  expect(emulator.inspect().deployments[0]?.current_status).toBe('Status.READY')
  expect((await stop({ ...button, authorization: 'token dev' })).status).toBe(200)
})
