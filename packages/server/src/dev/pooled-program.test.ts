/** Runs the program with a pool as a studio configures it: servers outlive a restart, and results reach the backend. */
import { createHmac } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import type { AddressInfo } from 'node:net'
import { createServer as createHttpServer } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { systemClock } from '@muster/core/clock'
import type { ContainerSpec } from '@muster/emulator'
import { defaultGameServerSettings, simulatedGameServers } from '@muster/emulator/internal'
import { afterEach, expect, test } from 'vitest'
import { readConfigText } from '../config/index.js'
import { BACKEND_KEY, env, freePort, openService, yamlOf } from '../running/server.fixture.js'
import { startServer } from '../running/start-server.js'

const ends: (() => unknown)[] = []
afterEach(async () => {
  for (const end of ends.splice(0).toReversed()) await end()
})

const RESULTS_SECRET = `whsec_${Buffer.alloc(24, 9).toString('base64')}`

/** Starts a backend that accepts results and records them with their signatures. */
async function openBackend() {
  const taken: { readonly body: string; readonly headers: Readonly<Record<string, unknown>> }[] = []
  const server = createHttpServer((request, response) => {
    let body = ''
    request.on('data', (data: Buffer) => (body += data.toString()))
    request.on('end', () => {
      taken.push({ body, headers: request.headers })
      response.writeHead(204).end()
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  ends.push(() => server.close())
  return { taken, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/results` }
}

test('after a restart of Muster, warm servers are used, token keys stay, and results arrive', async () => {
  const tokens: string[] = []
  const settings = { ...defaultGameServerSettings, matchMs: 3_600_000 }
  const play = simulatedGameServers(settings, { clock: systemClock, random: Math.random, speed: 1, fetch })
  const service = await openService({
    launch: (spec: ContainerSpec) => {
      tokens.push(spec.env['MUSTER_SERVER_TOKEN'] ?? '')
      return play(spec)
    },
  })
  ends.push(() => service.emulator.close())
  const backend = await openBackend()
  const folder = mkdtempSync(join(tmpdir(), 'muster-pool-'))
  ends.push(() => rmSync(folder, { recursive: true }))
  const port = await freePort()
  const url = `http://127.0.0.1:${port}`
  const more = `
listen: { port: ${port}, publicUrl: '${url}' }
store: { folder: ${folder} }
servers: { secret: { env: JWT_SECRET } }
joinTokens: { alg: EdDSA }
results: { url: '${backend.url}', secret: { env: RESULTS } }
pools:
  - name: arena
    deploy: { application: my-game, version: '1.0' }
    places: [{ name: Frankfurt, latitude: 50.1, longitude: 8.7 }]
    reuse: { maxMatches: 20 }
    at: [{ cron: '* * * * *', minutes: 2, min: 1 }]
`
  const text = yamlOf(service.url, more, '\n  - { name: duel, matchSize: 2, pool: arena }\n')
  const start = async () => {
    const read = await readConfigText(text.replace('listen: { port: 0 }\n', ''), {
      path: '/nowhere/muster.yaml',
      env: { ...env, RESULTS: RESULTS_SECRET },
    })
    return startServer(read.config, { write: () => {} })
  }
  const ask = (method: string, path: string, token: string, body?: object) =>
    fetch(url + path, {
      method,
      headers: { authorization: `Bearer ${token}`, ...(body && { 'content-type': 'application/json' }) },
      ...(body && { body: JSON.stringify(body) }),
    })
  const ready = () =>
    service.emulator.inspect().deployments.filter((one) => one.current_status === 'Status.READY').length

  const first = await start()
  await expect.poll(ready).toBeGreaterThan(0)
  const keysBefore = await (await ask('GET', '/.well-known/jwks.json', '')).json()
  await first.close()
  const second = await start()
  ends.push(() => second.close())
  const created = service.emulator.inspect().deployments.length
  expect(await (await ask('GET', '/.well-known/jwks.json', '')).json()).toEqual(keysBefore)

  // The server has registered again within the wait of its report, and a match takes it.
  const players = ['ann', 'ben']
  const playing = async () => {
    const answer = await ask('GET', '/players/ann', BACKEND_KEY)
    const { matches = [] } = (await answer.json()) as {
      matches?: { match_id: string; assignment?: { join_token?: string } }[]
    }
    return matches[0]
  }
  await expect
    .poll(async () => (await (await ask('GET', '/readyz', '')).json()) as object)
    .toMatchObject({ ready: true })
  const tickets = players.map((player_id) => ({ profile: 'duel', player_id, player_ip: '192.0.2.7', attributes: {} }))
  expect((await ask('POST', '/tickets/batch', BACKEND_KEY, { tickets })).status).toBe(200)
  await expect.poll(async () => (await playing())?.assignment !== undefined).toBe(true)
  expect(service.emulator.inspect().deployments.length).toBeLessThanOrEqual(created + 2)

  const { match_id: matchId = '' } = (await playing()) ?? {}
  const results = await Promise.all(
    tokens.map((token) => {
      const over = {
        id: matchId,
        status: 'over',
        players: { ann: 'in', ben: 'in' },
        result: { ranking: [['ben'], ['ann']] },
      }
      return ask('POST', '/servers', token, { instance: 'the end' }).then(() =>
        ask('PUT', '/servers/me', token, { instance: 'the end', seq: 1, matches: [over] }),
      )
    }),
  )
  for (const answer of results) await answer.body?.cancel()
  await expect.poll(() => backend.taken.length).toBeGreaterThan(0)
  const [{ body, headers } = { body: '', headers: {} as Readonly<Record<string, unknown>> }] = backend.taken
  expect(JSON.parse(body)).toMatchObject({
    type: 'match.over',
    data: { match_id: matchId, ranking: [['ben'], ['ann']] },
  })
  const signed = `${String(headers['webhook-id'])}.${String(headers['webhook-timestamp'])}.${body}`
  const key = Buffer.from(RESULTS_SECRET.slice('whsec_'.length), 'base64')
  expect(headers['webhook-signature']).toBe(`v1,${createHmac('sha256', key).update(signed).digest('base64')}`)
}, 90_000)
