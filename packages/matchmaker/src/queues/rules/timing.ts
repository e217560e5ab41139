// pure: the level that counts for a rule
import type { MatchLevels } from '../../kernel/model.js'
import type { Levels } from './levels.js'
import type { Rule } from './rule.js'

/** Whose level a rule goes by, where it is asked about a pair, a part, or the whole of a match. */
export interface Timing {
  /** Whether a rule about pairs has no more to say about the whole. */
  readonly inPairs: boolean
  /** A level at which whatever pair the match allows passes. @param level the lower of the two. */
  ofPair(level: number): number
  /**
   * A level at which whatever part of a match passes that may become a whole one (unless by a ticket of last resort).
   */
  ofPart(levels: MatchLevels): number
  ofMatch(levels: MatchLevels): number
}

/** @param steady whether the rule never relaxes, except at the last resort. */
export function timingOf({ by }: Rule, { last, lastResort }: Levels, steady: boolean): Timing {
  const whose = steady || by === 'each' ? 'youngest' : by
  const ofMatch = (levels: MatchLevels) => levels[whose]
  // The youngest can only get younger as others join. The oldest gets older, and the rule looser: how much, nobody
  // knows.
  if (whose === 'youngest')
    return { inPairs: steady || by === 'each', ofPair: (level) => level, ofPart: ofMatch, ofMatch }
  const loosest = lastResort === Infinity ? last : Math.max(0, last - 1)
  const ofPair = (level: number) => (level === lastResort ? level : loosest)
  return { inPairs: false, ofPair, ofPart: ({ youngest }) => ofPair(youngest), ofMatch }
}

/** Whether none of the tables changes before the last resort. */
export const isSteady = ({ lastResort }: Levels, ...tables: readonly Float64Array[]): boolean =>
  tables.every((table) => table.every((limit, level) => level === lastResort || limit === table[0]))
