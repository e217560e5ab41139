// pure: ranks the beacons for the server of a match
import type { Player } from '@muster/hosting/internal'
import { boundariesOf, limitAt, type RelaxationSteps, relaxationStepsOf } from '../rule-parts/index.js'
import type { Rule } from './definition.js'
import type { LatencyRule } from './latency.js'

/** A beacon to which all players of a match have measured their latency; round trips in milliseconds. */
interface RankedBeacon {
  readonly name: string
  /** The longest round trip of all players to the beacon. */
  readonly worstMs: number
  readonly meanMs: number
}

interface BestBeacons {
  /** Beacons that the rule allows, best first: by the worst round trip, then by the average. */
  readonly beacons: readonly RankedBeacon[]
  /** The rule's limit for round trips to these beacons; undefined if the rule sets no limit or no longer applies. */
  readonly limitMs: number | undefined
}

/** Number of steps that a linear limit is cut into. */
const STEPS = 16

/**
 * Ranks the beacons at which the server of a match may be. Returns undefined if the queue has no latency rule. If the
 * rule has relaxed entirely and no beacon satisfies it, returns all beacons that the players have in common. Players
 * without any latency are ignored.
 * @param expansionMs wait in milliseconds whose relaxation step the match satisfies.
 * @param targetWaitMs the queue's target wait in milliseconds.
 */
export function bestBeacons(
  rules: readonly Rule[],
  players: readonly Pick<Player, 'latencies'>[],
  expansionMs: number,
  targetWaitMs?: number,
): BestBeacons | undefined {
  const rule = rules.find((one) => one.kind === 'latency')
  if (rule === undefined) return undefined
  const common = commonBeacons(players)
  const stairs = relaxationStepsOf(STEPS, targetWaitMs)
  for (const waitedMs of waitsFrom(expansionMs, rule, stairs)) {
    const limit = limitOf(rule.maxMs, waitedMs, stairs)
    const difference = limitOf(rule.maxDifferenceMs, waitedMs, stairs)
    const allowed = common.filter(({ worstMs, bestMs }) => worstMs <= limit && worstMs - bestMs <= difference)
    if (allowed.length > 0) return { beacons: allowed.map(ranked), limitMs: limit < Infinity ? limit : undefined }
  }
  return { beacons: common.map(ranked), limitMs: undefined }
}

const limitOf = (relaxing: LatencyRule['maxMs'], waitedMs: number, stairs: RelaxationSteps) =>
  relaxing === undefined ? Infinity : limitAt(relaxing, waitedMs, stairs)

/**
 * Returns the waits after `expansionMs` at which the rule relaxes, as long as it applies. Players who have waited
 * longer may have been matched by a looser limit.
 */
function waitsFrom(
  expansionMs: number,
  { maxMs = Infinity, maxDifferenceMs = Infinity, optionalAfterMs = Infinity }: Rule & LatencyRule,
  stairs: RelaxationSteps,
): number[] {
  const later = [...boundariesOf(maxMs, stairs), ...boundariesOf(maxDifferenceMs, stairs)].filter(
    (ms) => ms > expansionMs,
  )
  return [expansionMs, ...later.toSorted((a, b) => a - b)].filter((ms) => ms < optionalAfterMs)
}

interface Common extends RankedBeacon {
  readonly bestMs: number
}

const ranked = ({ name, worstMs, meanMs }: Common): RankedBeacon => ({ name, worstMs, meanMs })

/** Returns the beacons that all players have measured, best first. */
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
