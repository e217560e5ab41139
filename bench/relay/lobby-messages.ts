/** What the process with the lobbies tells, and what both sides have to know. */
export const LOBBIES = 10_000
/** Of each lobby. */
export const MEMBERS = 8
export const JOINS_PER_SECOND = 2000

/** Of one round, in which the last player of every lobby joins. */
export interface JoinRound {
  /** From when a join is due until it is done, so that whatever holds up the lobbies' thread counts. */
  readonly joinMicroseconds: Percentiles
  /** The part of it before the call: the thread was still busy with other calls, with a tick, or collecting garbage. */
  readonly waitMicroseconds: Percentiles
  /** As far as they have been kept up. */
  readonly joinsPerSecond: number
  /** Of the thread's pauses for collecting garbage. */
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
  /** Though there was room. */
  readonly joinsRefused: number
  /** One after the other, as fast as possible. */
  readonly fillPerSecond: number
  /** Of memory in use after a collection, by lobby. */
  readonly bytesEach: number
}
