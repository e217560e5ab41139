import type { Assignment, Player, ReturnReason } from '@muster/hosting/internal'

/** What creates a ticket. Exactly one of `queue` and `queues` is given. */
export interface TicketInput {
  /** 1 to 64 of A–Z, a–z, 0–9, _ and -. Creating the same ticket twice is creating it once. Default: a new one. */
  readonly id?: string | undefined
  /** Name of the queue to wait in. */
  readonly queue?: string | undefined
  /** Names of the queues to wait in at once, at most 16: the first match in any of them wins. */
  readonly queues?: readonly string[] | undefined
  /** One player, or a party that stays together. */
  readonly players: readonly Player[]
  /**
   * Higher is served first: a whole number from −100 to 100. Default 0. No ticket waits behind a match that it could
   * have joined in place of one of as many players and a lower priority, as far as a round's tries go (decision 0030).
   */
  readonly priority?: number | undefined
}

/**
 * SEARCHING, until there are enough others; MATCH_FOUND, while its match awaits acceptance and while a server is
 * deployed, and back to SEARCHING if that fails; HOST_ASSIGNED or CANCELLED at the end.
 */
export type TicketStatus = 'SEARCHING' | 'MATCH_FOUND' | 'HOST_ASSIGNED' | 'CANCELLED'

/**
 * What a searching ticket lacks: its `location`, while it is looked up; other `players`; a `retry`, shortly
 * after a deployment failed; `servers`, when its match is found but no more servers may be deployed now; or
 * the end of an `other-ticket` of one of its players, for which a match is found.
 */
export type WaitingFor = 'location' | 'players' | 'retry' | 'servers' | 'other-ticket'

/** Why a ticket was cancelled. */
export type CancelReason =
  /** By `cancelTicket`. */
  | 'cancelled'
  /** It waited for the `expireAfterMs` of its queues. */
  | 'expired'
  /** After `maxAttempts` failed deployments. */
  | 'attempts'
  /** By `close`. */
  | 'closed'
  /** A player of it declined the match. */
  | 'declined'
  /** A player of it did not accept the match in time. */
  | 'not-accepted'
  /** A player of it plays, by another ticket. */
  | 'elsewhere'
  /** The client of a player was away for longer than `presence` of a queue permits. */
  | 'absent'
  /**
   * The queues as they are since `reconfigure` do not take it; or, where several processes share tickets, one of its
   * players is over `maxServersPerPlayer`.
   */
  | 'refused'
  /** Its private match came to nothing, because another of its tickets was cancelled, or by `stopMatch`. */
  | 'dissolved'
  /** It was taken out by `exportTickets`, to continue elsewhere. */
  | 'handed-over'

/** Who has accepted a match so far. */
export interface Acceptance {
  /** Epoch milliseconds by which all players of the ticket must have accepted. */
  readonly until: number
  /** Those of the ticket's players who have. */
  readonly accepted: readonly string[]
}

/**
 * How the match of an assigned ticket came to its end: `server-lost` if its server crashed under its players,
 * `nobody-joined` if none of them came within the `joinWithinMs` of the queue.
 */
export type MatchEnd = 'match-over' | 'server-lost' | 'nobody-joined'

/** A snapshot of a ticket. It holds no address. Times are epoch milliseconds. */
export interface Ticket {
  readonly id: string
  /** Grows by 1 with every change of anything below; 1 at first. See `waitForChange`. */
  readonly version: number
  /** The queues it waits in. */
  readonly queues: readonly string[]
  readonly players: readonly { readonly id: string }[]
  readonly priority: number
  readonly status: TicketStatus
  /** Its waiting time counts from here, whatever happens in between. */
  readonly createdAt: number
  /** While SEARCHING. */
  readonly waitingFor?: WaitingFor | undefined
  /** Deployments that failed so far. */
  readonly attempts: number
  /** From MATCH_FOUND on: the match, the one of its queues that found it, and the name of the ticket's team. */
  readonly matchId?: string | undefined
  readonly queue?: string | undefined
  readonly team?: string | undefined
  readonly matchedAt?: number | undefined
  /** Id of the private match that it was created for, by `createMatch`. */
  readonly privateMatch?: string | undefined
  /** While MATCH_FOUND in a queue with acceptance, until the match is accepted by all. */
  readonly acceptance?: Acceptance | undefined
  /** When HOST_ASSIGNED. */
  readonly assignedAt?: number | undefined
  readonly assignment?: Assignment | undefined
  /** When HOST_ASSIGNED and its match has ended; `at` in epoch milliseconds. */
  readonly ended?: { readonly reason: MatchEnd; readonly at: number } | undefined
  /** When HOST_ASSIGNED: those of its players who have left the match. They get no join tokens any more. */
  readonly left?: readonly string[] | undefined
  /** When CANCELLED. */
  readonly cancelledAt?: number | undefined
  readonly cancelReason?: CancelReason | undefined
}

/** How far a ticket is followed: until its players know where to connect, or until their match has ended. */
export type FollowedUntil = 'assigned' | 'match-end'

export interface WaitOptions {
  /** The version of the ticket that you know. */
  readonly version: number
  readonly signal?: AbortSignal | undefined
  /** How far the ticket is followed. Default: `assigned`. */
  readonly until?: FollowedUntil | undefined
}

/** Whether nothing more happens to the ticket that its follower waits for. */
export const isSettled = (ticket: Pick<Ticket, 'status' | 'ended'>, until: FollowedUntil = 'assigned'): boolean =>
  hasEnded(ticket) && (until === 'assigned' || ticket.status === 'CANCELLED' || ticket.ended !== undefined)

/** Whether its wait is over: its players know where to connect, or it is cancelled. */
export const hasEnded = ({ status }: Pick<Ticket, 'status'>): boolean =>
  status === 'HOST_ASSIGNED' || status === 'CANCELLED'

/** The match that an event is about. No event holds a player's address. */
export interface MatchEvent {
  readonly matchId: string
  readonly queue: string
}

/** Events about single tickets. */
export interface TicketEvents {
  ticketCreated: { readonly ticket: Ticket }
  /** A ticket searches again, with its waiting time kept. */
  ticketRequeued: MatchEvent & { readonly ticket: Ticket; readonly reason: ReturnReason }
  cancelled: { readonly ticket: Ticket; readonly reason: Exclude<CancelReason, 'expired'> }
  expired: { readonly ticket: Ticket }
}

/** Emits events about tickets. */
export interface TicketListener {
  emit<Name extends keyof TicketEvents>(name: Name, event: TicketEvents[Name]): void
  /** Whether the event has listeners. Without any, the event's data need not be made. */
  isHeard(name: keyof TicketEvents): boolean
}
