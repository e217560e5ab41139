/**
 * Minimum difference in milliseconds that counts as a step. Smaller differences arise because the clocks are read one
 * after the other (our choice).
 */
const SMALLEST_STEP_MS = 250

/**
 * Creates the measurement of the difference between the wall clock and the monotonic clock. The difference is constant
 * from one step to the next, because both clocks follow the same rate corrections.
 */
export function createWallStep(wall: () => number, monotonic: () => number) {
  let stepMs = 0
  /**
   * Returns the measured difference. Of several readings, the one with the smallest change counts, because the process
   * may be interrupted between the two clocks.
   */
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
