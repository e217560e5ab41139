/** Runs the program without the deployment service: every server comes from another source. */
import { createServer } from 'node:http'
import { existsSync, mkdtempSync, readdirSync, rmSync } from 'node:fs'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { checkLive } from '../cli/live-check.js'
import { BACKEND_KEY, configOf, DUEL, openServer, SERVICE_TOKEN, yamlOf } from './server.fixture.js'

const ARENA =
  'pools:\n  - { name: arena, source: local, reuse: { maxMatches: 20 }, deploy: { application: g, version: v } }\n'
const POOLED = '\n  - { name: duel, matchSize: 2, pool: arena }\n'

/** Returns the configuration of a pool of local processes, with its own folder. */
function arena(pool = ARENA): string {
  const state = mkdtempSync(join(tmpdir(), 'muster-no-service-'))
  onTestFinished(() => rmSync(state, { recursive: true }))
  return `${pool}sources: { local: { launch: { command: ['/bin/sleep', '60'], folder: /, state: '${state}' } } }\n`
}
const without = (more: string, queues = POOLED) => yamlOf('http://unused', more, queues).replace(/^service:.*\n/m, '')

test('without a deployment service, Muster serves players with servers of its source only', async () => {
  const text = without(arena())
  const { server, ask } = await openServer(text)
  onTestFinished(async () => void (await server.close()))
  const ready = await ask('GET', '/readyz')
  expect([ready.status, await ready.json()]).toEqual([200, { ready: true, why: [] }])
  const tickets = ['ann', 'ben'].map((id) => ({
    profile: 'duel',
    player_id: id,
    player_ip: '192.0.2.7',
    attributes: {},
  }))
  expect((await ask('POST', '/tickets/batch', { token: BACKEND_KEY, body: { tickets } })).status).toBe(200)
  const folder = join(/state: '([^']+)'/.exec(text)?.[1] ?? '', 'test.local')
  await expect.poll(() => existsSync(folder) && readdirSync(folder).length).toBe(1)

  for (const [deploys, works, last] of [
    [false, true, 'works source local: it answers a poll'],
    [true, false, 'fails deployment: no server was created, because the configuration has no service'],
  ] as const) {
    const lines: string[] = []
    const live = await checkLive({
      config: await configOf(text),
      deploys,
      announce: () => {},
      said: (one) => lines.push(`${one.works ? 'works' : 'fails'} ${one.what}: ${one.says}`),
    })
    expect([live, lines.length, lines.at(-1)]).toEqual([works, deploys ? 2 : 1, last])
  }
})

test('a reload that adds a deployment service refuses queues that use the service until a restart', async () => {
  const sourced = arena()
  const { server } = await openServer(without(sourced))
  onTestFinished(async () => void (await server.close()))
  const reload = async (more: string, queues = POOLED) =>
    server.reload(await configOf(yamlOf('http://127.0.0.1:1', more, queues)))
  const { changes } = await reload(sourced)
  expect(changes).toEqual([{ field: 'service', text: 'nothing → given', isLive: false }])
  const needs = 'needs `service`, which this process started without. Restart it.'
  const own = `${POOLED}${DUEL.replace('duel', 'own').trimStart()}`.replace('- name: own', '  - name: own')
  await expect(reload(sourced, own)).rejects.toThrow(`queues.1.deploy: ${needs}`)
  await expect(reload(sourced.replace('source: local, ', ''))).rejects.toThrow(`pools.0.deploy: ${needs}`)
  expect(server.config().pools[0]?.source).toBe('local')
})

test('a deployment service removed by a reload is used until the restart, with its last token', async () => {
  const tokens: (string | undefined)[] = []
  const stub = createServer((request, response) => {
    tokens.push(request.headers.authorization)
    response
      .writeHead(200, { 'content-type': 'application/json' })
      .end('{"beacons":[],"count":0,"data":[],"total_count":0}')
  })
  const url = await new Promise<string>((resolve) =>
    stub.listen(0, '127.0.0.1', () => resolve(`http://127.0.0.1:${(stub.address() as AddressInfo).port}`)),
  )
  onTestFinished(() => {
    stub.close()
    stub.closeAllConnections()
  })
  const sourced = arena()
  const { server, ask } = await openServer(yamlOf(url, sourced, POOLED))
  onTestFinished(async () => void (await server.close()))
  const { changes } = await server.reload(await configOf(without(sourced)))
  expect(changes).toEqual([{ field: 'service', text: 'given → nothing', isLive: false }])
  tokens.length = 0
  expect((await ask('GET', '/locations/beacons', { token: BACKEND_KEY })).status).toBe(200)
  expect([...new Set(tokens)]).toEqual([`token ${SERVICE_TOKEN}`])
})
