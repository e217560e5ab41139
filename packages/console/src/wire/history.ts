// pure: the last hour of each queue
import type { Milliseconds, Moment } from './units.js'

/** Samples at equal steps. Each array has the same length; the last sample is the newest. */
export interface History {
  readonly step: Milliseconds
  /** The end of the first step. */
  readonly from: Moment
  readonly length: number
  readonly queues: readonly QueueHistory[]
  readonly servers: readonly number[]
  /** What is not there, in words: e.g. that the program started ten minutes ago, or that old stories were dropped. */
  readonly missing: readonly string[]
}

export interface QueueHistory {
  readonly name: string
  /** Players who waited at the end of the step. */
  readonly players: readonly number[]
  /** Tickets that arrived, and matches found, during the step. */
  readonly arrivals: readonly number[]
  readonly matches: readonly number[]
  /** Waits of the tickets matched during the step; null if there were none. */
  readonly waitP50: readonly (Milliseconds | null)[]
  readonly waitP95: readonly (Milliseconds | null)[]
}

/** An event `step` of the feed, at the end of each step: one more sample. */
export interface HistoryStep {
  readonly at: Moment
  readonly servers: number
  readonly queues: readonly {
    readonly name: string
    readonly players: number
    readonly arrivals: number
    readonly matches: number
    readonly waitP50: Milliseconds | null
    readonly waitP95: Milliseconds | null
  }[]
}
