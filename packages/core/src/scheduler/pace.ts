// pure: how many may start at one moment

/** A credit of up to `burst` starts, filled again at the rate. */
export interface Pace {
  /** Takes one start at `now`, and gives undefined; or takes none, and says when one will be due. */
  take(now: number, perMs: number): number | undefined
  /** A start that did not happen after all. */
  giveBack(): void
  /** How many could start at `now`. */
  free(now: number, perMs: number): number
}

/** In times of thirteen digits rounding can leave a start that is due a little short of whole. */
const TOLERANCE = 1e-3

export function createPace(burst: number): Pace {
  let credit = burst
  let at = Number.NEGATIVE_INFINITY
  const fill = (now: number, perMs: number) => {
    credit = Math.min(burst, credit + (now - at) * perMs)
    at = now
  }
  return {
    take: (now, perMs) => {
      fill(now, perMs)
      if (credit < 1 - TOLERANCE) return now + (1 - credit) / perMs
      credit -= 1
      return undefined
    },
    giveBack: () => {
      credit = Math.min(burst, credit + 1)
    },
    free: (now, perMs) => {
      fill(now, perMs)
      return Math.floor(credit + TOLERANCE)
    },
  }
}
