import { createManualClock } from '@muster/core/clock'
import { describe, expect, test } from 'vitest'
import { HostedMatch, newPoolServer, type Server } from '../records/index.js'
import { poolSchema, type PoolDefinition } from './pool-definition.js'
import { createPools } from './pools.js'

const NOWHERE = { middle: undefined, placements: undefined }

/** A pool at one place, whose servers say what the test says of them. */
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
  /** Servers that list themselves, with nobody on them. */
  const listed = new Set<Server>()
  const drained: Server[] = []
  /** Matches that a server could take. */
  const free = new Map<Server, number>()
  const looks: number[] = []
  /** Servers that were looked at for matches. */
  const seen = new Set<Server>()
  const pools = createPools({
    pools: [definition],
    clock,
    room: () => {
      looks.push(clock.now())
      return Infinity
    },
    create: (_, order) => made(order),
    drain: (server) => drained.push(server),
    useOf: (server) => (taken.has(server) ? 'claimed' : listed.has(server) ? 'empty' : undefined),
    freePlaces: (server) => {
      seen.add(server)
      return free.get(server)
    },
  })
  const pool = pools.find('arena')
  if (pool === undefined) throw new Error('there is a pool')
  const made = (order: Parameters<typeof newPoolServer>[1]) => {
    const server = newPoolServer({ id: `server-${servers.length}`, pool: 'arena', at: clock.now() }, order)
    servers.push(server)
    return server
  }
  /** A server that has registered for so many matches. */
  const running = async (matches = 1) => {
    const server = made(pool.orderFor([], undefined))
    pools.created(server, undefined)
    await clock.advance(20_000)
    free.set(server, matches)
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
  return { clock, pools, pool, looks, seen, taken, listed, drained, free, made, running, begin, end, view }
}

test('listed servers beyond the stock that nobody was on for keepIdleSeconds are surplus', async () => {
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
  // Somebody plays on it for a moment: then it has been empty since that.
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

test('while a crowd comes, no match looks at the servers that boot for the others', async () => {
  const { pools, pool, seen, made, running } = setUp()
  for (let nth = 0; nth < 10; nth += 1) pools.created(made(pool.orderFor([], undefined)), undefined)
  const server = await running()
  expect(pools.warmFor(pool, NOWHERE)).toBe(server)
  expect([...seen]).toEqual([server])
})

describe('a server that takes several matches', () => {
  test('and was lost or unhealthy is taken again, also with a match on it', async () => {
    const { pools, pool, free, running, begin } = setUp()
    const server = await running(4)
    begin(server)
    free.delete(server)
    expect(pools.warmFor(pool, NOWHERE)).toBeUndefined()
    free.set(server, 3)
    expect(pools.warmFor(pool, NOWHERE)).toBe(server)
  })

  test('has places for as many as it takes, and as it may still serve', async () => {
    const { pools, running, begin, free } = setUp({ reuse: { maxMatches: 20 } })
    const server = await running(4)
    expect(pools.freePlaces('arena')).toBe(4)
    begin(server)
    free.set(server, 3)
    server.matchesServed = 18
    expect(pools.freePlaces('arena')).toBe(2)
  })

  test('is looked at again once a match on it is over, when it was full', async () => {
    const { pools, pool, running, begin, end, free } = setUp({ reuse: { maxMatches: 20 } })
    const server = await running(1)
    const match = begin(server)
    free.set(server, 0)
    expect(pools.warmFor(pool, NOWHERE)).toBeUndefined()
    free.set(server, 1)
    end(server, match)
    expect(pools.warmFor(pool, NOWHERE)).toBe(server)
  })
})

test('matches that nobody was sent to say nothing of how long matches last', async () => {
  const { clock, pools, pool, running, begin, end, view } = setUp({ warm: { max: 50 }, reuse: { maxMatches: 1000 } })
  const server = await running()
  for (let nth = 0; nth < 360; nth += 1) {
    pools.asked(pool, server, NOWHERE)
    const match = begin(server)
    await clock.advance(3000)
    end(server, match)
    await clock.advance(7000)
  }
  // With a match of 3 s, the servers that a boot of 20 s needs would be idle for most of their time.
  expect(view()?.wanted).toBeGreaterThan(0)
})

test('a server is idle while it waits for a match: not while it is listed, nor once it takes none', async () => {
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

test('a rush of matches brings the look at the stock forward, but is no look for each', async () => {
  const { clock, pools, pool, looks, running } = setUp()
  const server = await running()
  pools.advance(clock.now())
  for (let nth = 0; nth < 100; nth += 1) {
    await clock.advance(10)
    pools.asked(pool, server, NOWHERE)
    pools.advance(clock.now())
  }
  expect(looks).toHaveLength(6)
})
