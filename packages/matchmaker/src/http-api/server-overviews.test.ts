/** Tests what backends read about game servers and pools, and how they drain and stop a server and pause a pool. */
import { createManualClock, seededRandom } from '@muster/core/clock'
import { bearerToken } from '@muster/core/http'
import { createTestService } from '@muster/hosting/service-fixture'
import { RegistrationBody } from '@muster/hosting/internal'
import { expect, test } from 'vitest'
import { createMatchmaker } from '../create-matchmaker.js'
import { ticketRoutes } from './routes.js'
import { createTicketApi } from './ticket-api.js'

const arena = {
  name: 'arena',
  deploy: { application: 'game', version: '1' },
  places: [{ name: 'Oslo', latitude: 59.9, longitude: 10.7 }],
  at: [{ cron: '* * * * *', minutes: 2, min: 1 }],
}

/** Starts a pool with one warm server. */
async function open(inspect: boolean) {
  const clock = createManualClock()
  const { deployments, calls } = createTestService({ clock, fate: () => ({ readyMs: 1000 }) })
  const queues = [{ name: 'duel', matchSize: 2, pool: 'arena' }]
  const matchmaker = createMatchmaker({ deployments, queues, pools: [arena], clock, random: seededRandom(1) })
  const api = createTicketApi(matchmaker, {
    authenticate: (request) => {
      const id = bearerToken(request) ?? ''
      return id === 'backend' ? { id, role: 'backend' } : { id }
    },
    address: () => '192.0.2.1',
    clock,
    inspect,
  })
  const call = async (who: string, method: string, path: string, body?: object) => {
    const headers = { authorization: `Bearer ${who}`, ...(body && { 'content-type': 'application/json' }) }
    const init = { method, headers, ...(body && { body: JSON.stringify(body) }) }
    const answer = await api(new Request(`http://muster.invalid${path}`, init))
    const text = await answer.text()
    return { status: answer.status, text, json: (text === '' ? undefined : JSON.parse(text)) as never }
  }
  const run = async (ms: number) => {
    for (let passed = 0; passed < ms; passed += 250) {
      await matchmaker.tick()
      await clock.advance(250)
    }
  }
  await run(2000)
  const variables = calls.create[0]?.environment_variables
  const token = variables?.find(({ key }) => key === 'MUSTER_SERVER_TOKEN')?.value ?? ''
  const { id, key } = matchmaker.registerServer(token, RegistrationBody.parse({ instance: 'one', build: '7' }))
  await run(12_000)
  return { call, run, id, token, key, clock }
}

test('GET /pools and GET /inspect/servers show pools and servers without tokens and keys', async () => {
  const { call, id, token, key, clock } = await open(true)
  const pools = await call('backend', 'GET', '/pools')
  expect(ticketRoutes.readPools.output?.parse(pools.json)).toEqual(pools.json)
  expect(pools.json).toMatchObject({
    pools: [
      { pool: 'arena', place: 'Oslo', wanted: 1, idle: 1, asked: 0, hits: 0, expected_hit: null, boot_seconds: 2 },
    ],
  })
  const servers = await call('backend', 'GET', '/inspect/servers')
  expect(servers.json).toEqual({
    servers: [
      {
        id,
        state: 'IDLE',
        pool: 'arena',
        place: 'Oslo',
        source: null,
        enrolment_key: null,
        request_id: 'r1',
        build: '7',
        matches: [],
        matches_at_once: 1,
        matches_served: 0,
        players_in: 0,
        seats: null,
        registered_at: new Date(clock.now() - 12_000).toISOString(),
        silent_seconds: 12,
        draining: null,
      },
    ],
  })
  for (const secret of [token, key]) expect(servers.text + pools.text).not.toContain(secret)
})
