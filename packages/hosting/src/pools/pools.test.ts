import { createManualClock } from '@muster/core/clock'
import { describe, expect, test } from 'vitest'
import { HostedMatch, newPoolServer, RegisteredServer, type Server } from '../records/index.js'
import { poolSchema, type PoolDefinition } from './pool-definition.js'
import { Pools } from './pools.js'

const NOWHERE = { middle: undefined, placements: undefined }

/** Creates a pool with one location, whose servers report what the test says. */
function setUp(given: Partial<PoolDefinition> = {}) {
  const clock = createManualClock()
  const definition = poolSchema.parse({
    name: 'arena',
    deploy: { application: 'game', version: '1' },
    places: [{ name: 'Oslo', latitude: 59.9, longitude: 10.7 }],
    ...given,
  })
  const servers: Server[] = []
  const taken = new Set<Server>()
  /** Servers that list themselves and have no players. */
  const listed = new Set<Server>()
  const drained: Server[] = []
  const looks: number[] = []
  const pools = new Pools({
    pools: [definition],
    clock,
    room: () => {
      looks.push(clock.now())
      return Infinity
    },
    create: (_, order) => made(order),
    drain: (server) => drained.push(server),
    useOf: (server) => (taken.has(server) ? 'claimed' : listed.has(server) ? 'empty' : undefined),
  })
  const pool = pools.find('arena')
  if (pool === undefined) throw new Error('there is a pool')
  const made = (order: Parameters<typeof newPoolServer>[1]) => {
    const server = newPoolServer({ id: `server-${servers.length}`, pool: 'arena', at: clock.now() }, order)
    servers.push(server)
    return server
  }
  /** Creates a server that has registered with this maximum of matches. */
  const running = async (matches = 1) => {
    const server = made(pool.orderFor([], undefined))
    pools.created(server, undefined)
    await clock.advance(20_000)
    server.presence = new RegisteredServer({ instance: 'one', matches }, clock.now())
    pools.up(server)
    return server
  }
  const begin = (server: Server) => {
    const match = new HostedMatch({ matchId: 'match', queue: 'duel', at: clock.now() }, pool.orderFor([], undefined))
    server.guests.add(match)
    pools.began(server)
    return match
  }
  const end = (server: Server, match: HostedMatch) => {
    server.guests.delete(match)
    pools.ended(server, match)
  }
  const view = () => pools.views(clock.now())[0]
  return { clock, pools, pool, looks, taken, listed, drained, made, running, begin, end, view }
}

test('listed servers beyond the warm stock are surplus after keepIdleSeconds without players', async () => {
  const { clock, pools, taken, listed, drained, running } = setUp({
    at: [{ cron: '* * * * *', minutes: 2, min: 1 }],
    keepIdleSeconds: 120,
  })
  const servers = [await running(), await running(), await running(), await running()]
  for (const server of servers) listed.add(server)
  const [first, second] = servers as [Server, Server]
  taken.add(first)
  for (let seconds = 0; seconds < 50; seconds += 1) {
    await clock.advance(1000)
    pools.advance(clock.now())
  }
  expect(drained).toEqual([])
  // A player is on the server for a moment, so it counts as empty only from then on.
  taken.add(second)
  await clock.advance(1000)
  pools.advance(clock.now())
  taken.delete(second)
  for (let seconds = 0; seconds < 90; seconds += 1) {
    await clock.advance(1000)
    pools.advance(clock.now())
  }
  expect(drained).toHaveLength(2)
  expect(drained).not.toContain(first)
  expect(drained).not.toContain(second)
})

test.each([600_000, 960_000])(
  'with a maxDurationMs of %i, a warm server without a match is retired after half of that time',
  async (maxDurationMs) => {
    const { clock, pools, drained, running } = setUp({
      deploy: { application: 'game', version: '1', maxDurationMs },
      at: [{ cron: '* * * * *', minutes: 2, min: 1 }],
    })
    const server = await running()
    await clock.advance(maxDurationMs / 2 - 20_001)
    pools.advance(clock.now())
    expect(drained).toEqual([])
    await clock.advance(1001)
    pools.advance(clock.now())
    expect(drained).toEqual([server])
  },
)

