import { Conflict, MusterError } from '@muster/core'
import type { JoinAlgorithm } from './join-tokens.js'

/** The server of this token is not wanted any more, or another instance of it has registered: its process may end. */
export class ServerGone extends MusterError {
  static {
    this.prototype.name = 'ServerGone'
  }
}

/** The server has to register before it reports: Muster may have restarted since it did. */
export class ServerNotRegistered extends Conflict {
  static {
    this.prototype.name = 'ServerNotRegistered'
  }
}

/** A player of a match, for its server. Addresses and latencies are not in it. */
export interface RosterPlayer {
  readonly id: string
  /** Id of the player's ticket; players of one ticket are a party. */
  readonly ticketId: string
  /** Id of their seat: `sid` of the join tokens that are good. Undefined where it is not known, as after a restart. */
  readonly seatId?: string | undefined
  readonly attributes?: Readonly<Record<string, unknown>> | undefined
}

/** Who plays a match. Teams come in the order of the queue's definition. */
export interface MatchRoster {
  readonly queue: string
  readonly teams: readonly { readonly name: string; readonly players: readonly RosterPlayer[] }[]
  /** What the players have in common, by the rules `equal` and `overlap`. */
  readonly equality: Readonly<Record<string, string | number | boolean>>
  readonly intersection: Readonly<Record<string, readonly string[]>>
}

/** What a server is to do, as a level: it follows the newest, whatever came before. */
export interface ServerOrders {
  /** Differs from that of other orders. */
  readonly version: number
  /** `drain`: serve the matches to their end and take no other; `stop`: end the process. */
  readonly want: 'run' | 'drain' | 'stop'
  readonly reason?: string | undefined
  /** The matches that it serves or is to serve. One that is not listed is over. */
  readonly matches: readonly (MatchRoster & { readonly id: string })[]
  /** Who has a seat on it, while it is listed. */
  readonly listing?: ListingOrders | undefined
  /** It is to list itself so, for players who had it started. */
  readonly host?: SessionWanted | undefined
  /** Muster knocks at it, by a datagram that begins so. Its reports are to repeat the whole, as `knock`. */
  readonly knock?: string | undefined
}

/** How a process of a server waits for other orders. */
export interface OrdersWait {
  /** The process that waits. Default: the one that has registered. */
  readonly instance?: string | undefined
  /** Of the orders that it knows. */
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

/** A session that a server is to open and list. */
export interface SessionWanted {
  readonly session: string
  readonly name: string
  readonly password: string | undefined
  readonly owner: string | undefined
  readonly attributes: Readonly<Record<string, string | number | boolean>>
}

/** The answer to a registration. */
export interface Registered extends ServerOrders {
  /** Id of the server, the audience of its join tokens. */
  readonly id: string
  /** How the join tokens for this server are signed. */
  readonly alg: JoinAlgorithm
  /** base64url: the key that checks the join tokens for this server. With `HS256` it is secret: see `joinKeyOf`. */
  readonly key: string
  /** Epoch milliseconds at which it is stopped whatever it does; undefined while nothing bounds its time. */
  readonly retireAt: number | undefined
}
