/** Tests that everything that a successful response promises survives a kill -9 right after the response. */
import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { bearerToken } from '@muster/core/http'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { COMMANDS } from '../commands.js'
import { KEY, NEXT_KEY, own } from '../enrolled-servers.fixture.js'
import { createWorlds, duel } from '../logged-matchmaker.fixture.js'
import type { HostingEntry, ServerLog } from '@muster/hosting/internal'
import { ticketRoutes } from './routes.js'
import { createTicketApi } from './ticket-api.js'

const { createWorld, removeAll } = createWorlds()
afterEach(removeAll)

/** A backend that refuses every result. */
beforeEach(() => void vi.stubGlobal('fetch', async () => new Response(null, { status: 400 })))
afterEach(() => void vi.unstubAllGlobals())
const results = {
  url: 'https://game.example.com/results',
  secret: `whsec_${Buffer.from('x'.repeat(32)).toString('base64')}`,
}

type Route = keyof typeof ticketRoutes
type World = ReturnType<typeof createWorld>
type Life = Awaited<ReturnType<World['live']>>
type Json = Readonly<Record<string, unknown>>

const routes = Object.entries(ticketRoutes) as [Route, { readonly method: string; readonly path: string }][]
const commands = routes.filter(([, { method }]) => method !== 'GET').map(([route]) => route)

test('docs/ticket-api.md has one line for every route that changes something', () => {
  const path = fileURLToPath(new URL('../../../../docs/ticket-api.md', import.meta.url))
  const [, section = ''] = readFileSync(path, 'utf8').split('## What an answer promises')
  const described = [...section.matchAll(/^\| `([A-Z]+ [^`]+)` \|/gm)].map(([, route]) => route)
  const wanted = commands.map((route) => `${ticketRoutes[route].method} ${ticketRoutes[route].path}`)
  expect(described.toSorted()).toEqual(wanted.toSorted())
})

/** Makes writes of servers asynchronous, as in Redis. */
const slowly = (servers: ServerLog): ServerLog => ({
  ...servers,
  append: async (entries: readonly HostingEntry[]) => {
    await new Promise((resolve) => setImmediate(resolve))
    await servers.append(entries)
  },
})

const queues = [
  { ...duel, cooldown: {} },
  { ...duel, name: 'asked', acceptance: { withinMs: 60_000 } },
  { ...duel, name: 'registering', deploy: { ...duel.deploy, probe: { kind: 'registration' as const } } },
  { ...duel, name: 'three', matchSize: undefined, teams: [{ name: 'all', size: 3 }] },
]
const places = [{ name: 'Oslo', latitude: 59.9, longitude: 10.7 }]
const arena = { name: 'arena', deploy: duel.deploy, places, custom: {} }
const player = (id: string) => ({ player_id: id, player_ip: '192.0.2.1' })

/** Starts a process with the API over its matchmaker. */
async function begin(world: World) {
  const life = await world.live({
    over: slowly,
    queues,
    pools: [arena, { ...own, name: 'own' }],
    results,
  })
  for (let turn = 0; turn < 3; turn += 1) await new Promise((resolve) => setImmediate(resolve))
  const api = createTicketApi(life.matchmaker, {
    authenticate: (request) => {
      const id = bearerToken(request) ?? ''
      if (id === KEY) return undefined
      return id === 'backend' ? { id, role: 'backend' } : { id }
    },
    address: () => '192.0.2.1',
    clock: world.clock,
    store: life.log,
    limits: { perCaller: null, perAddress: null },
    streamTokens: { key: new Uint8Array(32) },
  })
  const call = async (who: string, method: string, path: string, body?: unknown) => {
    const answer = await api(
      new Request(`http://muster.invalid${path}`, {
        method,
        headers: { authorization: `Bearer ${who}`, 'content-type': 'application/json' },
        ...(body !== undefined && { body: JSON.stringify(body) }),
      }),
    )
    const text = await answer.text()
    return { status: answer.status, json: (text === '' ? {} : JSON.parse(text)) as Json }
  }
  return { ...life, call }
}
type Running = Awaited<ReturnType<typeof begin>>

