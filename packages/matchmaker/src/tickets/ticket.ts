import type { Assignment, Player, ReturnReason } from '@muster/hosting/internal'

/** The input of a new ticket. Exactly one of `queue` and `queues` is given. */
export interface TicketInput {
  /** 1 to 64 of A–Z, a–z, 0–9, _ and -. Repeating a create has no effect. Default: a new id. */
  readonly id?: string | undefined
  /** Name of the queue to wait in. */
  readonly queue?: string | undefined
  /** Names of the queues to wait in at the same time, at most 16: the first match in any of them wins. */
  readonly queues?: readonly string[] | undefined
  /** One player, or a party that stays together. */
  readonly players: readonly Player[]
  /**
   * A whole number from −100 to 100; a higher priority is served first. Default 0. Within the search budget, a ticket
   * is never passed over for a match of lower priority and equal size that it could have joined (decision 0030).
   */
  readonly priority?: number | undefined
}

/**
 * SEARCHING: waits for other players. MATCH_FOUND: its match awaits acceptance, or a server. If the match fails, or a
 * restart or takeover cannot continue it, the ticket is SEARCHING again (see `ReturnReason`) or CANCELLED (see
 * `CancelReason`). HOST_ASSIGNED and CANCELLED are final.
 */
export type TicketStatus = 'SEARCHING' | 'MATCH_FOUND' | 'HOST_ASSIGNED' | 'CANCELLED'

/**
 * What a searching ticket waits for. `location`: its location is being looked up. `players`: other players. `retry`: it
 * pauses shortly after a failed deployment. `servers`: its match is found, but no more servers may be deployed.
 * `other-ticket`: another ticket of one of its players has a match, which must end first.
 */
export type WaitingFor = 'location' | 'players' | 'retry' | 'servers' | 'other-ticket'

/**
 * Why a ticket was cancelled. In a private match, the other tickets end for the same reason if it is `expired`,
 * `attempts`, `closed`, `refused` or `handed-over`, otherwise as `dissolved`.
 */
export type CancelReason =
  /** By `cancelTicket`; or by `playersLeft` for one of its players, before they get the server's address. */
  | 'cancelled'
  /** The ticket has waited for the `expireAfterMs` of each of its queues. The time of a restart or takeover counts. */
  | 'expired'
  /** `maxAttempts` attempts to get a server for its matches have failed: see `ReturnReason`. */
  | 'attempts'
  /** `close` ended the matchmaker without leaving the ticket to the next process. */
  | 'closed'
  /** One of its players declined the match. */
  | 'declined'
  /** One of its players did not accept the match in time. */
  | 'not-accepted'
  /**
   * Another ticket of one of its players was assigned to a server, or a restart or takeover found one of its players in
   * a running match. In the second case, its queues do not let players wait while they play.
   */
  | 'elsewhere'
  /** A player's client was away for longer than a queue's `presence` allows. */
  | 'absent'
  /**
   * No queue accepts the ticket: after `reconfigure`, after a restart or takeover with other queues, or once its
   * location was looked up. If several processes share tickets, also a new ticket whose player is over
   * `maxServersPerPlayer`.
   */
  | 'refused'
  /**
   * The ticket's private match ended before it began: another ticket of the match was cancelled, or the match was
   * stopped.
   */
  | 'dissolved'
  /** `exportTickets` with `take` removed the ticket, to continue elsewhere. */
  | 'handed-over'

/** Who has accepted a match so far. */
export interface Acceptance {
  /** Epoch milliseconds by which all players of the ticket must have accepted. */
  readonly until: number
  /** Ids of the ticket's players who have accepted. */
  readonly accepted: readonly string[]
}

/**
 * How the match of an assigned ticket ended. `server-lost`: its server crashed during the match. `nobody-joined`: no
 * player connected within the queue's `joinWithinMs`. `match-over`: every other case, including a stopped match, and a
 * match that a restart or takeover could not continue.
 */
