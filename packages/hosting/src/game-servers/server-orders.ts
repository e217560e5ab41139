import { Conflict, MusterError } from '@muster/core'
import type { JoinAlgorithm } from './join-tokens.js'

/**
 * Thrown if the server of this token is no longer wanted, or another instance of it has registered. The server's
 * process may end.
 */
export class ServerGone extends MusterError {
  static {
    this.prototype.name = 'ServerGone'
  }
}

/** Thrown if the server must register before it reports. Muster may have restarted since its registration. */
export class ServerNotRegistered extends Conflict {
  static {
    this.prototype.name = 'ServerNotRegistered'
  }
}

/** A player of a match, for its server. Contains no addresses and latencies. */
export interface RosterPlayer {
  readonly id: string
  /** Id of the player's ticket. Players of one ticket are a party. */
  readonly ticketId: string
  /** Id of the player's seat: `sid` of valid join tokens. Undefined if unknown, e.g. after a restart. */
  readonly seatId?: string | undefined
  readonly attributes?: Readonly<Record<string, unknown>> | undefined
}

/** The players of a match. Teams are in the order of the queue's definition. */
export interface MatchRoster {
  readonly queue: string
  readonly teams: readonly { readonly name: string; readonly players: readonly RosterPlayer[] }[]
  /** The players' common attributes, from the rules `equal` and `overlap`. */
  readonly equality: Readonly<Record<string, string | number | boolean>>
  readonly intersection: Readonly<Record<string, readonly string[]>>
}

/** The target state of a server. The server follows the newest orders and ignores earlier ones. */
export interface ServerOrders {
  /** Differs between different orders. */
  readonly version: number
  /** `drain`: finish the running matches and take no others. `stop`: end the process. */
  readonly want: 'run' | 'drain' | 'stop'
  readonly reason?: string | undefined
  /** The matches that the server serves or should serve. A match that is missing from the list is over. */
  readonly matches: readonly (MatchRoster & { readonly id: string })[]
  /** The players with a seat on the server. Set only while the server is listed. */
  readonly listing?: ListingOrders | undefined
  /** The session that the server should list, because players have requested it. */
  readonly host?: SessionWanted | undefined
  /**
   * The beginning of the datagram with which Muster tests the server's address. The server must repeat the whole
   * datagram in its reports, as `knock`.
   */
  readonly knock?: string | undefined
}

/** How a server's process waits until its orders change. */
export interface OrdersWait {
  /** The waiting process. Default: the one that has registered. */
  readonly instance?: string | undefined
  /** The version of the orders that the process already knows. */
  readonly version: number
  /** Milliseconds. */
  readonly waitMs: number
  readonly signal?: AbortSignal | undefined
}

/** The seats of a listed server, for the server. */
export interface ListingOrders {
  /** Id of the session: `mid` of the join tokens. */
  readonly session: string
  readonly seats: readonly {
    readonly id: string
    readonly playerId: string
    readonly team: string
    readonly groupId: string | undefined
  }[]
}

/** A session that a server should open and list. */
export interface SessionWanted {
  readonly session: string
  readonly name: string
  readonly password: string | undefined
  readonly owner: string | undefined
  readonly attributes: Readonly<Record<string, string | number | boolean>>
}

/** The response to a registration. */
export interface Registered extends ServerOrders {
  /** Id of the server, the audience of its join tokens. */
  readonly id: string
  /** How the join tokens for this server are signed. */
  readonly alg: JoinAlgorithm
  /**
   * The key that verifies the join tokens for this server, in base64url. With `HS256` it is secret, see `joinKeyOf`.
   */
  readonly key: string
  /** Epoch milliseconds at which the server is stopped in any case. Undefined while its time is not limited. */
  readonly retireAt: number | undefined
}