/** Queues players until they are in a match. */
async function inMatch({ matchmaker, run }: Life, queue: string, ids: readonly string[], ms: number) {
  for (const id of ids) matchmaker.createTicket({ id, queue, players: [{ id, ip: '192.0.2.1' }] })
  await run(ms)
  return matchmaker.getTicket(ids[0] ?? '')?.matchId ?? ''
}

/** Creates a match whose result the backend has refused. */
async function refused(life: Running): Promise<string> {
  const matchId = await inMatch(life, 'three', ['ann', 'ben', 'cas'], 8000)
  await life.matchmaker.stopMatch(matchId, { until: 'recorded' })
  await life.run(1000)
  while (life.matchmaker.resultsSetAside().length === 0) await new Promise((resolve) => setImmediate(resolve))
  return matchId
}

/** Each entry runs a command as the last action before the kill. It returns a check for the next process. */
const promises: Readonly<Record<string, (life: Running, world: World) => Promise<(next: Running) => unknown>>> = {
  createTicket: async ({ call }) => {
    const { json } = await call('ann', 'POST', '/tickets', { profile: 'duel' })
    return async (next) => expect((await next.call('ann', 'GET', `/tickets/${String(json['id'])}`)).status).toBe(200)
  },
  createTickets: async ({ call }) => {
    await call('backend', 'POST', '/tickets/batch', { tickets: [{ profile: 'duel', ...player('ann') }] })
    return (next) => expect(next.matchmaker.findPlayer('ann').tickets).toHaveLength(1)
  },
  createParty: async ({ call }) => {
    const body = { player_tickets: ['ann', 'ben'].map((id) => ({ profile: 'duel', ...player(id) })) }
    expect((await call('backend', 'POST', '/group-tickets', body)).status).toBe(201)
    return (next) => expect(next.matchmaker.findPlayer('ben').tickets).toHaveLength(1)
  },
  createMatch: async ({ call }) => {
    const teams = [{ name: 'all', players: ['ann', 'ben', 'cas'].map(player) }]
    expect((await call('backend', 'POST', '/matches', { profile: 'three', teams })).status).toBe(201)
    return (next) => expect(next.matchmaker.findPlayer('cas').tickets).toHaveLength(1)
  },
  deleteTicket: async ({ call, join }) => {
    join('ann')
    expect((await call('backend', 'DELETE', '/tickets/ann')).status).toBe(204)
    return (next) => expect(next.matchmaker.getTicket('ann')).toBeUndefined()
  },
  declineMatch: async (life) => {
    await inMatch(life, 'asked', ['ann', 'ben'], 250)
    expect((await life.call('backend', 'POST', '/tickets/ann/decline')).status).toBe(200)
    return (next) => expect(next.matchmaker.getTicket('ann')).toBeUndefined()
  },
  acceptMatch: async (life) => {
    await inMatch(life, 'asked', ['ann', 'ben'], 250)
    expect((await life.call('backend', 'POST', '/tickets/ann/accept')).status).toBe(200)
    // The ticket still exists, but its players must accept a match again.
    return (next) => expect(next.matchmaker.getTicket('ann')?.status).toBe('SEARCHING')
  },
  createGroup: async ({ call }) => {
    const body = { profile: 'three', is_ready: false }
    const { json } = await call('ann', 'POST', '/groups', body)
    return async (next) => {
      expect((await next.call('ann', 'GET', `/groups/${String(json['group_id'])}`)).status).toBe(200)
    }
  },
  joinGroup: async ({ call }) => {
    const body = { profile: 'three', is_ready: false }
    const { json } = await call('ann', 'POST', '/groups', body)
    const path = `/groups/${String(json['group_id'])}`
    expect((await call('ben', 'POST', `${path}/members`, body)).status).toBe(201)
    return async (next) => expect((await next.call('ben', 'GET', path)).status).toBe(200)
  },
  setReady: async ({ call }) => {
    const { json } = await call('ann', 'POST', '/groups', { profile: 'three', is_ready: false })
    const path = `/groups/${String(json['group_id'])}/members/${String(json['member_id'])}`
    expect((await call('ann', 'PATCH', path, { is_ready: true })).status).toBe(200)
    return (next) => expect(next.matchmaker.findPlayer('ann').tickets).toHaveLength(1)
  },
  leaveGroup: async ({ call }) => {
    const { json } = await call('ann', 'POST', '/groups', { profile: 'three', is_ready: true })
    const path = `/groups/${String(json['group_id'])}/members/${String(json['member_id'])}`
    expect((await call('ann', 'DELETE', path)).status).toBe(204)
    return (next) => expect(next.matchmaker.findPlayer('ann').tickets).toEqual([])
  },
  deleteGroup: async ({ call }) => {
    const { json } = await call('ann', 'POST', '/groups', { profile: 'three', is_ready: true })
    expect((await call('ann', 'DELETE', `/groups/${String(json['group_id'])}`)).status).toBe(204)
    return (next) => expect(next.matchmaker.findPlayer('ann').tickets).toEqual([])
  },
  createBackfill: async (life) => {
    const matchId = await inMatch(life, 'three', ['ann', 'ben', 'cas'], 8000)
    await life.call('backend', 'POST', `/matches/${matchId}/players-left`, { player_ids: ['ann'] })
    const { status, json } = await life.call('backend', 'POST', '/backfills', { match_id: matchId })
    expect(status).toBe(201)
    return async (next) =>
      expect((await next.call('backend', 'GET', `/backfills/${String(json['id'])}`)).json['status']).toBe('SEARCHING')
  },
  updateBackfill: async (life) => {
    const matchId = await inMatch(life, 'three', ['ann', 'ben', 'cas'], 8000)
    await life.matchmaker.playersLeft(matchId, ['ann', 'ben'])
    const { id, version } = life.matchmaker.createBackfill({ matchId })
    const body = { version, teams: [{ name: 'all', slots: 1 }] }
    expect((await life.call('backend', 'PATCH', `/backfills/${id}`, body)).status).toBe(200)
    return (next) => expect(next.matchmaker.getBackfill(id)).toMatchObject({ version: 2, teams: [{ slots: 1 }] })
  },
  deleteBackfill: async (life) => {
    const matchId = await inMatch(life, 'three', ['ann', 'ben', 'cas'], 8000)
    await life.matchmaker.playersLeft(matchId, ['ann'])
    const { id } = life.matchmaker.createBackfill({ matchId })
    expect((await life.call('backend', 'DELETE', `/backfills/${id}`)).status).toBe(204)
    return (next) => expect(next.matchmaker.getBackfill(id)?.status).not.toBe('OPEN')
  },
  forgive: async (life) => {
    await inMatch(life, 'duel', ['ann', 'ben'], 250)
    life.matchmaker.cancelTicket('ann', 'ann')
    expect(life.matchmaker.cooldownsOf('ann')).toHaveLength(1)
    expect((await life.call('backend', 'DELETE', '/players/ann/cooldown')).status).toBe(204)
    return (next) => expect(next.matchmaker.cooldownsOf('ann')).toEqual([])
  },
  pauseQueue: async ({ call }) => {
    expect((await call('backend', 'POST', '/queues/duel/pause')).status).toBe(204)
    return (next) => expect(next.matchmaker.inspect().queues[0]?.paused).toBe(true)
  },
  pausePool: async ({ call }) => {
    expect((await call('backend', 'PATCH', '/pools/arena', { paused: true })).status).toBe(204)
    return (next) => expect(next.matchmaker.inspect().pools[0]?.paused).toBe(true)
  },
  resumeQueue: async ({ call, matchmaker }) => {
    matchmaker.pauseQueue('duel')
    expect((await call('backend', 'POST', '/queues/duel/resume')).status).toBe(204)
    return (next) => expect(next.matchmaker.inspect().queues[0]?.paused).toBe(false)
  },
  playersLeft: async (life) => {
    const matchId = await inMatch(life, 'three', ['ann', 'ben', 'cas'], 8000)
    const body = { player_ids: ['ann'] }
    expect((await life.call('backend', 'POST', `/matches/${matchId}/players-left`, body)).status).toBe(204)
    return (next) => expect(next.matchmaker.inspect().matches[0]?.playerIds).toEqual(['ben', 'cas'])
  },
  reportServer: async (life, { service }) => {
    const matchId = await inMatch(life, 'three', ['ann', 'ben', 'cas'], 8000)
    const environment = service.calls.create.at(-1)?.environment_variables
    const token = environment?.find(({ key }) => key === 'MUSTER_SERVER_TOKEN')?.value ?? ''
    expect((await life.call(token, 'POST', '/servers', { instance: 'one' })).status).toBe(200)
    const state = (seq: number, status: string) => ({
      instance: 'one',
      seq,
      matches: [{ id: matchId, status, players: { ann: 'in', ben: 'left', cas: 'in' } }],
    })
    expect((await life.call(token, 'PUT', '/servers/me', state(1, 'open'))).status).toBe(200)
    return async (next) => {
      expect(next.matchmaker.inspect().matches[0]?.playerIds).toEqual(['ann', 'cas'])
      // The server must register again. Then its whole report counts.
      expect((await next.call(token, 'PUT', '/servers/me', state(2, 'over'))).json['code']).toBe(
        'server-not-registered',
      )
      expect((await next.call(token, 'POST', '/servers', { instance: 'one' })).status).toBe(200)
      expect((await next.call(token, 'PUT', '/servers/me', state(3, 'over'))).json).toMatchObject({ want: 'stop' })
      expect(next.matchmaker.findPlayer('ann').tickets).toEqual([])
    }
  },
  drainServer: async (life, { service }) => {
    const serverId = await inMatch(life, 'three', ['ann', 'ben', 'cas'], 8000)
    const environment = service.calls.create.at(-1)?.environment_variables
    const token = environment?.find(({ key }) => key === 'MUSTER_SERVER_TOKEN')?.value ?? ''
    expect((await life.call(token, 'POST', '/servers', { instance: 'one' })).status).toBe(200)
    expect((await life.call('backend', 'POST', `/servers/${serverId}/drain`)).status).toBe(202)
    expect((await life.call('backend', 'POST', `/servers/${serverId}/drain`)).status).toBe(202)
    return async (next) =>
      expect((await next.call(token, 'POST', '/servers', { instance: 'one' })).json).toMatchObject({
        want: 'drain',
        reason: 'operator',
        matches: [{ id: serverId }],
      })
  },
  startServer: async ({ call }, { service }) => {
    const { status, json } = await call('ann', 'POST', '/pools/arena/servers', { password: 'pw' })
    expect(status).toBe(202)
    const [seat] = json['seats'] as [{ seat_id: string }]
    return async (next) => {
      expect((await next.call('ann', 'GET', `/seats/${seat.seat_id}`)).json).toEqual(seat)
      await next.run(1000)
      expect(service.unstopped()).toHaveLength(1)
    }
  },
  releaseSeat: async ({ call, run }, { service }) => {
    const { json } = await call('ann', 'POST', '/pools/arena/servers', {})
    const [{ seat_id: seatId }] = json['seats'] as [{ seat_id: string }]
    await run(1000)
    expect((await call('ann', 'DELETE', `/seats/${seatId}`)).status).toBe(204)
    return async (next) => {
      expect((await next.call('ann', 'GET', `/seats/${seatId}`)).json['code']).toBe('no-such-seat')
      await next.run(5000)
      expect(service.unstopped()).toEqual([])
    }
  },
  stopServer: async (life) => {
    const serverId = await inMatch(life, 'three', ['ann', 'ben', 'cas'], 8000)
    expect((await life.call('backend', 'DELETE', `/servers/${serverId}`)).status).toBe(202)
    expect((await life.call('backend', 'DELETE', `/servers/${serverId}`)).status).toBe(202)
    return (next) => expect(next.matchmaker.findPlayer('ann').tickets).toEqual([])
  },
  revokeEnrolment: async (life) => {
    const enrolled = { instance: 'one', name: 'fra-1', address: { ports: { game: { port: 7777 } } } }
    const { status, json } = await life.call(KEY, 'POST', '/servers', enrolled)
    const again = await life.call(KEY, 'POST', '/servers', enrolled)
    expect([status, again.status, again.json['token']]).toEqual([200, 200, json['token']])
    const enrol = [{ ...own.enrol[0], key: NEXT_KEY }]
    life.matchmaker.reconfigure(queues, { pools: [arena, { ...own, name: 'own', enrol }] })
    for (const _ of ['once', 'again'])
      expect((await life.call('backend', 'POST', '/enrolments/73dc7b7a/revoke')).status).toBe(202)
    return async (next) => {
      await next.run(500)
      expect((await next.call(String(json['token']), 'POST', '/servers', enrolled)).status).not.toBe(200)
      expect(next.matchmaker.inspect().servers).toEqual([])
    }
  },
  repeatResult: async (life) => {
    const path = `/results/${await refused(life)}/repeat`
    expect((await life.call('backend', 'POST', path)).status).toBe(202)
    expect((await life.call('backend', 'POST', path)).status).toBe(404)
    return async (next) => {
      expect((await next.call('backend', 'GET', '/results')).json).toEqual({ total: 0, results: [] })
      expect(next.matchmaker.inspect().resultsPending).toBe(1)
    }
  },
  dropResult: async (life) => {
    const matchId = await refused(life)
    const listed = await life.call('backend', 'GET', '/results')
    expect(listed.json['results']).toMatchObject([{ match_id: matchId, profile: 'three' }])
    expect((await life.call('ann', 'GET', '/results')).status).toBe(403)
    expect((await life.call('ann', 'DELETE', `/results/${matchId}`)).status).toBe(403)
    expect((await life.call('backend', 'DELETE', `/results/${matchId}`)).status).toBe(204)
    return (next) => {
      expect(next.matchmaker.resultsSetAside()).toEqual([])
      expect(next.matchmaker.inspect().resultsPending).toBe(0)
    }
  },
  endMatch: async (life) => {
    const matchId = await inMatch(life, 'three', ['ann', 'ben', 'cas'], 8000)
    expect((await life.call('backend', 'DELETE', `/matches/${matchId}`)).status).toBe(202)
    expect((await life.call('backend', 'DELETE', `/matches/${matchId}`)).status).toBe(202)
    return (next) => expect(next.matchmaker.findPlayer('ann').tickets).toEqual([])
  },
}

/**
 * Routes whose responses promise nothing beyond the present: servers register again, and tokens can be created anew.
 */
const OF_THE_MOMENT: readonly Route[] = [
  ...commands.filter((route) => route in COMMANDS && ['current', 'hint'].includes(COMMANDS[route as 'hint'][1])),
  'createStreamToken',
  // matchmaker.seats.test.ts shows that repeating the request holds the seat again.
  'holdSeat',
  'quickJoin',
]

test('every command whose promise docs/ticket-api.md documents has a case in this test', () => {
  expect([...Object.keys(promises), ...OF_THE_MOMENT].toSorted()).toEqual(commands.toSorted())
})

test.each(Object.keys(promises))(
  'the promise that docs/ticket-api.md gives for %s holds if the process is killed after its answer',
  async (route) => {
    const world = createWorld()
    const life = await begin(world)
    const holds = await (promises[route] as (typeof promises)[string])(life, world)
    world.kill()
    await expect((async () => holds(await begin(world)))()).resolves.not.toThrow()
  },
)
