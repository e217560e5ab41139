/**
 * How a server counts the requests of one limit. Times are milliseconds that never decrease. Refused requests do not
 * count.
 */
export interface Limiter {
  /** Counts a request and returns 0, or refuses it and returns after how many milliseconds one could pass. */
  take(now: number): number
}
