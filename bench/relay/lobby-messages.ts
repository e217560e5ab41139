/** The messages of the process with the lobbies, and the constants that both processes need. */
export const LOBBIES = 10_000
/** Number of members of each lobby. */
export const MEMBERS = 8
export const JOINS_PER_SECOND = 2000

/** The result of one round, in which the last player of every lobby joins. */
export interface JoinRound {
  /** Microseconds from when a join is due until it is done, so that everything that blocks the thread counts. */
  readonly joinMicroseconds: Percentiles
  /**
   * The part of `joinMicroseconds` before the call, in which the thread was busy with other calls, a tick, or garbage
   * collection.
   */
  readonly waitMicroseconds: Percentiles
  /** Joins per second that were reached. */
  readonly joinsPerSecond: number
  /** Number and duration of the thread's pauses for garbage collection. */
  readonly collections: number
  readonly collectionMs: number
  readonly longestCollectionMs: number
}

export interface Percentiles {
  readonly p50: number
  readonly p99: number
  readonly most: number
}

export interface LobbiesMeasured {
  readonly rounds: readonly JoinRound[]
  /** Number of joins that were refused although there was room. */
  readonly joinsRefused: number
  /** Lobbies that were filled per second, one after another and as fast as possible. */
  readonly fillPerSecond: number
  /** Bytes of used memory after a garbage collection, for each lobby. */
  readonly bytesEach: number
}
