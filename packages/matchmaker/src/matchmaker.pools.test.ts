import {
  createMemoryServerLog,
  type ServerLog,
  type ServerReport,
  RegistrationBody,
  ReportBody,
} from '@muster/hosting/internal'
import { createMemoryStore, type PoolDefinition } from '@muster/hosting'
import { ConnectionLost } from '@muster/core'
import { describe, expect, test } from 'vitest'
import { setUp } from './matchmaker.fixture.js'

const place = { name: 'Oslo', latitude: 59.9, longitude: 10.7 }
const arena: PoolDefinition = {
  name: 'arena',
  deploy: { application: 'game', version: '1' },
  places: [place],
  reuse: { maxMatches: 20 },
  at: [{ cron: '* * * * *', minutes: 2, min: 2 }],
}
const queues = [{ name: 'duel', matchSize: 2, pool: 'arena' }]

type World = ReturnType<typeof setUp>

/** Creates a game server that registers once it runs, accepts every match, and reports whenever the clock advances. */
function gameServers(
  world: Pick<World, 'service'> & { matchmaker: Pick<World['matchmaker'], 'registerServer' | 'reportServer'> },
  matchesAtOnce = 1,
) {
  const running = new Map<
    string,
    { seq: number; matches: Map<string, 'open' | 'over'>; silent: boolean; refuses: boolean; loads: boolean }
  >()
  const tokens = () =>
    world.service.calls.create.map(
      ({ environment_variables }) =>
        environment_variables?.find(({ key }) => key === 'MUSTER_SERVER_TOKEN')?.value ?? '',
    )
  const play = async (isReady = true) => {
    for (const [nth, token] of tokens().entries()) {
      const record = world.service.records[nth]
      if (record === undefined || record.stopAskedAt !== undefined) continue
      let server = running.get(token)
      if (server === undefined) {
        if (!isReady) continue
        server = { seq: 0, matches: new Map(), silent: false, refuses: false, loads: false }
        running.set(token, server)
        const registration = { instance: token.slice(0, 20), matches: matchesAtOnce }
        world.matchmaker.registerServer(token, RegistrationBody.parse(registration))
      }
      if (server.silent) continue
      for (let again = 0; again < 2; again += 1) {
        const matches = [...server.matches].map(([id, status]) => ({
          id,
          status: server?.refuses === true ? 'refused' : server?.loads === true ? 'loading' : status,
        }))
        server.seq += 1
        const report: ServerReport = ReportBody.parse({ instance: token.slice(0, 20), seq: server.seq, matches })
        const orders = await world.matchmaker.reportServer(token, report)
        // Its process ends.
        if (orders.want === 'stop') server.silent = true
        if (server.silent) break
        for (const id of server.matches.keys())
          if (!orders.matches.some((match) => match.id === id)) server.matches.delete(id)
        for (const { id } of orders.matches) if (!server.matches.has(id)) server.matches.set(id, 'open')
      }
    }
  }
  return { running, tokens, play }
}

function open(options: Parameters<typeof setUp>[0] = {}, matchesAtOnce?: number) {
  const world = setUp({ queues, pools: [arena], service: { fate: () => ({ readyMs: 5000 }) }, ...options })
  const games = gameServers(world, matchesAtOnce)
  const run = async (ms: number) => {
    for (let passed = 0; passed < ms; passed += 250) {
      await world.run(250)
      if (world.clock.now() % 500 === 0)
        await games.play(world.service.records.every(({ createdAt }) => world.clock.now() >= createdAt + 4000))
    }
  }
  return { ...world, ...games, run }
}

