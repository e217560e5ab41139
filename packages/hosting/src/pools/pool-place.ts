import type { Coordinates } from '@muster/core'
import { type Server, isEnrolled } from '../records/index.js'
import { createDemand } from './demand.js'
import { type Pool, scheduledGoals } from './pool-definition.js'
import { mostWarm, stockFor } from './stock-size.js'

/** A location where servers of a pool are kept. */
export type PoolPlace = ReturnType<typeof newPlace>

/** The state of a location of a pool, for operators. */
export interface PoolPlaceView {
  readonly pool: string
  readonly place: string
  /** True if the pool is paused, so that no servers are kept warm. */
  readonly paused: boolean
  /** The current target number of warm servers. */
  readonly wanted: number
  readonly starting: number
  readonly idle: number
  readonly playing: number
  readonly draining: number
  /** Number of matches that needed a server since this process started, and of those that found a warm one. */
  readonly asked: number
  readonly hits: number
  /** Share of matches that is expected to find a warm server. Undefined without matches, or with enrolled servers. */
  readonly expectedHit: number | undefined
  /** Predicted number of matches per hour, and the actual number in the last hour. */
  readonly ratePerHour: number
  readonly cameLastHour: number
  readonly bootSeconds: number
  /** Hours for which servers were idle. Enrolled servers do not count, because they cost nothing. */
  readonly idleHours: number
}

/**
 * Creates a location of a pool.
 * @param coordinates undefined for the location of matches without known coordinates
 * @param now epoch milliseconds
 */
export const newPlace = (name: string, coordinates: Coordinates | undefined, now: number) => ({
  name,
  coordinates,
  demand: createDemand(now),
  asked: 0,
  hits: 0,
  /** Milliseconds for which servers were idle, added up. */
  idleMs: 0,
})

export const countOf = <Item>(items: Iterable<Item>, isCounted: (item: Item) => boolean): number => {
  let count = 0
  for (const item of items) if (isCounted(item)) count += 1
  return count
}

export const added = (places: PoolPlace[], place: PoolPlace): PoolPlace => {
  places.push(place)
  return place
}

/** Milliseconds added to the longest match, so that each match ends before its server's time limit. */
const RETIRE_GRACE_MS = 60_000

interface AgingServer {
  readonly server: Pick<Server, 'source' | 'startedAfter' | 'isAgeUnknown'>
  /** Epoch milliseconds, by the clock of the process that created the server. */
  readonly createdAt: number
}

/** True if a server is too old to take a match. After a restart, the age that its source reports counts. */
export function isAged(pool: Pool, place: PoolPlace, { server, createdAt }: AgingServer, now: number): boolean {
  if (server.isAgeUnknown) return false
  return now - Math.max(createdAt, server.startedAfter) >= lifetimeMs(pool, place, server)
}

/** Returns the age in milliseconds from which a server takes no match, because the match might outlast it. */
function lifetimeMs({ reuse, deploy }: Pool, { demand }: PoolPlace, server: Pick<Server, 'source'>): number {
  const oldestMs = (reuse.maxAgeMinutes ?? Infinity) * 60_000
  // An enrolled server has no `maxDurationMs`, so only `maxAgeMinutes` counts.
  if (isEnrolled(server)) return oldestMs
  const longestMs = demand.longestMatchSeconds() * 1000 + RETIRE_GRACE_MS
  // If a match may take most of `maxDurationMs`, no age would be safe, and each new server would be replaced at once.
  return Math.min(Math.max(deploy.maxDurationMs - longestMs, deploy.maxDurationMs / 2), oldestMs)
}

/** The present in epoch milliseconds: `now` by the steady clock for demand, `date` by the wall clock for schedules. */
interface PoolTime {
  readonly now: number
  readonly date: number
}

function goalAt(definition: Pool, { demand }: PoolPlace, { now, date }: PoolTime): number {
  const { warm } = definition
  const scheduled = scheduledGoals(definition, date)
  if (warm === undefined && scheduled.hit === undefined && scheduled.min === 0) return 0
  const { hit, maxIdleShare } = warm ?? { hit: 0, maxIdleShare: 0 }
  const max = mostWarm(definition)
  const load = {
    rate: demand.rate(now),
    steadyRate: demand.steadyRate(now),
    bootSeconds: demand.bootSeconds(),
    matchSeconds: demand.matchSeconds(),
  }
  const usual = stockFor(load, { hit, maxIdleShare, max })
  const atEvent = stockFor(load, { hit: scheduled.hit ?? 0, maxIdleShare: Infinity, max })
  return Math.max(usual, atEvent, scheduled.min)
}

/** Returns the target number of warm servers for each location. The busiest locations get theirs first. */
export function goalsOf(
  definition: Pool,
  places: readonly PoolPlace[],
  moment: PoolTime,
): ReadonlyMap<PoolPlace, number> {
  let left = mostWarm(definition)
  const goals = new Map<PoolPlace, number>()
  const byRate = places.toSorted((one, other) => other.demand.rate(moment.now) - one.demand.rate(moment.now))
  for (const place of byRate) {
    const goal = Math.min(left, goalAt(definition, place, moment))
    goals.set(place, goal)
    left -= goal
  }
  return goals
}
