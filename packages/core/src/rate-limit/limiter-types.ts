/**
 * Enforces a documented rate limit: a queue acquires a permit before each start. The default is the token bucket of
 * `createBucket`, for one process. `createRedisLimits` of `@muster/redis` implements this interface for limits that
 * several processes share.
 *
 * All times are epoch milliseconds of the calling scheduler's clock.
 */
export interface Limiter {
  /**
   * Acquires a permit to start one request. Returns the permit, or the time (later than `now`) at which to retry. The
   * permit uses up the limit from then on. The queue calls this only while a call waits, one at a time. May return a
   * promise. If it throws or rejects, the error goes to the next waiting call.
   */
  reserve(now: number): Permit | number | Promise<Permit | number>
  /** Called if the service answered 429. Nothing is started before `until`. */
  throttled(now: number, until: number): void
  /** Returns the state for metrics. A shared limiter returns the last state that it has read. */
  inspect(now: number): LimiterState
  /**
   * Returns the time at which `check` is to be called, not before `now`; undefined for never. Called after each write
   * and each check. If `check` is called late, the event loop was late by as much.
   */
  checkAt?(now: number): number | undefined
  check?(now: number): void
  /**
   * Returns why no permit is given at present, for a reason other than the limit; undefined if there is none. It
   * becomes the cause of calls that time out in the queue.
   */
  obstacle?(): Error | undefined
}

/** A limiter that depends on nothing outside this process, so that it always gives permits within the limit. */
export type LocalLimiter = Required<Omit<Limiter, 'obstacle'>>

export interface LimiterState {
  /** Number of requests that may start now. */
  readonly tokens: number
  /** Number of requests that may start in a window. */
  readonly rate: number
  /** Milliseconds from writing a request until it is regarded as counted. Infinity: only responses prove it. */
  readonly countedWithinMs?: number | undefined
}

/** The right to send one request. Its holder must report the request's course. Repeated reports count once. */
export interface Permit {
  /**
   * Called right before the request is written. Returns true if the permit is still valid. Otherwise nothing is
   * written, and the call waits for another permit. Absent if permits do not expire, as within one process.
   */
  mayWrite?(): boolean
  /**
   * Reports that the request's bytes were sent on an open connection. The server may count the request from now on.
   * @param fresh true for the first request on its connection, which the server may have to accept first.
   */
  written(now: number, fresh?: boolean): void
  /**
   * Reports the response. It proves that the server has counted the request, even if that was never reported as
   * written.
   */
  answered(now: number): void
  /**
   * Reports that no response will come. A request that was never written costs nothing. A written request may still be
   * counted, even later.
   */
  release(now: number): void
}
