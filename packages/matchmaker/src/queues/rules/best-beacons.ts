// pure: at which beacon the server of a match should be
import type { Player } from '../../player.js'
import type { LatencyRule } from './definition.js'
import { boundariesOf, limitAt } from './relaxing.js'
import type { Rule } from './rule.js'

/** A beacon that all players of a match have measured. Milliseconds. */
export interface RankedBeacon {
  readonly name: string
  /** Of all players the longest round trip, and the average. */
  readonly worstMs: number
  readonly meanMs: number
}

export interface BestBeacons {
  /**
   * Those that the rule allows, the best first: the one whose worst round trip is shortest, then the one whose mean is.
   */
  readonly beacons: readonly RankedBeacon[]
  /** What no player's round trip to these exceeds by the rule; undefined if it sets no limit, or has given way. */
  readonly limitMs: number | undefined
}

/** Into how many steps a limit that relaxes evenly is cut here. */
const STEPS = 16

/**
 * Undefined where the queue has no latency rule. Where the rule has given way, and no beacon keeps it, all that the
 * players have in common. Players without any latency do not count.
 * @param expansionMs milliseconds of waiting at which the limits began that the match keeps.
 */
export function bestBeacons(
  rules: readonly Rule[],
  players: readonly Pick<Player, 'latencies'>[],
  expansionMs: number,
): BestBeacons | undefined {
  const rule = rules.find((one) => one.kind === 'latency')
  if (rule === undefined) return undefined
  const common = commonBeacons(players)
  for (const waitedMs of waitsFrom(expansionMs, rule)) {
    const [limit, difference] = [limitOf(rule.maxMs, waitedMs), limitOf(rule.maxDifferenceMs, waitedMs)]
    const allowed = common.filter(({ worstMs, bestMs }) => worstMs <= limit && worstMs - bestMs <= difference)
    if (allowed.length > 0) return { beacons: allowed.map(ranked), limitMs: limit < Infinity ? limit : undefined }
  }
  return { beacons: common.map(ranked), limitMs: undefined }
}

const limitOf = (relaxing: LatencyRule['maxMs'], waitedMs: number) =>
  relaxing === undefined ? Infinity : limitAt(relaxing, waitedMs, STEPS)

/**
 * The waits from this one on at which the rule relaxes, as long as it counts: those who waited longer may have been let
 * in by it.
 */
function waitsFrom(
  expansionMs: number,
  { maxMs = Infinity, maxDifferenceMs = Infinity, optionalAfterMs = Infinity }: Rule & LatencyRule,
): number[] {
  const later = [...boundariesOf(maxMs, STEPS), ...boundariesOf(maxDifferenceMs, STEPS)].filter(
    (ms) => ms > expansionMs,
  )
  return [expansionMs, ...later.toSorted((a, b) => a - b)].filter((ms) => ms < optionalAfterMs)
}

interface Common extends RankedBeacon {
  readonly bestMs: number
}

const ranked = ({ name, worstMs, meanMs }: Common): RankedBeacon => ({ name, worstMs, meanMs })

/** The best first. */
function commonBeacons(players: readonly Pick<Player, 'latencies'>[]): Common[] {
  const known = players.map(({ latencies = {} }) => latencies).filter((latencies) => Object.keys(latencies).length > 0)
  const [first = {}] = known
  const names = Object.keys(first).filter((name) => known.every((latencies) => Object.hasOwn(latencies, name)))
  return names
    .map((name) =>
      commonOf(
        name,
        known.map((latencies) => latencies[name] ?? 0),
      ),
    )
    .toSorted(better)
}

const commonOf = (name: string, trips: readonly number[]): Common => ({
  name,
  worstMs: Math.max(...trips),
  meanMs: trips.reduce((sum, ms) => sum + ms, 0) / trips.length,
  bestMs: Math.min(...trips),
})

const better = (a: Common, b: Common) => a.worstMs - b.worstMs || a.meanMs - b.meanMs || (a.name < b.name ? -1 : 1)
