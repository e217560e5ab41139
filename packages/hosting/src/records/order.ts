import type { Coordinates } from '@muster/core'
import type { Assignment } from './assignment.js'
import type { Deploy } from './deploy.js'
import type { Player } from './player.js'

/** A found match, with all that its create and its server's environment need, players' addresses included. */
export interface FoundMatch extends InCommon {
  readonly id: string
  /** Name of the queue. */
  readonly queue: string
  readonly tickets: readonly FoundTicket[]
  /** Teams with their tickets; every ticket is in one of them. */
  readonly teams: readonly { readonly name: string; readonly ticketIds: readonly string[] }[]
  /** Epoch milliseconds. */
  readonly foundAt: number
  /** Milliseconds of waiting at which the limits in force began; 0 for the strictest limits. */
  readonly expansionMs: number
  /** The place that the queue's rules chose for the server; undefined: the server is requested near its players. */
  readonly placement?: Placement | undefined
}

/**
 * The place that the rules of a match chose for its server. Only backends see the milliseconds, because the figures
 * reveal the latencies of single players.
 */
export interface Placement {
  /** Name of the ping beacon there. */
  readonly beacon: string
  readonly coordinates: Coordinates
  /** The longest round trip of any player to the beacon, in milliseconds, and the average round trip. */
  readonly worstMs: number
  readonly meanMs: number
  /** The rule's limit for every round trip, in milliseconds; undefined if it sets none or was relaxed. */
  readonly limitMs: number | undefined
}

/** The attributes that all players of a match have in common, by the rules `equal` and `overlap`. */
export interface InCommon {
  readonly equality: Readonly<Record<string, string | number | boolean>>
  readonly intersection: Readonly<Record<string, readonly string[]>>
}

export interface FoundTicket {
  readonly id: string
  /** Epoch milliseconds. */
  readonly createdAt: number
  readonly players: readonly Player[]
  /** The geographic middle of the ticket's players, if known. */
  readonly place?: Coordinates | undefined
}

/** The data from which a match's request is made once its turn comes; see `foundMatch`. */
export interface Order {
  readonly deploy: Deploy
  readonly tickets: readonly FoundTicket[]
  /** Of a server of a pool: the tickets near which it is wanted. Default: `tickets`. */
  readonly near?: readonly FoundTicket[] | undefined
  /** The teams of the match. */
  readonly teams: readonly { readonly name: string }[]
  /** The index in `teams` for each ticket. */
  readonly teamOf: readonly number[]
  /** Returns the common attributes; called when the request is made. */
  inCommon(): InCommon
  /** Milliseconds of waiting at which the limits in force began; see `FoundMatch`. */
  readonly expansionMs: number
  /**
   * Returns the places that the queue's rules choose, best first; an empty list means near the players. Called once,
   * before the first request. Never rejects. Undefined if no rule chooses a place.
   */
  readonly placements?: (() => readonly Placement[] | Promise<readonly Placement[]>) | undefined
  /** Name of the pool whose servers serve the match; undefined: it gets a deployment of its own. */
  readonly pool?: string | undefined
}

/** A server that may exist. It is stored before its create leaves, since it costs money from then on. */
export interface ServerIntent {
  readonly serverId: string
  /** Name of its pool, or of the queue of its only match. */
  readonly queue: string
  /** The tag that this deployment has, and no other. */
  readonly tag: string
  /** Epoch milliseconds. */
  readonly at: number
  /** Name of its pool; undefined for a server that serves one match alone. */
  readonly pool?: string | undefined
  /** Of a server of a pool: the application and version that it runs, as `application/version`. */
  readonly build?: string | undefined
  /** Name of the source that it comes from; undefined: the deployment service. */
  readonly source?: string | undefined
  /** Of a server that Muster has not started. */
  readonly enrolled?: Enrolled | undefined
  /** Id of the only match that it serves. */
  readonly bornFor?: string | undefined
}

/** A match that needs a server, or has one. */
export interface MatchIntent {
  readonly matchId: string
  /** Name of the queue. */
  readonly queue: string
  readonly ticketIds: readonly string[]
  /** Ids of the players who are to play it. */
  readonly playerIds: readonly string[]
  /** Epoch milliseconds. */
  readonly at: number
  /** The server that was created for it alone. */
  readonly serverId?: string | undefined
}

/** How a server came that Muster has not started. */
export interface Enrolled {
  /** Id of its key: see `EnrolmentDefinition`. */
  readonly key: string
  /** The machine and the slot, as it says. */
  readonly name: string
  /** The build of the game, as it says. */
  readonly build?: string | undefined
  /** Names its process: see `ServerKeys`. Undefined in stores of earlier versions, where the server's id does. */
  readonly process?: string | undefined
  /** Where it says that players connect. Undefined in stores of earlier versions. */
  readonly at?: Assignment | undefined
}

/** Name of the source of servers that Muster has not started. */
export const ENROLLED = 'enrolled'

/** What a later process needs to go on with a match, besides its tickets. */
export interface MatchResumption {
  /** See `Order`. */
  readonly expansionMs: number
  /** The names of the teams. Undefined in stores of earlier versions. */
  readonly teams?: readonly string[] | undefined
  /** The index in `teams` for each ticket, in the order of `ticketIds`; undefined: all are in the only one. */
  readonly teamOf?: readonly number[] | undefined
}

/** What a later process needs to go on with the create of a server. Not for logs: it holds latencies. */
export interface ServerResumption {
  /** See `Server`. */
  readonly tries: readonly PlacementAttempt[]
  readonly placements?: readonly Placement[] | undefined
  /** See `Server`. */
  readonly near?: Coordinates | undefined
}

/** The parts of a create that differ between the attempts for one match. */
export interface PlacementAttempt {
  readonly cachedOnly: boolean
  /** The coordinates to request instead of the players': a create cannot name a place, but it accepts coordinates. */
  readonly at: Coordinates | undefined
  /** The placement by a latency rule that these coordinates come from. */
  readonly placement?: Placement | undefined
}

/** A player who played a match and left it before its end. */
export interface PlayerWhoLeft {
  readonly playerId: string
  /** Epoch milliseconds. */
  readonly at: number
}

/** What a server runs, as `application/version`. */
export const buildOf = ({ application, version }: Pick<Deploy, 'application' | 'version'>): string =>
  `${application}/${version}`
