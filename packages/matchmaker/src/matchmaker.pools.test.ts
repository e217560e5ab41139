import {
  createMemoryServerLog,
  type ServerLog,
  type ServerReport,
  RegistrationBody,
  ReportBody,
} from '@muster/hosting/internal'
import { createMemoryStore, type PoolDefinition, type StoreMemory } from '@muster/hosting'
import { ConnectionLost } from '@muster/core'
import { describe, expect, test } from 'vitest'
import { createMatchmaker } from './create-matchmaker.js'
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

/** A game server that registers as soon as it runs, takes every match, and reports whenever the time goes on. */
function gameServers(
  world: Pick<World, 'service'> & { matchmaker: Pick<World['matchmaker'], 'registerServer' | 'reportServer'> },
) {
  const running = new Map<
    string,
    { seq: number; matches: Map<string, 'open' | 'over'>; silent: boolean; refuses: boolean }
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
        server = { seq: 0, matches: new Map(), silent: false, refuses: false }
        running.set(token, server)
        world.matchmaker.registerServer(token, RegistrationBody.parse({ instance: token.slice(0, 20) }))
      }
      if (server.silent) continue
      for (let again = 0; again < 2; again += 1) {
        const matches = [...server.matches].map(([id, status]) => ({
          id,
          status: server?.refuses === true ? 'refused' : status,
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

function open(options: Parameters<typeof setUp>[0] = {}) {
  const world = setUp({ queues, pools: [arena], service: { fate: () => ({ readyMs: 5000 }) }, ...options })
  const games = gameServers(world)
  const run = async (ms: number) => {
    for (let passed = 0; passed < ms; passed += 250) {
      await world.run(250)
      if (world.clock.now() % 500 === 0)
        await games.play(world.service.records.every(({ createdAt }) => world.clock.now() >= createdAt + 4000))
    }
  }
  return { ...world, ...games, run }
}

describe('a pool', () => {
  test('keeps servers warm, and a match takes one at once, without a request for it', async () => {
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
    // One takes the place of the one that was taken.
    expect(service.calls.create).toHaveLength(3)
  })

  test('orders another server in the tick in which a match takes one', async () => {
    const { matchmaker, service, run, join } = open()
    await run(8000)
    join('ann', 'ben')
    await matchmaker.tick()
    expect(service.calls.create).toHaveLength(3)
  })

  test('orders none for its stock while its process hands over', async () => {
    const { matchmaker, clock, service, run, join } = open({ store: createMemoryStore(new Map()) })
    await run(8000)
    join('ann', 'ben')
    const closed = new Promise((resolve) => matchmaker.on('serverTaken', () => resolve(matchmaker.close())))
    await matchmaker.tick()
    await clock.until(closed)
    expect(service.calls.create).toHaveLength(2)
  })

  test('follows its schedule by the wall clock, whichever way that was set', async () => {
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

  test('orders its whole stock at once, within the bound of servers', async () => {
    const { service, run } = open({ pools: [{ ...arena, at: [{ cron: '* * * * *', minutes: 2, min: 30 }] }] })
    await run(1000)
    expect(service.calls.create).toHaveLength(30)
    const bounded = open({ pools: [{ ...arena, at: [{ cron: '* * * * *', minutes: 2, min: 30 }] }], maxServers: 12 })
    await bounded.run(3000)
    expect(bounded.service.calls.create).toHaveLength(12)
  })

  test('without places, and without coordinates of players, keeps no servers warm and asks for none', async () => {
    const { seen, service, run, join } = open({ pools: [{ ...arena, places: undefined, at: [], warm: { hit: 0.95 } }] })
    for (let match = 0; match < 20; match += 1) {
      join(`a${match}`, `b${match}`)
      await run(5000)
    }
    expect(seen.problem ?? []).toEqual([])
    expect(service.calls.create).toHaveLength(20)
  })

  test('without a warm server a match gets one that is created for it', async () => {
    const { service, run, join, status } = open({ pools: [{ ...arena, at: [] }] })
    await run(2000)
    expect(service.calls.create).toHaveLength(0)
    join('ann', 'ben')
    await run(8000)
    expect(status('ann-ben')).toBe('HOST_ASSIGNED')
    expect(service.calls.create).toHaveLength(1)
  })

  test('serves matches also where servers have no bound', async () => {
    const { run, join, status } = open({ pools: [{ ...arena, at: [] }], maxServers: Infinity, maxStarting: Infinity })
    join('ann', 'ben')
    await run(8000)
    expect(status('ann-ben')).toBe('HOST_ASSIGNED')
  })

  test('a server whose match is over serves the next one', async () => {
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

  test('a server that has served its matches is stopped', async () => {
    const { service, running, run, join, status } = open({ pools: [{ ...arena, at: [], reuse: { maxMatches: 1 } }] })
    join('ann', 'ben')
    await run(8000)
    expect(status('ann-ben')).toBe('HOST_ASSIGNED')
    for (const server of running.values()) for (const id of server.matches.keys()) server.matches.set(id, 'over')
    await run(3000)
    expect(service.unstopped()).toEqual([])
  })

  test('surplus drains after keepIdleSeconds', async () => {
    const { service, running, run, join } = open({ pools: [{ ...arena, at: [], keepIdleSeconds: 30 }] })
    join('ann', 'ben')
    await run(8000)
    for (const server of running.values()) for (const id of server.matches.keys()) server.matches.set(id, 'over')
    await run(20_000)
    expect(service.unstopped()).toEqual(['r1'])
    await run(15_000)
    expect(service.unstopped()).toEqual([])
  })

  test('a server that refuses its match, or is silent for 3 s, is put aside: the match goes to another', async () => {
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

  test('a warm server that ends in the midst of a match is told as lost, and its match is over', async () => {
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
    // It had no deployment that could be stopped, and its end is written once.
    expect(seen.deploymentStopped).toMatchObject([{ requestId: 'r1', pool: 'arena', reason: 'crashed' }])
    expect(settled.filter((id) => id === matchId)).toHaveLength(1)
  })

  test('after a restart nothing is forgotten: matches run on, warm servers are taken, none is made twice', async () => {
    const memory: StoreMemory = new Map()
    const first = open({ store: createMemoryStore(memory) })
    await first.run(8000)
    first.join('ann', 'ben')
    await first.run(2000)
    expect(first.status('ann-ben')).toBe('HOST_ASSIGNED')
    const creates = first.service.calls.create.length
    await first.matchmaker.close()

    const matchmaker = createMatchmaker({
      deployments: first.service.deployments,
      queues,
      pools: [arena],
      clock: first.clock,
      store: createMemoryStore(memory),
    })
    const games = gameServers({ service: first.service, matchmaker })
    for (let tick = 0; tick < 40; tick += 1) {
      await matchmaker.tick()
      await games.play()
      await first.clock.advance(250)
    }
    expect(matchmaker.getTicket('ann-ben')).toMatchObject({ status: 'HOST_ASSIGNED' })
    expect(matchmaker.getTicket('ann-ben')?.ended).toBeUndefined()
    expect(first.service.calls.create).toHaveLength(creates)
    expect(first.service.unstopped()).toHaveLength(creates)
    matchmaker.createTicket({
      id: 'c',
      queue: 'duel',
      players: ['cid', 'dan'].map((id) => ({ id, ip: '198.51.100.7' })),
    })
    for (let tick = 0; tick < 8; tick += 1) {
      await matchmaker.tick()
      await games.play()
      await first.clock.advance(250)
    }
    expect(matchmaker.getTicket('c')?.status).toBe('HOST_ASSIGNED')
  })

  test.each([
    ['of another version', { ...arena, deploy: { application: 'game', version: '2' } }, queues],
    [
      'without the pool',
      { ...arena, name: 'other' },
      [{ name: 'duel', matchSize: 2, deploy: { application: 'game', version: '1' } }],
    ],
  ])(
    'after a restart %s, the servers of before are drained, and matches on them are played',
    async (_, pool, after) => {
      const memory: StoreMemory = new Map()
      const first = open({ store: createMemoryStore(memory) })
      await first.run(8000)
      first.join('ann', 'ben')
      await first.run(2000)
      const old = first.service.records.map(({ requestId }) => requestId)
      await first.matchmaker.close()

      const matchmaker = createMatchmaker({
        deployments: first.service.deployments,
        queues: after,
        pools: [pool],
        clock: first.clock,
        store: createMemoryStore(memory),
      })
      const games = gameServers({ service: first.service, matchmaker })
      const run = async (ms: number) => {
        for (let passed = 0; passed < ms; passed += 250) {
          await matchmaker.tick()
          if (passed % 1000 === 0) await games.play()
          await first.clock.advance(250)
        }
      }
      await run(30_000)
      // Only the server on which ann and ben play is left of those, and it takes no other match.
      const { assignment, ended } = matchmaker.getTicket('ann-ben') ?? {}
      expect(ended).toBeUndefined()
      const left = first.service.unstopped().filter((id) => old.includes(id))
      expect(left.map((id) => `${id}.example.com`)).toEqual([assignment?.fqdn])
      for (const server of games.running.values())
        for (const id of server.matches.keys()) server.matches.set(id, 'over')
      await run(5000)
      expect(first.service.unstopped().filter((id) => old.includes(id))).toEqual([])
    },
  )

  test('servers of a place that is not kept any more, or is elsewhere now, count at the nearest one', async () => {
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

  test('a process that ends for good stops servers on which nobody plays, and no others', async () => {
    const { clock, matchmaker, service, run, join } = open({ pools: [{ ...arena, warm: { hit: 0, max: 2 } }] })
    await run(8000)
    join('ann', 'ben')
    await run(8000)
    expect(service.unstopped()).toEqual(['r1', 'r2', 'r3'])
    expect(await clock.until(matchmaker.close())).toEqual([])
    expect(service.unstopped()).toEqual(['r1'])
  })

  test('an outage of the deployment service is no failed attempt of a match that waits for a server', async () => {
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

  test('joinWithinMs counts for each match, and not for a warm server without one', async () => {
    const strict = { ...arena, deploy: { application: 'game', version: '1', joinWithinMs: 20_000 } }
    const { service, run, join, seen, running } = open({ pools: [strict] })
    await run(60_000)
    expect(service.calls.create).toHaveLength(2)
    expect(service.calls.stop).toHaveLength(0)
    join('ann', 'ben')
    await run(30_000)
    // The server reports nobody.
    expect(seen.serverAssigned).toHaveLength(1)
    expect([...running.values()].flatMap(({ matches }) => [...matches.keys()])).toEqual([])
  })

  test('the bound of servers holds: a match that no warm server fits waits for room', async () => {
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
    // Both servers are over with their matches, and warm; those in Sydney are too far from them.
    await matchmaker.stopMatch(matchmaker.getTicket('a')?.matchId ?? '', { until: 'recorded' })
    await matchmaker.stopMatch(matchmaker.getTicket('b')?.matchId ?? '', { until: 'recorded' })
    await run(1000)
    party('c', far)
    await run(5000)
    expect(service.calls.create).toHaveLength(2)
    // The surplus is drained after a minute, and makes room.
    await run(80_000)
    expect(service.calls.create).toHaveLength(3)
    expect(seen.serverAssigned?.at(-1)?.tickets[0]?.id).toBe('c')
  })

  test('a queue whose pool is unknown, and pools of one name, are refused', () => {
    expect(() => setUp({ queues, pools: [] })).toThrow('queue "duel": pool: there is no such pool, got "arena"')
    expect(() => setUp({ queues, pools: [arena, arena] })).toThrow('there are two of the name "arena"')
    expect(() => setUp({ queues, pools: [{ ...arena, at: [{ cron: 'never', minutes: 5, min: 1 }] }] })).toThrow(
      'pools.0.at.0.cron',
    )
  })

  test('a queue with a pool and a deploy of its own is refused, so that no variable of it is lost', () => {
    const own = { application: 'game', version: '1', environment: { MODE: 'ctf' } }
    const both = [{ ...queues[0], name: 'duel', deploy: own }]
    expect(() => setUp({ queues: both, pools: [arena] })).toThrow(
      'queue "duel": deploy: must be left out, because its pool says what is deployed',
    )
  })
})
