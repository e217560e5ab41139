// pure: the waits at which anything in a queue relaxes, and the limits at each of them
import type { MatchLevels } from '@muster/kernel'
import { limitAt, loosest, type RelaxingLimit, type RelaxationSteps } from './relaxing.js'
import type { Checked, RuleBase } from './rule-base.js'

/** Maximum number of levels of a queue: a level must fit into a byte. */
export const MOST_LEVELS = 255

/** Number of steps that a linear limit is cut into, unless that makes too many levels. */
export const STEPS_OF_A_LINE = 16

export interface QueueLevels extends RelaxationSteps {
  /** Milliseconds of waiting at which each level begins, for a ticket without a head start. */
  readonly at: Float64Array
  /** The index of the last-resort level, which is the last one; Infinity if there is none. */
  readonly lastResort: number
  readonly last: number
}

/**
 * Returns the waits at which a ticket with a head start reaches each relaxation step. The head start does not apply to
 * the last resort. Steps that begin after the last resort are skipped.
 */
export function startsOf({ at, lastResort }: QueueLevels, aheadMs: number): Float64Array {
  const lastResortMs = at[lastResort] ?? Infinity
  const start = (ms: number) => Math.min(Math.max(0, ms - aheadMs), lastResortMs)
  return at.map((ms, level) => (level === 0 || level === lastResort ? ms : start(ms)))
}

/** Returns the limit at each level. @param off the value where the rule does not count. */
export function tableOf(levels: QueueLevels, relaxing: RelaxingLimit, off: number, rule: RuleBase): Float64Array {
  const { optionalAfterMs = Infinity, hard = false } = rule
  return levels.at.map((ms, level) => {
    if (ms >= optionalAfterMs || (level === levels.lastResort && !hard)) return off
    return level === levels.lastResort ? loosest(relaxing) : limitAt(relaxing, ms, levels)
  })
}

/** The level at which a rule checks a pair, a part, or the whole of a match. */
interface Timing {
  /** True if checking all pairs of a match decides the rule, so that no check of the whole is needed. */
  readonly inPairs: boolean
  /**
   * Returns the level for checking a pair: every pair of an allowed match passes the check at this level.
   * @param level the lower of the two tickets' levels.
   */
  ofPair(level: number): number
  /**
   * Returns the level for checking a part of a match. At this level, every part that may grow into an allowed match
   * passes, unless a ticket of last resort joins.
   */
  ofPart(levels: MatchLevels): number
  ofMatch(levels: MatchLevels): number
}

/**
 * Returns the levels at which a rule checks pairs, parts and whole matches.
 * @param steady true if the rule never relaxes except at last resort.
 */
export function timingOf({ by }: Checked<RuleBase>, { last, lastResort }: QueueLevels, steady: boolean): Timing {
  const whose = steady || by === 'each' ? 'youngest' : by
  const ofMatch = (levels: MatchLevels) => levels[whose]
  // The youngest ticket's level can only fall when others join. The oldest ticket's level can rise and loosen the rule
  // by an unknown amount, so the loosest limit counts.
  if (whose === 'youngest')
    return { inPairs: steady || by === 'each', ofPair: (level) => level, ofPart: ofMatch, ofMatch }
  const latest = lastResort === Infinity ? last : Math.max(0, last - 1)
  const ofPair = (level: number) => (level === lastResort ? level : latest)
  return { inPairs: false, ofPair, ofPart: ({ youngest }) => ofPair(youngest), ofMatch }
}

/** A limit of a rule for a pair, a part, or the whole of a match: see `Timing`. */
export interface TimedLimits {
  /** The limit at each level. */
  readonly table: Float64Array
  readonly inPairs: boolean
  ofPair(level: number): number
  ofPart(levels: MatchLevels): number
  ofMatch(levels: MatchLevels): number
}

/** Returns a rule's limits with the levels at which they apply. @param off the value where the rule does not count. */
export function timedLimits(
  rule: Checked<RuleBase>,
  levels: QueueLevels,
  relaxing: RelaxingLimit,
  off: number,
  ofValue = (limit: number) => limit,
): TimedLimits {
  const table = tableOf(levels, relaxing, off, rule).map(ofValue)
  const timing = timingOf(rule, levels, isSteady(levels, table))
  return {
    table,
    inPairs: timing.inPairs,
    ofPair: (level) => table[timing.ofPair(level)] ?? off,
    ofPart: (match) => table[timing.ofPart(match)] ?? off,
    ofMatch: (match) => table[timing.ofMatch(match)] ?? off,
  }
}

/** Returns a table with 1 where the rule counts and 0 where it does not. */
export const timedCounts = (rule: Checked<RuleBase>, levels: QueueLevels): TimedLimits =>
  timedLimits(rule, levels, 1, 0)

/** True if no table changes before the last resort. */
export const isSteady = ({ lastResort }: QueueLevels, ...tables: readonly Float64Array[]): boolean =>
  tables.every((table) => table.every((limit, level) => level === lastResort || limit === table[0]))
