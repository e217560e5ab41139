// pure: how long the steps of a deployment take
import type { Random } from '@muster/core/clock'

/**
 * Median durations in milliseconds of the service's time, before `speed`. Each duration is drawn from a log-normal
 * distribution, whose long tail is typical of such waits.
 */
export interface DeployTimes {
  /** From the request to the choice of a place: the statuses from INITIALIZING to SCANNING. */
  readonly seekMs: number
  /** Duration of DEPLOYING with the image cached. */
  readonly cachedDeployMs: number
  /** Duration of DEPLOYING when the image has to be pulled. */
  readonly deployMs: number
  /** From SIGTERM until a simulated container has ended; at most the version's grace period. */
  readonly terminateMs: number
  /**
   * Standard deviation of the logarithm: at 0.4, 95 % of the durations are under 1.9 times the median. With 0, every
   * duration is the median.
   */
  readonly spread: number
}

/** The default medians (our choice): about 2 s in all with the image cached, about 11 s without. */
export const defaultDeployTimes: DeployTimes = {
  seekMs: 700,
  cachedDeployMs: 1200,
  deployMs: 10_000,
  terminateMs: 1000,
  spread: 0.4,
}

/** Draws one duration around the median. */
export function drawWait(medianMs: number, spread: number, random: Random): number {
  // Box–Muller; 1 − u is never 0, so the logarithm is finite.
  const normal = Math.sqrt(-2 * Math.log(1 - random())) * Math.cos(2 * Math.PI * random())
  return medianMs * Math.exp(spread * normal)
}
