import { Conflict, InvalidInput, MusterError, NotFound } from '@muster/core'
import { didYouMean } from '@muster/core/validation'

/**
 * What the matchmaker throws. Each is also one of core's errors, so that a caller who only wants to know
 * whose fault it is need not know them all: `InvalidInput`, `NotFound` or `Conflict`.
 */

/** A queue that is not as it must be; `field` is its path, e.g. `distance.1.km`. */
export class InvalidQueue extends InvalidInput {
  static {
    this.prototype.name = 'InvalidQueue'
  }
}

/** A ticket that cannot be taken as it is; `field` is its path, e.g. `players.0.id`. */
export class InvalidTicket extends InvalidInput {
  static {
    this.prototype.name = 'InvalidTicket'
  }
}

/** A player of the new ticket is in another one that has not ended. */
export class PlayerBusy extends Conflict {
  /** The player. */
  readonly playerId: string
  /** The ticket that the player is in. */
  readonly ticketId: string

  static {
    this.prototype.name = 'PlayerBusy'
  }

  constructor(playerId: string, ticketId: string) {
    super(`player ${JSON.stringify(playerId)} is in ticket ${ticketId} already`)
    this.playerId = playerId
    this.ticketId = ticketId
  }
}

/** A player of the new ticket plays in a match: it is over for them when `playersLeft`, `stopMatch` or its end says so. */
export class PlayerPlaying extends Conflict {
  /** The player. */
  readonly playerId: string
  /** The ticket by which they came into the match. */
  readonly ticketId: string
  readonly matchId: string

  static {
    this.prototype.name = 'PlayerPlaying'
  }

  constructor(playerId: string, ticketId: string, matchId: string) {
    super(`player ${JSON.stringify(playerId)} plays in match ${matchId}`)
    this.playerId = playerId
    this.ticketId = ticketId
    this.matchId = matchId
  }
}

/** A player has as many matches, or had as many servers, as one may have: see the options of these names. */
export class PlayerOverLimit extends Conflict {
  /** The player. */
  readonly playerId: string
  readonly limit: 'maxMatchesPerPlayer' | 'maxServersPerPlayer'
  /** Milliseconds after which it may go well; undefined when that is not a question of time. */
  readonly retryAfterMs: number | undefined

  static {
    this.prototype.name = 'PlayerOverLimit'
  }

  constructor(playerId: string, limit: PlayerOverLimit['limit'], retryAfterMs?: number) {
    const what = limit === 'maxMatchesPerPlayer' ? 'is in as many matches as a player may be' : 'has had as many servers as a player may in an hour'
    super(`player ${JSON.stringify(playerId)} ${what} (${limit})`)
    this.playerId = playerId
    this.limit = limit
    this.retryAfterMs = retryAfterMs
  }
}

/** It is too late to cancel: the players have been told where to connect. Stop the match instead. */
export class TooLate extends Conflict {
  readonly ticketId: string
  readonly matchId: string

  static {
    this.prototype.name = 'TooLate'
  }

  constructor(ticketId: string, matchId: string) {
    super(`ticket ${ticketId} cannot be cancelled any more: its match ${matchId} has a server`)
    this.ticketId = ticketId
    this.matchId = matchId
  }
}

/** No match waits for the players of this ticket to accept it. */
export class NothingToAccept extends Conflict {
  readonly ticketId: string

  static {
    this.prototype.name = 'NothingToAccept'
  }

  constructor(ticketId: string) {
    super(`there is no match that ticket ${ticketId} could accept or decline`)
    this.ticketId = ticketId
  }
}

/** A backfill that cannot be taken as it is; `field` is its path, e.g. `teams.0.slots`. */
export class InvalidBackfill extends InvalidInput {
  static {
    this.prototype.name = 'InvalidBackfill'
  }
}

/** The match has no server on which people play, or not any more. */
export class NotRunning extends Conflict {
  readonly matchId: string

  static {
    this.prototype.name = 'NotRunning'
  }

  constructor(matchId: string) {
    super(`match ${matchId} is not running`)
    this.matchId = matchId
  }
}

/** The match has a backfill that is open already: change that one. */
export class BackfillExists extends Conflict {
  readonly matchId: string
  /** The open one. */
  readonly backfillId: string

  static {
    this.prototype.name = 'BackfillExists'
  }

  constructor(matchId: string, backfillId: string) {
    super(`match ${matchId} has an open backfill already: ${backfillId}`)
    this.matchId = matchId
    this.backfillId = backfillId
  }
}

/** The backfill has changed since, or is not open any more: read it, and decide anew. */
export class StaleBackfill extends Conflict {
  readonly backfillId: string
  /** The backfill's version now. */
  readonly version: number

  static {
    this.prototype.name = 'StaleBackfill'
  }

  constructor(backfillId: string, version: number) {
    super(`backfill ${backfillId} has changed: its version is ${version} now`)
    this.backfillId = backfillId
    this.version = version
  }
}

/** There is no such backfill, or its match has ended. */
export class UnknownBackfill extends NotFound {
  static {
    this.prototype.name = 'UnknownBackfill'
  }
}

/** There is no such ticket, or it ended and was removed. */
export class UnknownTicket extends NotFound {
  static {
    this.prototype.name = 'UnknownTicket'
  }
}

/** There is no such queue. */
export class UnknownQueue extends NotFound {
  static {
    this.prototype.name = 'UnknownQueue'
  }
}

/** Names the nearest of those that there are. */
export const unknownQueue = (name: string, names: readonly string[]): UnknownQueue =>
  new UnknownQueue(`there is no queue ${JSON.stringify(name)}${didYouMean(name, names)}`)

/** There is no such match, or it has ended and its server is gone. */
export class UnknownMatch extends NotFound {
  static {
    this.prototype.name = 'UnknownMatch'
  }
}

/** The matchmaker was closed. */
export class MatchmakerClosed extends MusterError {
  static {
    this.prototype.name = 'MatchmakerClosed'
  }
}
