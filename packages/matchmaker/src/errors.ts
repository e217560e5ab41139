import { Conflict, InvalidInput, NotFound } from '@muster/core'
import { didYouMean, nameErrors } from '@muster/core/internal'

export {
  EnrolmentRefused,
  MatchmakerClosed,
  SeatRefused,
  ServerGone,
  ServerNotRegistered,
  Unavailable,
  UnknownSeat,
  UnknownServer,
} from '@muster/hosting/internal'

/**
 * Errors of the matchmaker. Each extends one of core's errors, `InvalidInput`, `NotFound` or `Conflict`, so that
 * callers can handle a whole kind. Messages are shown to players. What a program can do about an error is in its
 * docstring.
 */

/** The queue's definition is invalid; `field` is the path at fault, e.g. `distance.1.km`. */
export class InvalidQueue extends InvalidInput {}

/** The ticket is invalid or is refused; `field` is the path at fault, e.g. `players.0.id`. */
export class InvalidTicket extends InvalidInput {}

/** A player of the new ticket is in another ticket that has not ended. */
export class PlayerBusy extends Conflict {
  readonly playerId: string
  /** Id of the ticket that the player is in. */
  readonly ticketId: string

  constructor(playerId: string, ticketId: string) {
    super(`Player ${JSON.stringify(playerId)} is already queued in ticket ${ticketId}. Cancel that ticket first.`)
    this.playerId = playerId
    this.ticketId = ticketId
  }
}

/** A player of the new ticket plays in a match until its end; `playersLeft` or `stopMatch` frees them earlier. */
export class PlayerPlaying extends Conflict {
  readonly playerId: string
  /** The ticket by which the player came into the match; undefined if the match began before a restart. */
  readonly ticketId: string | undefined
  readonly matchId: string

  constructor(playerId: string, ticketId: string | undefined, matchId: string) {
    super(`Player ${JSON.stringify(playerId)} is still in match ${matchId}.`)
    this.playerId = playerId
    this.ticketId = ticketId
    this.matchId = matchId
  }
}

/** A player is in as many matches, or has had as many servers, as the option named by `limit` allows. */
export class PlayerOverLimit extends Conflict {
  readonly playerId: string
  readonly limit: 'maxMatchesPerPlayer' | 'maxServersPerPlayer'
  /** Milliseconds until the ticket may be created; undefined if waiting does not help. */
  readonly retryAfterMs: number | undefined

  constructor(playerId: string, limit: PlayerOverLimit['limit'], retryAfterMs?: number) {
    const next =
      retryAfterMs === undefined ? 'Leave or end a match first.' : `Retry in ${Math.ceil(retryAfterMs / 60_000)} min.`
    const what =
      limit === 'maxMatchesPerPlayer'
        ? 'is in as many matches as allowed at a time'
        : 'has had as many servers as allowed in an hour'
    super(`Player ${JSON.stringify(playerId)} ${what}. ${next}`)
    this.playerId = playerId
    this.limit = limit
    this.retryAfterMs = retryAfterMs
  }
}

/**
 * The player is on cooldown in `queue` until `until`, after declining, not accepting or leaving a match; `forgive` ends
 * it earlier.
 * HTTP: 409 `player-cooling-down`.
 */
export class PlayerCoolingDown extends Conflict {
  readonly playerId: string
  /** The queue of the cooldown. */
  readonly queue: string
  /** Epoch milliseconds from which the player may wait. */
  readonly until: number
  /** Milliseconds until `until`. */
  readonly retryAfterMs: number

  /** @param now epoch milliseconds, to compute `retryAfterMs`. */
  constructor(playerId: string, queue: string, until: number, now: number) {
    const retryAfterMs = Math.max(0, Math.ceil(until - now))
    const wait = `${Math.ceil(retryAfterMs / 1000)} s`
    const where = `in queue ${JSON.stringify(queue)}`
    super(`Player ${JSON.stringify(playerId)} is on cooldown ${where} for ${wait}. Retry then.`)
    this.playerId = playerId
    this.queue = queue
    this.until = Math.floor(until)
    this.retryAfterMs = retryAfterMs
  }
}

