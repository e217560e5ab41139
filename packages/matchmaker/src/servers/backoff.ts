// pure: when to try again

/**
 * Milliseconds to wait after so many failures (from 1) in a row: twice as long each time, up to `capMs`, and
 * by chance up to half shorter, so that those who failed together do not come back together.
 * @param random from 0 to 1.
 */
export const backoffMs = (
  failures: number,
  random: number,
  { baseMs, capMs }: { readonly baseMs: number; readonly capMs: number },
): number => Math.min(capMs, baseMs * 2 ** (failures - 1)) * (1 - random / 2)
