/**
 * Keeps a documented rate limit: a queue acquires a permit before each start. The default is the token bucket of
 * `createBucket`, for one process. A limiter shared by many processes, e.g. `createRedisLimits` of `@muster/redis`, is
 * another implementation of this interface.
 *
 * All times are epoch milliseconds of the calling scheduler's clock.
 */
export interface Limiter {
  /**
   * Acquires one start: returns a permit, or the time (later than `now`) at which to retry. A permit is taken from that
   * moment on. The queue calls this only while a call waits, one at a time. May resolve later; if it throws or rejects,
   * the error goes to the call that was next.
   */
  reserve(now: number): Permit | number | Promise<Permit | number>
  /** The service answered 429, and nothing will be started before `until`. */
  throttled(now: number, until: number): void
  /** The state for metrics; of a shared limiter, the last known one. */
  inspect(now: number): LimiterState
  /**
   * When `check` wants to be called, not before `now`; undefined for never. Asked after each writing and each check.
   * How late the call then is tells how late the event loop is.
   */
  checkAt?(now: number): number | undefined
  check?(now: number): void
  /** Why no permit is given at present, other than the limit itself: the cause of calls that time out in the queue. */
  obstacle?(): Error | undefined
}

/** A limiter that needs nothing but itself, so that nothing keeps it from giving permits. */
export type LocalLimiter = Required<Omit<Limiter, 'obstacle'>>

export interface LimiterState {
  /** Number of starts that are free. */
  readonly tokens: number
  /** Number of starts that may happen in a window. */
  readonly rate: number
  /** Milliseconds from writing until a request is taken as counted. Infinity: only answers prove a count. */
  readonly countedWithinMs?: number | undefined
}

/** The right to send one request, and the duty to report its course. Reporting twice counts once. */
export interface Permit {
  /**
   * Asked at the last moment before the request is written: whether the permit still holds. If not, nothing is written,
   * and the call waits for another permit. Absent where permits hold for ever, as within one process.
   */
  mayWrite?(): boolean
  /**
   * The request's bytes have left on an open connection, so the server may count it from now on.
   * @param fresh the first on its connection: the server may have to accept that first.
   */
  written(now: number, fresh?: boolean): void
  /** The server answered, so it has counted the request by now, even when nobody said that it was written. */
  answered(now: number): void
  /** No answer will come. A request that was never written costs nothing; one that was may be counted, even later. */
  release(now: number): void
}