/** The ticket cannot be cancelled: its players already know where to connect. `playersLeft` or `stopMatch` ends it. */
export class AlreadyAssigned extends Conflict {
  readonly ticketId: string
  readonly matchId: string

  constructor(ticketId: string, matchId: string) {
    super(`Ticket ${ticketId} is already assigned to match ${matchId} and cannot be cancelled.`)
    this.ticketId = ticketId
    this.matchId = matchId
  }
}

/** The ticket has no match that awaits acceptance. */
export class NothingToAccept extends Conflict {
  readonly ticketId: string

  constructor(ticketId: string) {
    super(`Ticket ${ticketId} has no match awaiting acceptance. It may have timed out; read the ticket again.`)
    this.ticketId = ticketId
  }
}

/** The backfill is invalid or is refused; `field` is the path at fault, e.g. `teams.0.slots`. */
export class InvalidBackfill extends InvalidInput {}

/** The private match is invalid or cannot be made; `field` is the path at fault, e.g. `teams.0.players.1.id`. */
export class InvalidMatch extends InvalidInput {}

/** The match has no running server: the server is not ready yet, or the match has ended. */
export class MatchNotRunning extends Conflict {
  readonly matchId: string

  constructor(matchId: string) {
    super(`Match ${matchId} is not running. Its server is not ready yet, or it has ended.`)
    this.matchId = matchId
  }
}

/** The match already has an open backfill. Update that one. */
export class BackfillExists extends Conflict {
  readonly matchId: string
  /** Id of the open backfill. */
  readonly backfillId: string

  constructor(matchId: string, backfillId: string) {
    super(`Match ${matchId} already has open backfill ${backfillId}. Update that backfill instead.`)
    this.matchId = matchId
    this.backfillId = backfillId
  }
}

/** The backfill has changed since it was read, or is no longer open. Read it again and repeat the update. */
export class BackfillVersionConflict extends Conflict {
  readonly backfillId: string
  /** The current version of the backfill. */
  readonly version: number

  constructor(backfillId: string, version: number) {
    super(`Backfill ${backfillId} is at version ${version} now. Read it again and repeat the update.`)
    this.backfillId = backfillId
    this.version = version
  }
}

/** There is no such backfill, or its match has ended. */
export class UnknownBackfill extends NotFound {}

/** There is no such ticket, or it ended and was removed. */
export class UnknownTicket extends NotFound {}

/** There is no such queue. */
export class UnknownQueue extends NotFound {}

/** Makes the error for an unknown queue, which suggests the nearest name. */
export const unknownQueue = (name: string, names: readonly string[]): UnknownQueue =>
  new UnknownQueue(`There is no queue ${JSON.stringify(name)}${didYouMean(name, names) || '.'}`)

/** Makes the error for an unknown pool. */
export const unknownPool = (name: string): NotFound => new NotFound(`There is no pool ${JSON.stringify(name)}.`)

/** There is no such match, or it has ended and its server is gone. */
export class UnknownMatch extends NotFound {}

nameErrors({
  InvalidQueue,
  InvalidTicket,
  PlayerBusy,
  PlayerPlaying,
  PlayerOverLimit,
  PlayerCoolingDown,
  AlreadyAssigned,
  NothingToAccept,
  InvalidBackfill,
  InvalidMatch,
  MatchNotRunning,
  BackfillExists,
  BackfillVersionConflict,
  UnknownBackfill,
  UnknownTicket,
  UnknownQueue,
  UnknownMatch,
})

/** Creates the error of an id that is taken already. Two tickets or matches with one id would lose one of them. */
export const sameIdAgain = (): Error =>
  new Error('option random: drew an id that exists already. It must return other numbers each time.')
