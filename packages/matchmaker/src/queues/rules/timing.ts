// pure: the level that counts for a rule
import type { MatchLevels } from '@muster/kernel'
import type { Levels } from './levels.js'
import type { Rule } from './rule.js'

/** Which level counts for a rule when it is asked about a pair, a part, or the whole of a match. */
export interface Timing {
  /** Whether checking all pairs of a match decides the rule, so that no check of the whole is needed. */
  readonly inPairs: boolean
  /** A level at which every pair passes that a match allows. @param level the lower of the two tickets' levels. */
  ofPair(level: number): number
  /** A level at which every part passes that may grow into an allowed match, unless a ticket of last resort joins. */
  ofPart(levels: MatchLevels): number
  ofMatch(levels: MatchLevels): number
}

/** @param steady whether the rule never relaxes, except at last resort. */
export function timingOf({ by }: Rule, { last, lastResort }: Levels, steady: boolean): Timing {
  const whose = steady || by === 'each' ? 'youngest' : by
  const ofMatch = (levels: MatchLevels) => levels[whose]
  // The youngest ticket's level can only fall as others join. The oldest's can rise, which loosens the rule by an
  // unknown amount, so its loosest limit counts.
  if (whose === 'youngest')
    return { inPairs: steady || by === 'each', ofPair: (level) => level, ofPart: ofMatch, ofMatch }
  const loosest = lastResort === Infinity ? last : Math.max(0, last - 1)
  const ofPair = (level: number) => (level === lastResort ? level : loosest)
  return { inPairs: false, ofPair, ofPart: ({ youngest }) => ofPair(youngest), ofMatch }
}

/** Whether no table changes before the last resort. */
export const isSteady = ({ lastResort }: Levels, ...tables: readonly Float64Array[]): boolean =>
  tables.every((table) => table.every((limit, level) => level === lastResort || limit === table[0]))
