// pure: the outcome of a run
import type { CancelReason } from '@muster/matchmaker'

/** The outcome of a run. All times are milliseconds from the crowd's start. */
export interface RunOutcome {
  /** In order of creation. */
  readonly tickets: readonly TicketOutcome[]
  /** In the order in which they were found. */
  readonly matches: readonly MatchOutcome[]
  readonly servers: ServerUse
  /** The servers of each pool, by its name. */
  readonly pools: Readonly<Record<string, ServerUse>>
  /** Requests to the service, by operation. */
  readonly requests: Readonly<Record<string, RequestUse>>
  /** When the last ticket had ended and the last server had stopped. */
  readonly endedAt: number
}

export interface TicketOutcome {
  /** Index of its party in the crowd. */
  readonly party: number
  /** Index of the visit of that party. */
  readonly visit: number
  readonly createdAt: number
  /** `gaveUp`: its party's patience ended. `refused`: no queue accepted it. `waiting`: the run ended first. */
  readonly end: 'assigned' | 'gaveUp' | 'refused' | 'waiting' | Exclude<CancelReason, 'cancelled' | 'refused'>
  readonly endedAt?: number | undefined
  /** When it was last matched. */
  readonly matchedAt?: number | undefined
  /** Index of the match in which it was assigned, and its team there. */
  readonly match?: number | undefined
  readonly team?: string | undefined
  /** Why it was refused. */
  readonly refusal?: string | undefined
}

export interface MatchOutcome {
  readonly queue: string
  readonly foundAt: number
  readonly assignedAt: number
  /** Indexes of its tickets. */
  readonly tickets: readonly number[]
  /** True if it found a warm server of its pool; undefined for a match with its own server. */
  readonly isWarm?: boolean | undefined
  /** The teams from the best to the worst, if the match was played. */
  readonly ranking?: readonly string[] | undefined
}

export interface ServerUse {
  readonly created: number
  /** Maximum number of servers at a time. */
  readonly most: number
  /** Total seconds of running servers, which is what is paid for. */
  readonly seconds: number
  /** Of these, the seconds from create to READY, and without a match. In all others matches were played. */
  readonly bootSeconds: number
  readonly idleSeconds: number
}

export interface RequestUse {
  readonly total: number
  /** Maximum number in any window of the operation's documented limit. */
  readonly busiest: number
  /** The documented limit in such a window, and its milliseconds. Undefined if no limit is documented. */
  readonly limit?: number | undefined
  readonly windowMs?: number | undefined
}
