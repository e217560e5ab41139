// pure: what is told of matches
import { rounded, spreadOf } from '../statistics/spread.js'
import type { MatchFigures } from './figures.js'
import type { Teams } from './measure-matches.js'

const STEPS = 10

export function matchFigures(matches: Teams): MatchFigures {
  const known = matches.filter((teams) => teams !== undefined)
  const counts = new Float64Array(STEPS)
  for (const { favourite } of known) {
    const step = Math.min(STEPS - 1, Math.max(0, Math.floor((favourite - 0.5) * 2 * STEPS)))
    counts[step] = (counts[step] as number) + 1
  }
  return {
    count: matches.length,
    teamGap: spreadOf(
      Float64Array.from(known, ({ gap }) => gap),
      3,
    ),
    favourite: spreadOf(
      Float64Array.from(known, ({ favourite }) => favourite),
      4,
    ),
    favouriteShares: Array.from(counts, (count) => (known.length === 0 ? 0 : rounded(count / known.length, 6))),
  }
}