test('the search for a warm server does not read servers that boot for other matches', async () => {
  const { pools, pool, made, running } = setUp()
  const seen: Server[] = []
  for (let nth = 0; nth < 10; nth += 1) {
    const booting = made(pool.orderFor([], undefined))
    Object.defineProperty(booting, 'presence', { get: () => void seen.push(booting) })
    pools.created(booting, undefined)
  }
  const server = await running()
  expect(pools.warmFor(pool, NOWHERE)).toBe(server)
  expect(seen).toEqual([])
})

describe('a server that serves several matches at once', () => {
  test('a multi-match server is used again after it was lost or unhealthy, even with a match on it', async () => {
    const { clock, pools, pool, running, begin } = setUp()
    const server = await running(4)
    begin(server)
    const { presence } = server
    if (presence === undefined) throw new Error('it has registered')
    presence.lostAt = clock.now()
    expect(pools.warmFor(pool, NOWHERE)).toBeUndefined()
    presence.lostAt = undefined
    presence.unhealthy = 1
    expect(pools.warmFor(pool, NOWHERE)).toBeUndefined()
    presence.unhealthy = 0
    expect(pools.warmFor(pool, NOWHERE)).toBe(server)
  })

  test('a server accepts as many matches as its slots and its remaining number of matches allow', async () => {
    const { pools, running, begin } = setUp({ reuse: { maxMatches: 20 } })
    const server = await running(4)
    expect(pools.freePlaces('arena')).toBe(4)
    begin(server)
    server.matchesServed = 18
    expect(pools.freePlaces('arena')).toBe(2)
  })

  test('a full server for several matches is used again once a match on it is over', async () => {
    const { pools, pool, running, begin, end } = setUp({ reuse: { maxMatches: 20 } })
    const server = await running(1)
    const match = begin(server)
    expect(pools.warmFor(pool, NOWHERE)).toBeUndefined()
    end(server, match)
    expect(pools.warmFor(pool, NOWHERE)).toBe(server)
  })
})

test('matches whose players never got a server do not count for the average length of matches', async () => {
  const { clock, pools, pool, running, begin, end, view } = setUp({ warm: { max: 50 }, reuse: { maxMatches: 1000 } })
  const server = await running()
  for (let nth = 0; nth < 360; nth += 1) {
    pools.countDemand(pool, server, NOWHERE)
    const match = begin(server)
    await clock.advance(3000)
    end(server, match)
    await clock.advance(7000)
  }
  // A match takes 3 s and a boot 20 s, so most of the needed warm servers would be idle.
  expect(view()?.wanted).toBeGreaterThan(0)
})

test('a server is idle only while it waits for a match, not while it is listed or drains', async () => {
  const { clock, pools, taken, running, begin, end, view } = setUp({ reuse: { maxMatches: 20 } })
  const server = await running()
  const match = begin(server)
  taken.add(server)
  end(server, match)
  await clock.advance(600_000)
  expect(view()?.idleHours).toBe(0)
  taken.delete(server)
  pools.advance(clock.now())
  await clock.advance(360_000)
  expect(view()?.idleHours).toBeCloseTo(0.1)
  pools.draining(server)
  await clock.advance(360_000)
  pools.gone(server)
  expect(view()?.idleHours).toBeCloseTo(0.1)
})

test('a sudden rise of matches triggers one early check of the warm servers, not one per match', async () => {
  const { clock, pools, pool, looks, running } = setUp()
  const server = await running()
  pools.advance(clock.now())
  for (let nth = 0; nth < 100; nth += 1) {
    await clock.advance(10)
    pools.countDemand(pool, server, NOWHERE)
    pools.advance(clock.now())
  }
  expect(looks).toHaveLength(6)
})
