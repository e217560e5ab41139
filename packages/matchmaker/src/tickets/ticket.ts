import type { Coordinates } from '@muster/core'
import type { Assignment } from '../allocation/assignment.js'

/** A player who wants to play. At least one of `ip` and `coordinates` is needed, to find a server nearby. */
export interface Player {
  /** Whoever this is to you: 1 to 128 characters. */
  readonly id: string
  /** IPv4 or IPv6. */
  readonly ip?: string | undefined
  /** Degrees. Where both are given, these count. */
  readonly coordinates?: Coordinates | undefined
}

/** What creates a ticket. */
export interface TicketInput {
  /** 1 to 64 of A–Z, a–z, 0–9, _ and -. Creating the same ticket twice is creating it once. Default: a new one. */
  readonly id?: string | undefined
  /** Name of the queue to wait in. */
  readonly queue: string
  /** One player, or a party that stays together. */
  readonly players: readonly Player[]
}

/**
 * SEARCHING, until there are enough others; MATCH_FOUND, while a server is deployed, and back to SEARCHING
 * if that fails; HOST_ASSIGNED or CANCELLED at the end.
 */
export type TicketStatus = 'SEARCHING' | 'MATCH_FOUND' | 'HOST_ASSIGNED' | 'CANCELLED'

/**
 * What a searching ticket lacks: its `location`, while it is looked up; other `players`; a `retry`, shortly
 * after a deployment failed; or `servers`, when its match is found but no more servers may be deployed now.
 */
export type WaitingFor = 'location' | 'players' | 'retry' | 'servers'

/** Why a ticket was cancelled: by `cancelTicket`; after its queue's `expireAfterMs`; after `maxAttempts`; or by `close`. */
export type CancelReason = 'cancelled' | 'expired' | 'attempts' | 'closed'

/** Why a ticket is searching again although a match was found. Only what was the deployment's own fault counts as an attempt. */
export type ReturnReason =
  /** Another ticket of the match was cancelled. */
  | 'dissolved'
  /** The match was stopped by `stopMatch` before it had a server. */
  | 'stopped'
  /** No server could be allocated. An attempt. */
  | 'no-capacity'
  /** The service refused the deployment, e.g. because there is no such version. An attempt. */
  | 'refused'
  /** The service could not be asked, or did not want to be: nothing was created. */
  | 'unavailable'
  /** The answer to the create was lost, and there is no such deployment. */
  | 'lost'
  /** The deployment ended in error, or ended before it was ready. An attempt. */
  | 'failed'
  /** The deployment was not ready in time. An attempt. */
  | 'too-slow'

/** A ticket as it is at one moment. It holds no address. Times are epoch milliseconds. */
export interface Ticket {
  readonly id: string
  readonly queue: string
  readonly players: readonly { readonly id: string }[]
  readonly status: TicketStatus
  /** Its waiting time counts from here, whatever happens in between. */
  readonly createdAt: number
  /** While SEARCHING. */
  readonly waitingFor?: WaitingFor | undefined
  /** Deployments that failed so far. */
  readonly attempts: number
  /** From MATCH_FOUND on. */
  readonly matchId?: string | undefined
  readonly matchedAt?: number | undefined
  /** When HOST_ASSIGNED. */
  readonly assignedAt?: number | undefined
  readonly assignment?: Assignment | undefined
  /** When CANCELLED. */
  readonly cancelledAt?: number | undefined
  readonly cancelReason?: CancelReason | undefined
}
