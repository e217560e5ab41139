/**
 * What stands between a queue and a documented limit: who asks it before each start keeps the limit.
 * The default is the bucket of `createBucket`, which serves one process. A limiter shared by many
 * processes (over Redis, say) is another implementation of this interface.
 *
 * All times are epoch milliseconds of the asking scheduler's clock.
 */
export interface Limiter {
  /**
   * Asks for one start: a permit, or the time (later than `now`) at which to ask again. A permit is taken
   * from that moment on; it is asked for only while a call waits, and one at a time. May answer later; if
   * it throws or rejects, the error goes to the call that was next.
   */
  reserve(now: number): Permit | number | Promise<Permit | number>
  /** The service answered 429, and nothing will be started before `until`. */
  throttled(now: number, until: number): void
  /** For metrics: how many starts are free at `now`, and how many may happen in a window. Shared limiters say what they knew last. */
  inspect(now: number): { readonly tokens: number; readonly rate: number }
}

/** The right to send one request, and the duty to say what became of it. What is said twice counts once. */
export interface Permit {
  /** The request was written to the socket, so the server may count it from now on. */
  written(now: number): void
  /** The server answered, so it has counted the request by now, even when nobody said that it was written. */
  answered(now: number): void
  /** No answer will come. A request that was never written costs nothing; one that was may have been counted. */
  release(now: number): void
}
