// pure: the waits at which curves are told

/**
 * Milliseconds of waiting at which the share of matched players is told: the same for every run, so that curves can be
 * averaged. Close together at first, where rules and players differ most.
 */
export const WAIT_POINTS_MS: readonly number[] = [
  0, 1, 2, 3, 4, 5, 7, 10, 12, 15, 20, 25, 30, 35, 40, 45, 50, 60, 75, 90, 105, 120, 150, 180, 240, 300, 420, 600, 900,
  1800, 3600,
].map((seconds) => seconds * 1000)

/** The share of `players` who waited at most as long as each point. @param waits of the matched, ascending. */
export function curveOf(waits: Float64Array, players: number): readonly number[] {
  let matched = 0
  return WAIT_POINTS_MS.map((point) => {
    while (matched < waits.length && (waits[matched] as number) <= point) matched += 1
    return players === 0 ? 0 : Math.round((matched / players) * 1e6) / 1e6
  })
}
