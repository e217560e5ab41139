import type { BalanceRule } from './balance.js'
import type { RatingValue } from './predicted-win.js'
import { limitOf, type Judged } from './oracle-limits.fixture.js'
import { valueOf } from './oracle-values.fixture.js'

/** True if no team is too likely to beat another, by integrating the density of their difference. */
export function predictionHolds(rule: BalanceRule, judged: Judged): boolean {
  const { mean = '', uncertainty = '', beta = 25 / 6, missing } = rule
  const standIn = typeof missing === 'object' ? (missing.value as RatingValue) : undefined
  const teams = judged.teams
    .map(({ tickets }) =>
      tickets.flatMap(({ players }) =>
        players.map((player) => ({
          mean: (valueOf(player, mean) ?? standIn?.mean) as number | undefined,
          uncertainty: (valueOf(player, uncertainty) ?? standIn?.uncertainty) as number | undefined,
        })),
      ),
    )
    .filter((players) => players.length > 0)
  const unrated = teams.flat().some((rating) => rating.mean === undefined || !((rating.uncertainty ?? 0) > 0))
  if (unrated) return false
  const limit = limitOf(rule, rule.max, judged)
  if (limit === undefined) return true
  const sums = teams.map((players) => ({
    mean: players.reduce((sum, one) => sum + (one.mean as number), 0),
    variance: players.reduce((sum, one) => sum + (one.uncertainty as number) ** 2, 0),
  }))
  return sums.every((one) =>
    sums.every((other) => {
      const deviation = Math.sqrt(one.variance + other.variance + 2 * beta ** 2)
      return one.mean <= other.mean || chanceOf((one.mean - other.mean) / deviation) <= limit
    }),
  )
}

const known = new Map<number, number>()

/** Returns the probability that a normally distributed lead is above 0, by Simpson's rule. */
function chanceOf(lead: number): number {
  const kept = known.get(lead)
  if (kept !== undefined) return kept
  const [strips, end] = [400, Math.min(lead, 8)]
  const density = (x: number) => Math.exp(-(x ** 2) / 2) / Math.sqrt(2 * Math.PI)
  let sum = density(0) + density(end)
  for (let strip = 1; strip < strips; strip += 1) sum += (strip % 2 === 1 ? 4 : 2) * density((end * strip) / strips)
  const chance = 0.5 + (sum * end) / strips / 3
  known.set(lead, chance)
  return chance
}
