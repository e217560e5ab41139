import { createMemoryStore, type PoolDefinition, type StoreMemory } from '@muster/hosting'
import { type MatchRecord, RegistrationBody, ReportBody, type ServerRecord } from '@muster/hosting/internal'
import { createTestService } from '@muster/hosting/service-fixture'
import { createManualClock } from '@muster/core/clock'
import { expect, test } from 'vitest'
import { createMatchmakerOver } from './create-matchmaker.js'
import { setUp, watched } from './matchmaker.fixture.js'
import type { MatchmakerOptions } from './options.js'

const oslo = { name: 'Oslo', latitude: 59.9, longitude: 10.7 }
const arena: PoolDefinition = {
  name: 'arena',
  deploy: { application: 'game', version: '1' },
  places: [oslo],
  reuse: { maxMatches: 20 },
  warm: { hit: 0, max: 5 },
  at: [{ cron: '* * * * *', minutes: 2, min: 1 }],
  keepIdleSeconds: 5,
}
const queues = [{ name: 'duel', matchSize: 2, pool: 'arena' }]

const storedAs = <T>(memory: StoreMemory, kind: 'match' | 'server'): readonly T[] =>
  Array.from(memory.get(kind)?.values() ?? [], ({ value, change = '{}' }) => ({
    ...(JSON.parse(value) as T),
    ...(JSON.parse(change) as Partial<T>),
  }))

/** Opens servers of a pool, and Muster processes one after another over one store. */
function open(pool: PoolDefinition = arena, options: Parameters<typeof setUp>[0] = {}) {
  const memory: StoreMemory = new Map()
  const { clock, service, ...first } = setUp({
    queues,
    pools: [pool],
    store: createMemoryStore(memory),
    service: { fate: () => ({ readyMs: 2000 }) },
    ...options,
  })
  let { matchmaker, seen, join, status } = first
  const servers = new Map<string, { seq: number; isSilent: boolean; over: boolean }>()
  const registered = new Set<string>()
  const say = async (token: string, requestId: string) => {
    const server = servers.get(requestId) ?? { seq: 0, isSilent: false, over: false }
    servers.set(requestId, server)
    if (server.isSilent) return
    if (!registered.has(requestId)) {
      registered.add(requestId)
      matchmaker.registerServer(token, RegistrationBody.parse({ instance: requestId }))
    }
    const report = (matches: readonly unknown[]) => {
      server.seq += 1
      return matchmaker.reportServer(token, ReportBody.parse({ instance: requestId, seq: server.seq, matches }))
    }
    const given = memoryOf.get(requestId) ?? []
    const orders = await report(given.map((id) => ({ id, status: server.over ? 'over' : 'open' })))
    memoryOf.set(
      requestId,
      orders.matches.map(({ id }) => id),
    )
    if (orders.matches.length > 0) await report(orders.matches.map(({ id }) => ({ id, status: 'open' })))
  }
  /** By server: the matches that it knows. */
  const memoryOf = new Map<string, readonly string[]>()
  const run = async (ms: number) => {
    for (let passed = 0; passed < ms; passed += 500) {
      await matchmaker.tick()
      await clock.advance(500)
      for (const { requestId, tags, stopAskedAt, createdAt } of service.records) {
        const create = service.calls.create.find((input) => input.tags?.every((tag) => tags.includes(tag)))
        const token = create?.environment_variables?.find(({ key }) => key === 'MUSTER_SERVER_TOKEN')?.value ?? ''
        if (stopAskedAt === undefined && clock.now() >= createdAt + 2000) await say(token, requestId)
      }
    }
  }
  const restart = async (options: Partial<MatchmakerOptions> = {}) => {
    await clock.until(matchmaker.close())
    matchmaker = createMatchmakerOver({
      deployments: service.deployments,
      queues,
      pools: [pool],
      clock,
      store: createMemoryStore(memory),
      ...options,
    })
    registered.clear()
    ;({ seen, join, status } = watched(matchmaker))
  }
  return {
    clock,
    service,
    servers,
    run,
    restart,
    ticket: (id: string) => matchmaker.getTicket(id),
    cancel: (id: string) => matchmaker.cancelTicket(id),
    join: (...ids: string[]) => join(...ids),
    status: (id: string) => status(id),
    seen: () => seen,
    /** Returns the stored servers of pools. */
    stored: () => storedAs<ServerRecord>(memory, 'server').filter((record) => record.pool !== undefined),
    memory,
    storedMatches: () => storedAs<MatchRecord>(memory, 'match'),
    close: () => clock.until(matchmaker.close({ stopServers: true })),
  }
}

