import type { Coordinates } from '@muster/core'
import { type Server, isEnrolled } from '../records/index.js'
import { createDemand } from './demand.js'
import { type Pool, scheduledGoals } from './pool-definition.js'
import { mostWarm, stockFor } from './stock-size.js'

/** Where servers of a pool are kept. */
export type Place = ReturnType<typeof newPlace>

/** A pool at one place, for operators. */
export interface PoolPlaceView {
  readonly pool: string
  readonly place: string
  /** Whether the pool is paused: then none are kept warm. */
  readonly paused: boolean
  /** Servers that are kept warm, as wanted now. */
  readonly wanted: number
  readonly starting: number
  readonly idle: number
  readonly playing: number
  readonly draining: number
  /** Matches since the process began, and those that found a warm server. */
  readonly asked: number
  readonly hits: number
  /** The share that is expected to find one, by the present rate; undefined while nobody comes. */
  readonly expectedHit: number | undefined
  /** Matches an hour that are expected, and those of the last hour. */
  readonly ratePerHour: number
  readonly cameLastHour: number
  readonly bootSeconds: number
  /** Hours for which servers were idle, without those that have enrolled: they cost nothing. */
  readonly idleHours: number
}

/**
 * @param coordinates undefined for matches of which no place is known
 * @param now epoch milliseconds.
 */
export const newPlace = (name: string, coordinates: Coordinates | undefined, now: number) => ({
  name,
  coordinates,
  demand: createDemand(now),
  asked: 0,
  hits: 0,
  /** Server-milliseconds of idleness. */
  idleMs: 0,
})

export const countOf = <Item>(items: Iterable<Item>, isCounted: (item: Item) => boolean): number => {
  let count = 0
  for (const item of items) if (isCounted(item)) count += 1
  return count
}

export const added = (places: Place[], place: Place): Place => {
  places.push(place)
  return place
}

/** Milliseconds before its end by which a server takes no match any more, beyond the longest match. */
const RETIRE_GRACE_MS = 60_000

/** Milliseconds after its create from which a match that begins might outlast the server. */
export function lifetimeMs({ reuse, deploy }: Pool, { demand }: Place, server: Pick<Server, 'source'>): number {
  const oldestMs = (reuse.maxAgeMinutes ?? Infinity) * 60_000
  // Nothing ends one that Muster has not started.
  if (isEnrolled(server)) return oldestMs
  const longestMs = demand.longestMatchSeconds() * 1000 + RETIRE_GRACE_MS
  return Math.max(0, Math.min(deploy.maxDurationMs - longestMs, oldestMs))
}

/** Now, as an instant of the clock for demand, and as a date of the wall clock for schedules. */
interface Moment {
  readonly now: number
  readonly date: number
}

function goalAt(definition: Pool, { demand }: Place, { now, date }: Moment): number {
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

/** What each place of a pool wants, within the bounds of the pool: the busiest first. */
export function goalsOf(definition: Pool, places: readonly Place[], moment: Moment): ReadonlyMap<Place, number> {
  let left = mostWarm(definition)
  const goals = new Map<Place, number>()
  const byRate = places.toSorted((one, other) => other.demand.rate(moment.now) - one.demand.rate(moment.now))
  for (const place of byRate) {
    const goal = Math.min(left, goalAt(definition, place, moment))
    goals.set(place, goal)
    left -= goal
  }
  return goals
}