describe('a pool of servers', () => {
  test('a pool keeps servers warm, and a match gets a server at once, without a request to the service', async () => {
    const { matchmaker, service, run, join, status } = open()
    await run(8000)
    expect(service.calls.create).toHaveLength(2)
    expect(service.calls.create[0]?.users).toEqual([
      { user_type: 'geo_coordinates', user_data: { latitude: 59.9, longitude: 10.7 } },
    ])
    join('ann', 'ben')
    await run(1500)
    expect(status('ann-ben')).toBe('HOST_ASSIGNED')
    expect(matchmaker.getTicket('ann-ben')?.assignment?.fqdn).toBe('r1.example.com')
    // A new server replaces the one that the match took.
    expect(service.calls.create).toHaveLength(3)
  })

  test('a pool orders another server in the same tick in which a match takes a warm server', async () => {
    const { matchmaker, service, run, join } = open()
    await run(8000)
    join('ann', 'ben')
    await matchmaker.tick()
    expect(service.calls.create).toHaveLength(3)
  })

  test('a pool orders no warm server while its process hands over', async () => {
    const { matchmaker, clock, service, run, join } = open({ store: createMemoryStore(new Map()) })
    await run(8000)
    join('ann', 'ben')
    const closed = new Promise((resolve) => matchmaker.on('serverTaken', () => resolve(matchmaker.close())))
    await matchmaker.tick()
    await clock.until(closed)
    expect(service.calls.create).toHaveLength(2)
  })

  test('a pool follows its schedule by the wall clock, even after that was set forward or back', async () => {
    for (const [stepMs, servers] of [
      [20 * 3_600_000, 3],
      [-4 * 3_600_000, 3],
      [3_600_000, 0],
    ] as const) {
      const evening = { cron: '0 20 * * *', timezone: 'UTC', minutes: 60, min: 3 }
      const { clock, service, run } = open({ pools: [{ ...arena, at: [evening] }] })
      await run(1000)
      expect(service.calls.create).toHaveLength(0)
      clock.step(stepMs)
      await run(1000)
      expect(service.calls.create).toHaveLength(servers)
    }
  })

  test('a pool orders its whole warm stock in one tick, within the limit of servers', async () => {
    const { service, run } = open({ pools: [{ ...arena, at: [{ cron: '* * * * *', minutes: 2, min: 30 }] }] })
    await run(1000)
    expect(service.calls.create).toHaveLength(30)
    const bounded = open({ pools: [{ ...arena, at: [{ cron: '* * * * *', minutes: 2, min: 30 }] }], maxServers: 12 })
    await bounded.run(3000)
    expect(bounded.service.calls.create).toHaveLength(12)
  })

  test('a pool without places creates a server for each match if players have no coordinates', async () => {
    const { seen, service, run, join } = open({ pools: [{ ...arena, places: undefined, at: [], warm: { hit: 0.95 } }] })
    for (let match = 0; match < 20; match += 1) {
      join(`a${match}`, `b${match}`)
      await run(5000)
    }
    expect(seen.problem ?? []).toEqual([])
    expect(service.calls.create).toHaveLength(20)
  })

  test('a pool creates a server for a match if none is warm', async () => {
    const { service, run, join, status } = open({ pools: [{ ...arena, at: [] }] })
    await run(2000)
    expect(service.calls.create).toHaveLength(0)
    join('ann', 'ben')
    await run(8000)
    expect(status('ann-ben')).toBe('HOST_ASSIGNED')
    expect(service.calls.create).toHaveLength(1)
  })

  test('a pool serves matches if the number of servers is unlimited', async () => {
    const { run, join, status } = open({ pools: [{ ...arena, at: [] }], maxServers: Infinity, maxStarting: Infinity })
    join('ann', 'ben')
    await run(8000)
    expect(status('ann-ben')).toBe('HOST_ASSIGNED')
  })

  test('a pool server serves the next match after its match is over', async () => {
    const { service, running, run, join, status } = open({ pools: [{ ...arena, at: [], keepIdleSeconds: 600 }] })
    join('ann', 'ben')
    await run(8000)
    for (let round = 0; round < 5; round += 1) {
      expect(status(round === 0 ? 'ann-ben' : `p${round}-q${round}`)).toBe('HOST_ASSIGNED')
      for (const server of running.values()) for (const id of server.matches.keys()) server.matches.set(id, 'over')
      await run(1000)
      join(`p${round + 1}`, `q${round + 1}`)
      await run(2000)
    }
    expect(service.calls.create).toHaveLength(1)
    expect(service.calls.stop).toHaveLength(0)
  })

  test('a pool server that has served its number of matches is stopped', async () => {
    const { service, running, run, join, status } = open({ pools: [{ ...arena, at: [], reuse: { maxMatches: 1 } }] })
    join('ann', 'ben')
    await run(8000)
    expect(status('ann-ben')).toBe('HOST_ASSIGNED')
    for (const server of running.values()) for (const id of server.matches.keys()) server.matches.set(id, 'over')
    await run(3000)
    expect(service.unstopped()).toEqual([])
  })

  test('a pool drains surplus servers after keepIdleSeconds', async () => {
    const { service, running, run, join } = open({ pools: [{ ...arena, at: [], keepIdleSeconds: 30 }] })
    join('ann', 'ben')
    await run(8000)
    for (const server of running.values()) for (const id of server.matches.keys()) server.matches.set(id, 'over')
    await run(20_000)
    expect(service.unstopped()).toEqual(['r1'])
    await run(15_000)
    expect(service.unstopped()).toEqual([])
  })

  test('a match moves to another server of its pool if its first server is silent for 3 s', async () => {
    const { service, running, tokens, run, join, status, seen } = open()
    await run(8000)
    const [first = '', second = ''] = tokens()
    for (const server of [running.get(first), running.get(second)]) if (server !== undefined) server.silent = true
    join('ann', 'ben')
    await run(12_000)
    expect(status('ann-ben')).toBe('HOST_ASSIGNED')
    expect(seen.matchFound).toHaveLength(1)
    await run(100_000)
    expect(service.unstopped()).not.toContain('r1')
  })

  test('a server of a pool keeps a match that it loads for longer than 3 s, as long as it reports', async () => {
    const { running, tokens, run, join, status, seen } = open()
    await run(8000)
    const servers = tokens().flatMap((token) => running.get(token) ?? [])
    for (const server of servers) server.loads = true
    join('ann', 'ben')
    await run(60_000)
    expect([status('ann-ben'), seen.serverDraining]).toEqual(['MATCH_FOUND', undefined])
    for (const server of servers) server.loads = false
    await run(1000)
    expect(status('ann-ben')).toBe('HOST_ASSIGNED')
    expect(seen.serverTaken).toHaveLength(1)
  })

  test.each([
    ['is silent for 25 s', 30_000, true],
    ['loads it for longer than readyTimeoutMs', 185_000, false],
  ])('a match that a server of a pool loads goes to another server if the first server %s', async (_, ms, isSilent) => {
    const { running, tokens, run, join, seen } = open()
    await run(8000)
    const [first] = tokens().flatMap((token) => running.get(token) ?? [])
    if (first !== undefined) first.loads = true
    join('ann', 'ben')
    await run(2000)
    if (first !== undefined) first.silent = isSilent
    await run(ms - 10_000)
    expect(seen.serverTaken).toHaveLength(1)
    await run(12_000)
    expect(seen.serverTaken).toHaveLength(2)
    expect(seen.serverDraining).toMatchObject([{ reason: 'silent' }])
  })

  test('a server that has loaded a match for 30 s gets a further match only if no other warm server fits', async () => {
    const { running, tokens, run, join, seen } = open({}, 8)
    await run(8000)
    const [hung] = tokens().flatMap((token) => running.get(token) ?? [])
    if (hung !== undefined) hung.loads = true
    join('ann', 'ben')
    await run(1000)
    // The fullest server gets the next match, so that others become empty.
    join('cas', 'dan')
    await run(31_000)
    join('eve', 'fay')
    await run(1000)
    const taken = seen.serverTaken?.map(({ serverId }) => serverId) ?? []
    expect([taken[1] === taken[0], taken[2] === taken[0]]).toEqual([true, false])
    expect(seen.serverAssigned).toHaveLength(1)
  })

  test('a pool server that ends during its match is reported as lost, and its match as over', async () => {
    const memory = createMemoryServerLog()
    const settled: string[] = []
    const append: ServerLog['append'] = (entries) => {
      for (const entry of entries) if (entry.kind === 'over') settled.push(entry.matchId)
      return memory.append(entries)
    }
    const { matchmaker, run, join, seen } = open({
      serverLog: { open: () => memory.open(), append },
      service: { fate: (nth) => ({ readyMs: 5000, errorMs: nth === 1 ? 30_000 : undefined }) },
    })
    await run(8000)
    join('ann', 'ben')
    await run(2000)
    expect(matchmaker.getTicket('ann-ben')).toMatchObject({
      status: 'HOST_ASSIGNED',
      assignment: { fqdn: 'r1.example.com' },
    })
    await run(40_000)
    const { ended, matchId } = matchmaker.getTicket('ann-ben') ?? {}
    expect(ended).toMatchObject({ reason: 'server-lost' })
    // Only the deployment is reported as stopped, not the match on it, and the match's end is written once.
    expect(seen.deploymentStopped).toMatchObject([{ requestId: 'r1', pool: 'arena', reason: 'crashed' }])
    expect(settled.filter((id) => id === matchId)).toHaveLength(1)
  })

  test('the log records a pool server as running before it records its first match as running', async () => {
    const memory = createMemoryServerLog()
    const written: string[][] = []
    const append: ServerLog['append'] = (entries) => {
      written.push(entries.map(({ kind }) => kind))
      return memory.append(entries)
    }
    const { run, join, status } = open({
      pools: [{ ...arena, at: [] }],
      serverLog: { open: () => memory.open(), append },
    })
    join('ann', 'ben')
    await run(8000)
    expect(status('ann-ben')).toBe('HOST_ASSIGNED')
    // A store may refuse to send players whose tickets are gone. The server runs anyway.
    expect(written.filter((kinds) => kinds.includes('up') || kinds.includes('playing'))).toEqual([['up'], ['playing']])
  })

  test('a pool counts servers of a removed or moved place for the nearest remaining place', async () => {
    const { matchmaker, service, run } = open()
    const askedNear = () =>
      service.calls.create.map(({ users }) => users?.map(({ user_data }) => user_data)).flat() as unknown[]
    await run(8000)
    const bergen = { name: 'Bergen', latitude: 60.4, longitude: 5.3 }
    matchmaker.reconfigure(queues, { pools: [{ ...arena, places: [bergen] }] })
    await run(3000)
    expect(service.calls.create).toHaveLength(2)
    matchmaker.reconfigure(queues, { pools: [{ ...arena, places: [{ ...bergen, latitude: -33.9 }, place] }] })
    await run(8000)
    expect(askedNear().slice(2)).toEqual([
      { latitude: -33.9, longitude: 5.3 },
      { latitude: -33.9, longitude: 5.3 },
    ])
    const wanted = matchmaker.inspect().pools.map(({ place: name, idle }) => [name, idle])
    expect(wanted).toEqual([
      ['Bergen', 2],
      ['Oslo', 2],
    ])
  })

  test('when its process ends for good, a pool stops only servers without players', async () => {
    const { clock, matchmaker, service, run, join } = open({ pools: [{ ...arena, warm: { hit: 0, max: 2 } }] })
    await run(8000)
    join('ann', 'ben')
    await run(8000)
    expect(service.unstopped()).toEqual(['r1', 'r2', 'r3'])
    expect(await clock.until(matchmaker.close())).toEqual([])
    expect(service.unstopped()).toEqual(['r1'])
  })

  test('creates that fail in an outage of the deployment service do not count as attempts of the ticket', async () => {
    const error = new ConnectionLost('refused', { sent: false })
    const { matchmaker, service, run, join } = open({
      pools: [{ ...arena, at: [] }],
      service: { fault: (method) => (method === 'create' ? { error } : undefined) },
    })
    join('ann', 'ben')
    await run(60_000)
    expect(service.calls.create.length).toBeGreaterThan(3)
    expect(matchmaker.getTicket('ann-ben')).toMatchObject({ status: 'SEARCHING', attempts: 0 })
  })

  test('joinWithinMs applies to each match on a pool server, not to a warm server without a match', async () => {
    const strict = { ...arena, deploy: { application: 'game', version: '1', joinWithinMs: 20_000 } }
    const { matchmaker, service, run, join, seen, running } = open({ pools: [strict] })
    await run(60_000)
    expect(service.calls.create).toHaveLength(2)
    expect(service.calls.stop).toHaveLength(0)
    join('ann', 'ben')
    await run(30_000)
    // The server reports no players.
    expect(seen.serverAssigned).toHaveLength(1)
    expect([...running.values()].flatMap(({ matches }) => [...matches.keys()])).toEqual([])
    expect(matchmaker.getTicket('ann-ben')).toMatchObject({ ended: { reason: 'nobody-joined' } })
    expect(seen.matchOver).toMatchObject([{ reason: 'nobody-joined' }])
    expect(join('ben').status).toBe('SEARCHING')
  })

  test('a match waits while the limit of servers is reached and no warm server fits', async () => {
    const far = { name: 'Sydney', latitude: -33.9, longitude: 151.2 }
    const { matchmaker, service, run, seen } = open({
      pools: [{ ...arena, places: [place, far], at: [], detourMs: 5 }],
      maxServers: 2,
    })
    const party = (id: string, at: typeof place) =>
      matchmaker.createTicket({
        id,
        queue: 'duel',
        players: [`${id}1`, `${id}2`].map((name) => ({ id: name, coordinates: at })),
      })
    party('a', place)
    party('b', place)
    await run(8000)
    expect(service.calls.create).toHaveLength(2)
    // Both matches end and leave their servers warm. Players in Sydney are too far from them.
    await matchmaker.stopMatch(matchmaker.getTicket('a')?.matchId ?? '', { until: 'recorded' })
    await matchmaker.stopMatch(matchmaker.getTicket('b')?.matchId ?? '', { until: 'recorded' })
    await run(1000)
    party('c', far)
    await run(5000)
    expect(service.calls.create).toHaveLength(2)
    // After a minute the surplus server is drained, which makes room for another one.
    await run(80_000)
    expect(service.calls.create).toHaveLength(3)
    expect(seen.serverAssigned?.at(-1)?.tickets[0]?.id).toBe('c')
  })

  test('players search again after a minute without a pool server, so that their tickets can expire', async () => {
    const far = { name: 'Sydney', latitude: -33.9, longitude: 151.2 }
    const { matchmaker, run, status, seen } = open({
      queues: [{ ...queues[0], name: 'duel', expireAfterMs: 30_000 }],
      // The warm servers in Oslo use the whole limit and are never drained.
      pools: [{ ...arena, places: [place, far], detourMs: 5, at: [{ cron: '* * * * *', minutes: 2, min: 2 }] }],
      maxServers: 2,
    })
    await run(20_000)
    matchmaker.createTicket({
      id: 'c',
      queue: 'duel',
      players: ['c1', 'c2'].map((name) => ({ id: name, coordinates: far })),
    })
    await run(20_000)
    expect(status('c')).toBe('MATCH_FOUND')
    await run(50_000)
    expect(seen.ticketRequeued).toMatchObject([{ reason: 'no-capacity', ticket: { attempts: 0 } }])
    expect(matchmaker.getTicket('c')).toMatchObject({ status: 'CANCELLED', cancelReason: 'expired' })
  })

  test('a pool name that is used twice is refused, as is a queue with an unknown pool', () => {
    expect(() => setUp({ queues, pools: [] })).toThrow('queue "duel": pool: there is no such pool, got "arena"')
    expect(() => setUp({ queues, pools: [arena, arena] })).toThrow('two pools have the name "arena"')
    expect(() => setUp({ queues, pools: [{ ...arena, at: [{ cron: 'never', minutes: 5, min: 1 }] }] })).toThrow(
      'pools.0.at.0.cron',
    )
  })

  test('a queue with a `deploy` of its own cannot use a pool', () => {
    const own = { application: 'game', version: '1', environment: { MODE: 'ctf' } }
    const both = [{ ...queues[0], name: 'duel', deploy: own }]
    expect(() => setUp({ queues: both, pools: [arena] })).toThrow(
      'queue "duel": deploy: must be left out, because its pool says what is deployed',
    )
  })
})