test('a warm server that does not register again after a restart is stopped and replaced', async () => {
  const { service, servers, run, restart } = open()
  await run(5000)
  expect(service.unstopped()).toEqual(['r1'])
  for (const server of servers.values()) server.isSilent = true
  await restart()
  await run(80_000)
  expect(service.unstopped()).toEqual(['r1'])
  await run(10_000)
  expect(service.unstopped()).toEqual(['r2'])
})

test('a match keeps a server that registers again within 25 s of a restart, though Muster paused', async () => {
  const { clock, service, servers, run, restart, join, ticket } = open()
  await run(5000)
  for (const server of servers.values()) server.isSilent = true
  join('ann', 'ben')
  await run(1000)
  await restart()
  await clock.advance(6000)
  await run(15_000)
  for (const server of servers.values()) server.isSilent = false
  await run(2000)
  expect(ticket('ann-ben')?.assignment?.fqdn.split('.')[0]).toBe('r1')
  expect(service.unstopped()).toContain('r1')
})

test('a match gets another server if its first server does not register again after a restart', async () => {
  const { service, servers, run, restart, join, status } = open()
  await run(5000)
  for (const server of servers.values()) server.isSilent = true
  join('ann', 'ben')
  await run(1000)
  await restart()
  await run(20_000)
  expect(status('ann-ben')).toBe('MATCH_FOUND')
  await run(15_000)
  expect(status('ann-ben')).toBe('HOST_ASSIGNED')
  expect(service.records.length).toBeGreaterThan(1)
})

test('after a restart each warm server is still at its place, and none is created twice', async () => {
  const bergen = { name: 'Bergen', latitude: 40, longitude: -74 }
  const { service, run, restart } = open({ ...arena, places: [bergen, oslo] })
  await run(8000)
  expect(service.unstopped()).toHaveLength(2)
  await restart()
  await run(60_000)
  await run(2000)
  expect(service.unstopped()).toHaveLength(2)
})

test('a restart does not reset the age of a server: the server is retired on time, after its match', async () => {
  const { service, servers, run, restart, join, ticket } = open({
    ...arena,
    reuse: { maxMatches: 20, maxAgeMinutes: 2 },
  })
  await run(100_000)
  join('ann', 'ben')
  await run(2000)
  const { requestId = '' } = { requestId: ticket('ann-ben')?.assignment?.fqdn.split('.')[0] }
  await restart()
  // The server has reached its maximum age, but its match continues.
  await run(60_000)
  expect(ticket('ann-ben')).toMatchObject({ status: 'HOST_ASSIGNED' })
  expect(ticket('ann-ben')?.ended).toBeUndefined()
  expect(service.unstopped()).toContain(requestId)
  const server = servers.get(requestId)
  if (server !== undefined) server.over = true
  await run(2000)
  expect(service.unstopped()).not.toContain(requestId)
})

test('a restart with another application version replaces idle servers, and running matches continue', async () => {
  const { service, run, restart, join, ticket } = open()
  await run(5000)
  join('ann', 'ben')
  await run(5000)
  expect(service.unstopped()).toEqual(['r1', 'r2'])
  await restart({ pools: [{ ...arena, deploy: { application: 'game', version: '2' } }] })
  await run(20_000)
  expect(service.calls.create.map(({ version }) => version)).toEqual(['1', '1', '2'])
  expect(service.unstopped()).toEqual(['r1', 'r3'])
  expect(ticket('ann-ben')?.ended).toBeUndefined()
})

test('servers of a pool that is gone after a restart are stopped once their matches are over', async () => {
  const { service, servers, run, restart, join, ticket } = open()
  await run(5000)
  join('ann', 'ben')
  await run(5000)
  await restart({ pools: [], queues: [{ name: 'duel', matchSize: 2, deploy: { application: 'game', version: '1' } }] })
  await run(5000)
  expect(service.unstopped()).toEqual(['r1'])
  expect(ticket('ann-ben')?.ended).toBeUndefined()
  for (const server of servers.values()) server.over = true
  await run(3000)
  expect(service.unstopped()).toEqual([])
})

test.each([
  ['is running', 6000],
  ['is starting', 500],
])('a match whose own server %s keeps this server if its queue gets a pool at a restart', async (_, ms) => {
  const { service, run, restart, join, ticket } = open(arena, {
    pools: [],
    queues: [{ name: 'duel', matchSize: 2, deploy: { application: 'game', version: '1' } }],
  })
  join('ann', 'ben')
  await run(ms)
  expect(service.unstopped()).toEqual(['r1'])
  await restart()
  await run(30_000)
  expect(ticket('ann-ben')).toMatchObject({ status: 'HOST_ASSIGNED', assignment: { fqdn: 'r1.example.com' } })
  expect(ticket('ann-ben')?.ended).toBeUndefined()
  expect(service.unstopped()).toContain('r1')
})

