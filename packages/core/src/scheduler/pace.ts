// pure: how many may start at one moment

/** A credit of up to `burst` starts, which refills at the rate. */
export interface Pace {
  /** Takes one start at `now` and returns undefined; or takes none, and returns when one will be due. */
  take(now: number, perMs: number): number | undefined
  /** Gives back a start that was not used. */
  giveBack(): void
  /** Number of starts possible at `now`. */
  free(now: number, perMs: number): number
}

/** Rounding tolerance: with times of thirteen digits, a start that is due may come out slightly below a whole one. */
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
