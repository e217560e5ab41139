/**
 * Enforces a documented rate limit: a queue acquires a permit before each start. The default is the token bucket of
 * `createBucket`, for one process. `createRedisLimits` of `@muster/redis` implements this interface for limits that
 * several processes share.
 *
 * All times are epoch milliseconds of the calling scheduler's clock.
 */
export interface Limiter {
  /**
   * Acquires one start: returns a permit, or the time (later than `now`) at which to retry. The permit counts from that
   * moment. The queue calls this only while a call waits, one at a time. May return a promise. If it throws or rejects,
   * the error goes to the next waiting call.
   */
  reserve(now: number): Permit | number | Promise<Permit | number>
  /** Called if the service answered 429. Nothing will be started before `until`. */
  throttled(now: number, until: number): void
  /** The state for metrics. A shared limiter returns the last state it read. */
  inspect(now: number): LimiterState
  /**
   * Time at which `check` is to be called, not before `now`; undefined for never. Called after each write and each
   * check. The delay of the check shows how late the event loop is.
   */
  checkAt?(now: number): number | undefined
  check?(now: number): void
  /** Why no permit is given at present, apart from the limit itself: the cause of calls that time out in the queue. */
  obstacle?(): Error | undefined
}

/** A limiter without dependencies, so that nothing prevents it from giving permits. */
export type LocalLimiter = Required<Omit<Limiter, 'obstacle'>>

export interface LimiterState {
  /** Number of free starts. */
  readonly tokens: number
  /** Number of starts allowed in a window. */
  readonly rate: number
  /** Milliseconds from writing a request until it is taken as counted. Infinity: only responses prove a count. */
  readonly countedWithinMs?: number | undefined
}

/** The right to send one request. Its holder must report the request's course. Repeated reports count once. */
export interface Permit {
  /**
   * Called right before the request is written: returns true if the permit is still valid. If not, nothing is written,
   * and the call waits for another permit. Absent if permits do not expire, as within one process.
   */
  mayWrite?(): boolean
  /**
   * Reports that the request's bytes were sent on an open connection, so the server may count it now.
   * @param fresh true for the first request on its connection, which the server may have to accept first.
   */
  written(now: number, fresh?: boolean): void
  /** Reports the response: the server has counted the request, even if it was never reported as written. */
  answered(now: number): void
  /**
   * Reports that no response will come. A request that was never written costs nothing. A written one may be counted,
   * even later.
   */
  release(now: number): void
}