test('a match whose server is starting gets a server of its own if its queue loses its pool at a restart', async () => {
  const { service, run, restart, join, ticket } = open({ ...arena, at: [] })
  join('ann', 'ben')
  await run(500)
  expect(service.unstopped()).toEqual(['r1'])
  await restart({ pools: [], queues: [{ name: 'duel', matchSize: 2, deploy: { application: 'game', version: '1' } }] })
  await run(10_000)
  expect(ticket('ann-ben')).toMatchObject({ status: 'HOST_ASSIGNED', attempts: 0 })
  expect(service.unstopped()).toEqual(['r2'])
})

const slow: NonNullable<NonNullable<Parameters<typeof setUp>[0]>['service']> = {
  fate: () => ({ readyMs: 2000 }),
  latencyMs: (method) => (method === 'list' ? 0 : 1000),
}

test('a server whose create was not sent before a restart is created again, and its match does not fail', async () => {
  const { service, run, restart, join, ticket, seen, stored } = open(arena, { maxCreatesInFlight: 1, service: slow })
  await run(500)
  join('ann', 'ben')
  await run(500)
  expect(stored().filter(({ sentAt }) => sentAt === undefined)).toHaveLength(1)
  await restart()
  await run(10_000)
  expect(ticket('ann-ben')).toMatchObject({ status: 'HOST_ASSIGNED', attempts: 0 })
  expect(seen().problem).toBeUndefined()
  expect(service.unstopped()).toHaveLength(2)
})

test('after a restart, a running match counts towards `maxMatches` even if its count is not stored', async () => {
  const { service, run, restart, servers, join, memory } = open({ ...arena, at: [], reuse: { maxMatches: 1 } })
  join('ann', 'ben')
  await run(6000)
  expect(memory.get('server')?.size).toBe(1)
  for (const [key, { value, change = '{}' }] of memory.get('server') ?? []) {
    const whole = { ...JSON.parse(value), ...JSON.parse(change) } as Partial<ServerRecord>
    expect(whole.matchesServed).toBe(1)
    memory.get('server')?.set(key, { key, value: JSON.stringify({ ...whole, matchesServed: undefined }) })
  }
  await restart()
  for (const server of servers.values()) server.over = true
  await run(6000)
  expect(service.unstopped()).toEqual([])
})

test('when a match moves to another server, the match counts of both are stored in the same write', async () => {
  const memory: StoreMemory = new Map()
  const store = createMemoryStore(memory)
  const seen = new Set<string>()
  const write: typeof store.write = (changes) => {
    store.write(changes)
    const [match] = storedAs<MatchRecord>(memory, 'match')
    const [first] = storedAs<ServerRecord>(memory, 'server')
    if (match !== undefined) seen.add(`${match.serverId === first?.serverId} ${first?.matchesServed}`)
  }
  const { servers, run, join } = open(arena, { maxServers: 1, store: { ...store, write } })
  await run(5000)
  for (const server of servers.values()) server.isSilent = true
  join('ann', 'ben')
  await run(4000)
  expect([...seen].slice(0, 3)).toEqual(['false undefined', 'true 1', 'false 0'])
})

test('a match dropped at a restart before it was played does not count towards `maxMatches`', async () => {
  const { servers, run, restart, join, stored, storedMatches } = open()
  await run(5000)
  for (const server of servers.values()) server.isSilent = true
  join('ann', 'ben')
  await run(1000)
  expect(stored()).toMatchObject([{ matchesServed: 1 }, {}])
  await restart({ queues: [{ name: 'other', matchSize: 2, pool: 'arena' }] })
  await run(500)
  expect(storedMatches()).toEqual([])
  expect(stored()).toMatchObject([{ matchesServed: 0 }, {}])
})

test('a match cancelled before its players get the address does not count towards `maxMatches`', async () => {
  const { servers, run, join, cancel, stored, storedMatches } = open()
  await run(5000)
  for (const server of servers.values()) server.isSilent = true
  join('ann', 'ben')
  await run(1000)
  expect(stored()).toMatchObject([{ matchesServed: 1 }, {}])
  cancel('ann-ben')
  await run(500)
  expect(storedMatches()).toEqual([])
  expect(stored()).toMatchObject([{ matchesServed: 0 }, {}])
})

test('if a queue gets a pool at a restart, a server queued for one match is never created', async () => {
  const own = [{ name: 'duel', matchSize: 2, deploy: { application: 'game', version: '1' } }]
  const { run, restart, join, memory, ticket } = open(arena, { queues: own, maxCreatesInFlight: 1, service: slow })
  // The create of a warm server is in flight, so the match's create must wait.
  await run(500)
  join('ann', 'ben')
  await run(500)
  const alone = () => storedAs<ServerRecord>(memory, 'server').filter(({ bornFor }) => bornFor !== undefined)
  expect(alone().map(({ sentAt }) => sentAt)).toEqual([undefined])
  await restart()
  await run(500)
  expect(alone()).toEqual([])
  await run(10_000)
  expect(ticket('ann-ben')).toMatchObject({ status: 'HOST_ASSIGNED', attempts: 0 })
})

