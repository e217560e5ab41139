/** Counts the requests of one limit. Times are milliseconds that never decrease. Refused requests do not count. */
export interface Limiter {
  /** Counts a request and returns 0, or refuses the request and returns the milliseconds until one could pass. */
  take(now: number): number
}
