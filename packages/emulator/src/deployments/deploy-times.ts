// pure: how long the steps of a deployment take
import type { Random } from '@muster/core/clock'

/**
 * Milliseconds of the service's time, before `speed`: medians. Each wait is drawn anew from a log-normal
 * distribution, which has the long tail that waits of this kind have.
 */
export interface DeployTimes {
  /** From the request to the choice of a place: INITIALIZING to SCANNING. */
  readonly seekMs: number
  /** DEPLOYING, with the image cached. */
  readonly cachedDeployMs: number
  /** DEPLOYING, with the image to be pulled. */
  readonly deployMs: number
  /** From SIGTERM until a simulated container has ended; never longer than the version's grace period. */
  readonly terminateMs: number
  /**
   * Standard deviation of the logarithm: at 0.4, nineteen of twenty are under 1.9 times the median. 0 always gives the
   * median.
   */
  readonly spread: number
}

/** Our choice: about 2 s in all with the image cached, about 11 s without. */
export const defaultDeployTimes: DeployTimes = {
  seekMs: 700,
  cachedDeployMs: 1200,
  deployMs: 10_000,
  terminateMs: 1000,
  spread: 0.4,
}

/** One wait around the median. */
export function drawWait(medianMs: number, spread: number, random: Random): number {
  // Box–Muller; 1 − u keeps the logarithm away from zero.
  const normal = Math.sqrt(-2 * Math.log(1 - random())) * Math.cos(2 * Math.PI * random())
  return medianMs * Math.exp(spread * normal)
}
