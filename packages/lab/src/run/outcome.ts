// pure: what happened in a run
import type { CancelReason } from '@muster/matchmaker'

/** What happened in a run. All times are milliseconds from the crowd's start. */
export interface RunOutcome {
  /** In the order in which the tickets were created. */
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
  /** `gaveUp`: its party's patience ended. `refused`: no queue took it. `waiting`: the run ended first. */
  readonly end: 'assigned' | 'gaveUp' | 'refused' | 'waiting' | Exclude<CancelReason, 'cancelled' | 'refused'>
  readonly endedAt?: number | undefined
  /** When it was matched for the last time. */
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
  /** Indexes of its tickets among all. */
  readonly tickets: readonly number[]
  /** Whether it found a warm server of its pool; undefined for a match with a server of its own. */
  readonly isWarm?: boolean | undefined
  /** The teams from the best to the worst, if the match was played. */
  readonly ranking?: readonly string[] | undefined
}

export interface ServerUse {
  readonly created: number
  /** The most that ran at once. */
  readonly most: number
  /** Seconds for which servers ran, all together: what is paid for. */
  readonly seconds: number
  /** Of these, from create to READY, and while they ran without a match. In all others matches were played. */
  readonly bootSeconds: number
  readonly idleSeconds: number
}

export interface RequestUse {
  readonly total: number
  /** The most in any window of the operation's documented limit. */
  readonly busiest: number
  /** What the service allows in such a window, and its milliseconds. None if no limit is documented. */
  readonly limit?: number | undefined
  readonly windowMs?: number | undefined
}
