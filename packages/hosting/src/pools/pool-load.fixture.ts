import { type Random, seededRandom } from '@muster/core/clock'
import { HostedMatch, newPoolServer, type Order, RegisteredServer, type Server } from '../records/index.js'
import { poolSchema, type PoolDefinition } from './pool-definition.js'
import { Pools } from './pools.js'

/** A simulated load on a pool with one location. Times are seconds. */
export interface PoolLoad {
  /** Returns the matches per hour at this number of seconds after the start. */
  readonly perHour: (second: number) => number
  readonly bootSeconds: (random: Random) => number
  readonly matchSeconds: (random: Random) => number
  readonly seconds: number
  /** Seconds after the start that do not count in the result. */
  readonly warmUpSeconds: number
  readonly pool?: Omit<PoolDefinition, 'name' | 'deploy' | 'places'>
  readonly seed: number
}

/** The result of a simulated load. */
export interface PoolOutcome {
  readonly matches: number
  readonly hit: number
  /** Idle time of servers divided by the time of matches. */
  readonly idleShare: number
  readonly creates: number
  /** Share of matches that found a warm server, for each hour. */
  readonly hitByHour: readonly number[]
}

interface Event {
  readonly at: number
  readonly act: () => void
}

/** Simulates a pool without a matchmaker, on virtual time. */
export function runPool(load: PoolLoad): PoolOutcome {
  const random = seededRandom(load.seed)
  const start = Date.UTC(2026, 0, 5)
  let now = start
  const events = createEvents()
  const after = (seconds: number, act: () => void) => events.add({ at: now + seconds * 1000, act })
  const up = new Map<Server, number>()
  const drained = new Set<Server>()
  let ids = 0
  let idleMs = 0
  let playedMs = 0
  let creates = 0
  const counts = { matches: 0, hits: 0 }
  const hours: { matches: number; hits: number }[] = []
  const isCounted = () => now - start >= load.warmUpSeconds * 1000

  /** When each idle server became idle, in milliseconds. */
  const idleSince = new Map<Server, number>()
  const busy = (server: Server) => {
    const since = idleSince.get(server)
    idleSince.delete(server)
    if (since !== undefined && isCounted()) idleMs += now - Math.max(since, start + load.warmUpSeconds * 1000)
  }
  const goneIfEmpty = (server: Server) => {
    if (!drained.has(server) || server.guests.size > 0) return
    busy(server)
    up.delete(server)
    drained.delete(server)
    server.phase = 'stopping'
    pools.gone(server)
  }

  const definition = poolSchema.parse({
    name: 'arena',
    deploy: { application: 'game', version: '1' },
    places: [{ name: 'Oslo', latitude: 59.9, longitude: 10.7 }],
    ...load.pool,
  })
  const boot = (order: Order): Server => {
    ids += 1
    if (isCounted()) creates += 1
    const server = newPoolServer({ id: `server-${ids}`, pool: 'arena', at: now }, order)
    after(load.bootSeconds(random), () => {
      if (server.phase === 'stopping') return
      up.set(server, now)
      server.presence = new RegisteredServer({ instance: 'one', matches: 1 }, now)
      pools.up(server)
      if (server.guests.size === 0) idleSince.set(server, now)
      for (const match of server.guests) play(server, match)
    })
    return server
  }
  const pools = new Pools({
    pools: [definition],
    clock: { now: () => now },
    room: () => Infinity,
    create: (_, order) => boot(order),
    useOf: () => undefined,
    drain: (server) => {
      drained.add(server)
      server.draining = 'surplus'
      goneIfEmpty(server)
    },
  })
  const pool = pools.find('arena')
  if (pool === undefined) throw new Error('the pool "arena" is missing')

  const play = (server: Server, match: HostedMatch) => {
    const lasts = load.matchSeconds(random)
    match.readyAt = now
    if (isCounted()) playedMs += lasts * 1000
    after(lasts, () => {
      server.guests.delete(match)
      if (!drained.has(server)) idleSince.set(server, now)
      pools.ended(server, match)
      goneIfEmpty(server)
    })
  }

  const arrive = () => {
    ids += 1
    const match = new HostedMatch({ matchId: `match-${ids}`, queue: 'duel', at: now }, pool.orderFor([], undefined))
    const warm = pools.warmFor(pool, { middle: undefined, placements: undefined })
    pools.countDemand(pool, warm, { middle: undefined, placements: undefined })
    if (isCounted()) {
      const hour = (hours[Math.floor((now - start) / 3_600_000)] ??= { matches: 0, hits: 0 })
      for (const count of [counts, hour]) {
        count.matches += 1
        if (warm !== undefined) count.hits += 1
      }
    }
    const server = warm ?? boot(pool.orderFor([], undefined))
    if (warm === undefined) pools.created(server, undefined)
    busy(server)
    server.guests.add(match)
    server.matchesServed += 1
    pools.began(server)
    if (warm !== undefined) play(server, match)
    pools.advance(now)
  }
  /**
   * The highest rate of the load. Arrivals are drawn at this rate, and then randomly dropped down to the current rate.
   */
  const highest = Math.max(...Array.from({ length: Math.ceil(load.seconds / 60) }, (_, at) => load.perHour(at * 60)))
  const next = () => {
    after((-Math.log(1 - random()) * 3600) / highest, () => {
      if (random() * highest < load.perHour((now - start) / 1000)) arrive()
      next()
    })
  }
  next()
  const look = () => {
    pools.advance(now)
    after(1, look)
  }
  look()

  const end = start + load.seconds * 1000
  for (let event = events.next(); event !== undefined && event.at <= end; event = events.next()) {
    now = event.at
    event.act()
  }
  now = end
  for (const server of idleSince.keys()) busy(server)
  return {
    matches: counts.matches,
    hit: counts.hits / counts.matches,
    idleShare: idleMs / playedMs,
    creates,
    hitByHour: hours.map(({ matches, hits }) => hits / matches),
  }
}

/** A queue of events, ordered by time: a binary heap. */
function createEvents() {
  const heap: Event[] = []
  const isBefore = (one: number, other: number) => (heap[one]?.at ?? Infinity) < (heap[other]?.at ?? Infinity)
  const swap = (one: number, other: number) => {
    const moved = heap[one] as Event
    heap[one] = heap[other] as Event
    heap[other] = moved
  }
  return {
    add: (event: Event) => {
      heap.push(event)
      for (let at = heap.length - 1; at > 0 && isBefore(at, (at - 1) >> 1); at = (at - 1) >> 1) swap(at, (at - 1) >> 1)
    },
    next: (): Event | undefined => {
      const first = heap[0]
      const last = heap.pop()
      if (last === undefined || heap.length === 0) return first
      heap[0] = last
      for (let at = 0; ;) {
        const child = isBefore(2 * at + 2, 2 * at + 1) ? 2 * at + 2 : 2 * at + 1
        if (!isBefore(child, at)) return first
        swap(at, child)
        at = child
      }
    },
  }
}