export type MatchEnd = 'match-over' | 'server-lost' | 'nobody-joined'

/** A snapshot of a ticket, without addresses. Times are epoch milliseconds. */
export interface Ticket {
  readonly id: string
  /** 1 at first; raised by 1 with every change of any field below. See `waitForChange`. */
  readonly version: number
  /** The queues that the ticket waits in. */
  readonly queues: readonly string[]
  readonly players: readonly { readonly id: string }[]
  readonly priority: number
  readonly status: TicketStatus
  /** Start of the ticket's waiting time, which never changes. */
  readonly createdAt: number
  /** What the ticket waits for. Set while SEARCHING. */
  readonly waitingFor?: WaitingFor | undefined
  /** Deployments that failed so far. */
  readonly attempts: number
  /** From MATCH_FOUND on: the match, the queue that found it, and the name of the ticket's team. */
  readonly matchId?: string | undefined
  readonly queue?: string | undefined
  readonly team?: string | undefined
  readonly matchedAt?: number | undefined
  /** Id of the private match for which `createMatch` created the ticket. */
  readonly privateMatch?: string | undefined
  /** Who has accepted the match so far. Set while MATCH_FOUND in a queue with acceptance, until all have accepted. */
  readonly acceptance?: Acceptance | undefined
  /** Epoch milliseconds at which the ticket was assigned. Set if HOST_ASSIGNED, like `assignment`. */
  readonly assignedAt?: number | undefined
  readonly assignment?: Assignment | undefined
  /** How and when its match ended; `at` in epoch milliseconds. Set if HOST_ASSIGNED and the match has ended. */
  readonly ended?: { readonly reason: MatchEnd; readonly at: number } | undefined
  /** If HOST_ASSIGNED: its players who have left the match. They get no further join tokens. */
  readonly left?: readonly string[] | undefined
  /** Epoch milliseconds at which the ticket was cancelled. Set if CANCELLED, like `cancelReason`. */
  readonly cancelledAt?: number | undefined
  readonly cancelReason?: CancelReason | undefined
}

/** How far a ticket is followed: until its players have the address, or until their match has ended. */
export type FollowedUntil = 'assigned' | 'match-end'

export interface WaitOptions {
  /** The version of the ticket that you know. */
  readonly version: number
  readonly signal?: AbortSignal | undefined
  /** How far the ticket is followed. Default: `assigned`. */
  readonly until?: FollowedUntil | undefined
}

/** True if the ticket has reached the state up to which it is followed. */
export const isSettled = (ticket: Pick<Ticket, 'status' | 'ended'>, until: FollowedUntil = 'assigned'): boolean =>
  hasEnded(ticket) && (until === 'assigned' || ticket.status === 'CANCELLED' || ticket.ended !== undefined)

/** True if the ticket's wait is over: its players have the address, or it is cancelled. */
export const hasEnded = ({ status }: Pick<Ticket, 'status'>): boolean =>
  status === 'HOST_ASSIGNED' || status === 'CANCELLED'

/** The match that an event is about. Events hold no addresses of players. */
export interface MatchEvent {
  readonly matchId: string
  readonly queue: string
}

/** Events about single tickets. */
export interface TicketEvents {
  ticketCreated: { readonly ticket: Ticket }
  /** A ticket searches again and keeps its waiting time. */
  ticketRequeued: MatchEvent & { readonly ticket: Ticket; readonly reason: ReturnReason }
  cancelled: { readonly ticket: Ticket; readonly reason: Exclude<CancelReason, 'expired'> }
  expired: { readonly ticket: Ticket }
}

/** Emits events about tickets. */
export interface TicketListener {
  emit<Name extends keyof TicketEvents>(name: Name, event: TicketEvents[Name]): void
  /** True if the event has listeners. Otherwise the caller need not build the event's data. */
  hasListeners(name: keyof TicketEvents): boolean
}
