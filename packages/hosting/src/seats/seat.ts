import { Conflict, NotFound } from '@muster/core'

/** Why a seat is refused: an error code of the ticket API. */
export type SeatFault =
  | 'server-full'
  | 'server-closed'
  | 'wrong-build'
  | 'no-such-team'
  | 'wrong-password'
  | 'too-many-tries'
  | 'seat-held-elsewhere'
  | 'too-many-servers'
  | 'no-capacity'

/** Thrown if a seat is refused. */
export class SeatRefused extends Conflict {
  readonly code: SeatFault
  /** With `server-full`: ids of up to three servers with enough free seats. */
  readonly alternatives: readonly string[] | undefined
  /** With `seat-held-elsewhere`: the player whose other seat must be given back first. */
  readonly playerId: string | undefined
  readonly seatId: string | undefined
  readonly retryAfterMs: number | undefined

  static {
    this.prototype.name = 'SeatRefused'
  }

  constructor(
    code: SeatFault,
    message: string,
    facts: Partial<Pick<SeatRefused, 'alternatives' | 'playerId' | 'seatId' | 'retryAfterMs'>> = {},
  ) {
    super(message)
    this.code = code
    this.alternatives = facts.alternatives
    this.playerId = facts.playerId
    this.seatId = facts.seatId
    this.retryAfterMs = facts.retryAfterMs
  }
}

/** Thrown if there is no listed game server with this id. */
export class UnknownServer extends NotFound {
  static {
    this.prototype.name = 'UnknownServer'
  }
}

/** Thrown if the seat does not exist or belongs to another player. */
export class UnknownSeat extends NotFound {
  static {
    this.prototype.name = 'UnknownSeat'
  }
}

/** `held`: reserved for a player who has not come yet. `taken`: the player is there. `away`: the player may return. */
export type SeatState = 'held' | 'taken' | 'away'

/** A seat of a player on a listed server. */
export interface Seat {
  readonly id: string
  readonly serverId: string
  /** Id of the listed session, `mid` of the seat's join tokens. */
  readonly session: string
  readonly playerId: string
  /** Name of the team. '' on a server without teams. */
  readonly team: string
  /** Id of the party whose request reserved the seat. */
  readonly groupId: string | undefined
  readonly state: SeatState
  /** Epoch milliseconds at which a held seat expires unless its client reads it again. Undefined in other states. */
  readonly until: number | undefined
}
