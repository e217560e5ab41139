import { Conflict, MusterError } from '@muster/core'
import type { JoinAlgorithm } from './join-tokens.js'

/** Thrown if the server with this token must end, or another process has registered as it. The process may exit. */
export class ServerGone extends MusterError {
  static {
    this.prototype.name = 'ServerGone'
  }
}

/** Thrown if a server reports before it has registered. Muster may have restarted since its registration. */
export class ServerNotRegistered extends Conflict {
  static {
    this.prototype.name = 'ServerNotRegistered'
  }
}

/** A player of a match, as its server sees them: without addresses and latencies. */
export interface RosterPlayer {
  readonly id: string
  /** Id of the player's ticket. Players with the same ticket are a party. */
  readonly ticketId: string
  /** Id of the player's seat, `sid` of their join tokens. Undefined if unknown, e.g. after a restart. */
  readonly seatId?: string | undefined
  readonly attributes?: Readonly<Record<string, unknown>> | undefined
}

/** The players of a match, by team. Teams are in the order of the queue's definition. */
export interface MatchRoster {
  readonly queue: string
  readonly teams: readonly { readonly name: string; readonly players: readonly RosterPlayer[] }[]
  /** The attributes that all players share, by the rules `equal` and `overlap`. */
  readonly equality: Readonly<Record<string, string | number | boolean>>
  readonly intersection: Readonly<Record<string, readonly string[]>>
}

/** What a server should do. The server follows the newest orders and ignores earlier ones. */
export interface ServerOrders {
  /** Version of the orders. It changes with each change of the orders. */
  readonly version: number
  /** `run`: serve matches. `drain`: finish the running matches and take no others. `stop`: end the process. */
  readonly want: 'run' | 'drain' | 'stop'
  readonly reason?: string | undefined
  /** The matches that the server should serve. A match that is no longer in the list is over. */
  readonly matches: readonly (MatchRoster & { readonly id: string })[]
  /** The session that the server lists, and its seats. Undefined if the server is not listed. */
  readonly listing?: ListingOrders | undefined
  /** The session that the server should open and list. Undefined if players have requested none. */
  readonly host?: SessionWanted | undefined
  /**
   * The beginning of a datagram with which Muster tests the server's address. The server must repeat the received
   * datagram in its reports, as `knock`.
   */
  readonly knock?: string | undefined
}

/** The parameters of a wait for changed orders. */
export interface OrdersWait {
  /** Id of the waiting process. Default: the registered one. */
  readonly instance?: string | undefined
  /** Version of the orders that the process already has. */
  readonly version: number
  /** Maximum milliseconds of the wait. */
  readonly waitMs: number
  readonly signal?: AbortSignal | undefined
}

/** The seats of a listed server, for that server. */
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

/** A session that a server should open and list, because players have requested it. */
export interface SessionWanted {
  readonly session: string
  readonly name: string
  readonly password: string | undefined
  readonly owner: string | undefined
  readonly attributes: Readonly<Record<string, string | number | boolean>>
}

/** The response to a registration. */
export interface Registered extends ServerOrders {
  /** Id of the server, `aud` of its join tokens. */
  readonly id: string
  /** How join tokens for this server are signed. */
  readonly alg: JoinAlgorithm
  /**
   * The key that verifies join tokens for this server, in base64url. With `HS256` the key is secret, see `joinKeyOf`.
   */
  readonly key: string
  /** Epoch milliseconds at which Muster stops the server in any case. Undefined while there is no limit. */
  readonly retireAt: number | undefined
}
