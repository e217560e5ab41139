// pure: scales of plots

/** Seconds, or minutes where there are many. */
export interface TimeScale {
  readonly unit: 's' | 'min'
  /** The greatest value in the unit. */
  readonly most: number
  of(seconds: number): number
}

export function inSeconds(most: number): TimeScale {
  const isLong = most > 300
  return {
    unit: isLong ? 'min' : 's',
    most: isLong ? most / 60 : most,
    of: (seconds) => (isLong ? seconds / 60 : seconds),
  }
}

/** From 0 to a little above the greatest of the values. */
export const fromZero = (values: readonly number[]): [number, number] => [0, Math.max(1e-9, ...values) * 1.06]