test('a server that has served all its matches when a process ends is stopped by the next process', async () => {
  const { service, run, restart, servers, join } = open({ ...arena, at: [], reuse: { maxMatches: 1 } })
  join('ann', 'ben')
  await run(6000)
  await restart()
  for (const server of servers.values()) server.over = true
  await run(6000)
  expect(service.unstopped()).toEqual([])
})

test('no warm server is created while close stops all servers', async () => {
  const { service, run, close } = open()
  await run(5000)
  await close()
  expect(service.unstopped()).toEqual([])
  expect(service.records).toHaveLength(1)
})

/** Opens a pool whose store takes a second for each entry. */
async function openWithSlowStore(options: Pick<MatchmakerOptions, 'pools' | 'maxServers'>) {
  const clock = createManualClock()
  const service = createTestService({ clock, fate: () => ({ readyMs: 2000 }) })
  const matchmaker = createMatchmakerOver(
    { deployments: service.deployments, queues, clock, store: createMemoryStore(), ...options },
    (log) => ({ ...log, append: (entry) => Promise.resolve(log.append(entry)).then(() => clock.sleep(1000)) }),
  )
  const tokenOf = (nth: number) =>
    service.calls.create[nth]?.environment_variables?.find(({ key }) => key === 'MUSTER_SERVER_TOKEN')?.value ?? ''
  const run = async (ms: number) => {
    for (let passed = 0; passed < ms; passed += 250) {
      void matchmaker.tick()
      await clock.advance(250)
    }
  }
  await run(6000)
  for (const [nth] of service.calls.create.entries())
    matchmaker.registerServer(tokenOf(nth), RegistrationBody.parse({ instance: `${nth}` }))
  await run(5000)
  const join = (...ids: string[]) =>
    matchmaker.createTicket({ queue: 'duel', players: ids.map((id) => ({ id, ip: '198.51.100.7' })) })
  return { matchmaker, service, tokenOf, run, join }
}

test('while a slow store records a match on a server, no second match gets this server', async () => {
  const { matchmaker, service, tokenOf, run, join } = await openWithSlowStore({
    pools: [{ ...arena, warm: { hit: 0, max: 1 } }],
    maxServers: 2,
  })
  for (let match = 0; match < 4; match += 1) join(`a${match}`, `b${match}`)
  await run(3000)
  const { matches } = await matchmaker.waitForServerOrders(tokenOf(0), { version: -1, waitMs: 0 })
  expect(matches).toHaveLength(1)
  await run(2000)
  expect(service.unstopped()).toHaveLength(2)
})

test('a match that leaves a silent server takes no third server while a slow store records the second', async () => {
  const two = { ...arena, at: [{ cron: '* * * * *', minutes: 2, min: 2 }] }
  const { matchmaker, run, join } = await openWithSlowStore({ pools: [two] })
  const { seen } = watched(matchmaker)
  join('ann', 'ben')
  // In this time the intent and the claim are written, and the first server is silent for 3 s.
  await run(6500)
  expect(seen.serverTaken).toHaveLength(2)
  expect(seen.serverDraining?.map(({ reason }) => reason)).toEqual(['silent'])
})

test.each([
  ['right', 0],
  ['slow by a day', -25 * 3_600_000],
  ['fast by a day', 25 * 3_600_000],
])(
  'a match on a server of a pool ends after its maximum duration if the clock after a restart is %s',
  async (_, byMs) => {
    const { clock, run, restart, join, status, seen } = open({
      ...arena,
      deploy: { application: 'game', version: '1', maxDurationMs: 60_000 },
    })
    await run(5000)
    join('ann', 'ben')
    await run(20_000)
    expect(status('ann-ben')).toBe('HOST_ASSIGNED')
    const { now, sleep } = clock
    await restart({ clock: { now: () => now() + byMs, sleep } })
    await run(30_000)
    expect(seen().matchOver).toBeUndefined()
    await run(40_000)
    expect(seen().matchOver).toMatchObject([{ reason: 'max-duration' }])
  },
)

test('a warm server is kept after a restart with a clock that is ahead by a day', async () => {
  const { clock, service, run, restart } = open()
  await run(5000)
  expect(service.unstopped()).toEqual(['r1'])
  const { now, sleep } = clock
  await restart({ clock: { now: () => now() + 25 * 3_600_000, sleep } })
  await run(10_000)
  expect(service.unstopped()).toEqual(['r1'])
})
