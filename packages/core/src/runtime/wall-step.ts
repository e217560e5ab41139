/** A smaller difference is none: both clocks are read one after the other (our choice). */
const SMALLEST_STEP_MS = 250

/**
 * The difference of the wall clock to the monotonic one, which is the same from one step to the next: both follow the
 * same corrections of the clock's rate.
 */
export function createWallStep(wall: () => number, monotonic: () => number) {
  let stepMs = 0
  /** Of several readings the smallest change counts: the process may be interrupted between the two clocks. */
  const measured = () => {
    const readings = Array.from({ length: 3 }, () => wall() - monotonic())
    return readings.reduce((best, one) => (Math.abs(one - stepMs) < Math.abs(best - stepMs) ? one : best))
  }
  return {
    read: (): number => {
      if (Math.abs(wall() - monotonic() - stepMs) < SMALLEST_STEP_MS) return stepMs
      const now = measured()
      if (Math.abs(now - stepMs) >= SMALLEST_STEP_MS) stepMs = Math.round(now)
      return stepMs
    },
  }
}
