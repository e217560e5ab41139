import { describeQueue, type Queue } from '@muster/matchmaker'

/**
 * Recommended `untilMs` in milliseconds if limits do not relax, and the bounds of every recommendation (our choice).
 */
const UNTIL_MS = { steady: 10_000, least: 5000, most: 60_000 }
/** Multiple of the wait after which limits are loosest: a match that has just become possible is delayed a little. */
const BEYOND = 1.15
/** Minimum wait for a match of last resort; and its multiple of `patience.untilMs` (our choice). */
const LAST_RESORT_MS = 90_000
const LAST_RESORT = 4

const inSteps = (ms: number) => Math.round(ms / 1000) * 1000

/**
 * Recommends settings that a queue lacks, in sentences. The figures are those of docs/rules.md. Nothing is recommended
 * for a queue of pairs, one that matches at arrival, or one with a target wait.
 */
export function adviceOf(queue: Queue): readonly string[] {
  const { teams, rules, patience, lastResortMs, mode, targetWaitMs, expireAfterMs } = queue
  const players = teams.reduce(
    (sum, { count = 1, size }) => sum + count * (typeof size === 'number' ? size : size.max),
    0,
  )
  const isSearched = rules.some(({ kind }) => kind === 'distance' || kind === 'difference')
  if (players <= 2 || !isSearched || mode === 'arrival' || targetWaitMs !== undefined) return []
  const points = describeQueue(queue).curves.flatMap((curve) => curve.points)
  const loosestMs = Math.max(0, ...points.map(({ after }) => after))
  const relaxingMs = loosestMs === 0 ? UNTIL_MS.steady : BEYOND * loosestMs
  const bounded = Math.min(UNTIL_MS.most, expireAfterMs / 4, Math.max(UNTIL_MS.least, relaxingMs))
  const untilMs = Math.max(1, inSteps(bounded) || Math.floor(bounded))
  const lastMs = inSteps(Math.min(expireAfterMs / 2, Math.max(LAST_RESORT_MS, LAST_RESORT * untilMs)))
  return [
    ...(patience === undefined
      ? [
          `Consider patience: { cost: 2.5, untilMs: ${untilMs} }, for better matches while many players wait. ` +
            'While few wait, matches take about as long as without.',
        ]
      : []),
    ...(lastResortMs === undefined && lastMs > 0
      ? [
          `Consider lastResortMs: ${lastMs}, so that players with rare values are matched before they expire. ` +
            'Give the rules that must always hold hard: true.',
        ]
      : []),
  ]
}
