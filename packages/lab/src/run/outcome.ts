// pure: the outcome of a run
import type { CancelReason } from '@muster/matchmaker'

/** The outcome of a run. All times are milliseconds from the crowd's start. */
export interface RunOutcome {
  /** The tickets, in order of creation. */
  readonly tickets: readonly TicketOutcome[]
  /** The matches, in the order in which they were found. */
  readonly matches: readonly MatchOutcome[]
  readonly servers: ServerUse
  /** The servers of each pool, by its name. */
  readonly pools: Readonly<Record<string, ServerUse>>
  /** Requests to the service, by operation. */
  readonly requests: Readonly<Record<string, RequestUse>>
  /** Time at which the last ticket had ended and the last server had stopped. */
  readonly endedAt: number
}

export interface TicketOutcome {
  /** Index of the ticket's party in the crowd. */
  readonly party: number
  /** Index of the visit among the party's visits. A visit is one time that the party queues. */
  readonly visit: number
  readonly createdAt: number
  /** `gaveUp`: the party's patience ended. `refused`: no queue accepted the ticket. `waiting`: the run ended first. */
  readonly end: 'assigned' | 'gaveUp' | 'refused' | 'waiting' | Exclude<CancelReason, 'cancelled' | 'refused'>
  readonly endedAt?: number | undefined
  /** Time at which the ticket was matched last. */
  readonly matchedAt?: number | undefined
  /** Index of the match in which the ticket was assigned, and its team in that match. */
  readonly match?: number | undefined
  readonly team?: string | undefined
  /** Why no queue accepted the ticket. */
  readonly refusal?: string | undefined
}

export interface MatchOutcome {
  readonly queue: string
  readonly foundAt: number
  readonly assignedAt: number
  /** Indexes of the match's tickets. */
  readonly tickets: readonly number[]
  /** True if the match found a warm server of its pool; undefined for a match with its own server. */
  readonly isWarm?: boolean | undefined
  /** The teams from the best to the worst, if the match was played. */
  readonly ranking?: readonly string[] | undefined
}

export interface ServerUse {
  readonly created: number
  /** Maximum number of servers at a time. */
  readonly most: number
  /** Total seconds for which servers existed, which are billed. */
  readonly seconds: number
  /** Seconds from create to READY, and seconds without a match. The rest of `seconds` is the time of matches. */
  readonly bootSeconds: number
  readonly idleSeconds: number
}

export interface RequestUse {
  readonly total: number
  /** Maximum number of requests in any window of the operation's documented limit. */
  readonly busiest: number
  /**
   * The documented limit of requests in a window, and the window in milliseconds. Undefined if no limit is documented.
   */
  readonly limit?: number | undefined
  readonly windowMs?: number | undefined
}
