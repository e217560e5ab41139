/**
 * Where all processes keep the tokens of one limit: as many as the limit allows, each of them free or out until a time
 * of the store's clock. Times are passed as durations, because no two clocks agree.
 */
export interface TokenStore {
  /**
   * Takes a token, or one that is about to come back. It is out for `holdMs` from then on, unless more is said of it.
   * @param id names the token from now on; never used before.
   */
  take(id: string): Promise<Taken>
  /** The service has counted the requests by now: their tokens come back in a window. */
  counted(ids: readonly string[]): Promise<void>
  /** The requests may not be counted yet: their tokens stay out for `holdMs` from now at least. */
  keep(ids: readonly string[]): Promise<void>
  /** The requests are counted within `settleMs`: their tokens come back a window after that. */
  settle(ids: readonly string[]): Promise<void>
  /** The request is never written. @param dueMs milliseconds until its permit would have been good. */
  unused(id: string, dueMs: number): Promise<void>
  /** The service answered 429: nobody takes a token for `pauseMs`, and all go slower for a while. */
  refused(pauseMs: number): Promise<void>
  /** Something may have been sent that the store does not know of: every token is out for `coldMs`. */
  reset(): Promise<void>
}

export interface Taken {
  /** Whether a token was taken. */
  readonly granted: boolean
  /** Milliseconds until the permit is good; until it makes sense to ask again, if no token was taken. */
  readonly waitMs: number
  /** Tokens that are free now. */
  readonly free: number
  /** Requests that may start in a window now; lower than the limit for a while after a 429. */
  readonly rate: number
}
