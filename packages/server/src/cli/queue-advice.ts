import { describeQueue, type Queue } from '@muster/matchmaker'

/**
 * Recommended `patience.untilMs` in milliseconds. `steady` applies if limits do not relax. `least` and `most` bound
 * every recommendation (our choice).
 */
const UNTIL_MS = { steady: 10_000, least: 5000, most: 60_000 }
/**
 * Factor between the wait at which limits are loosest and the recommended `patience.untilMs`. It is above 1, so that a
 * match which has just become possible is delayed a little.
 */
const BEYOND = 1.15
/** Minimum recommended `lastResortMs` in milliseconds, and its factor to `patience.untilMs` (our choice). */
const LAST_RESORT_MS = 90_000
const LAST_RESORT = 4

const inSteps = (ms: number) => Math.round(ms / 1000) * 1000

/**
 * Returns sentences that recommend settings which the queue lacks, with the figures of docs/rules.md. Recommends
 * nothing for a queue of pairs, for one that matches at arrival, or for one with a target wait.
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
