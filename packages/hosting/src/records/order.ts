import type { Coordinates } from '@muster/core'
import type { Assignment } from './assignment.js'
import type { Deploy } from './deploy.js'
import type { Player } from './player.js'

/** A found match, with everything needed for its create and its server's environment, including players' addresses. */
export interface FoundMatch extends SharedAttributes {
  readonly id: string
  /** Name of the queue. */
  readonly queue: string
  readonly tickets: readonly FoundTicket[]
  /** Teams with their tickets. Every ticket is in one of them. */
  readonly teams: readonly { readonly name: string; readonly ticketIds: readonly string[] }[]
  /** Epoch milliseconds. */
  readonly foundAt: number
  /** Milliseconds of waiting at which the current limits began. 0 for the strictest limits. */
  readonly expansionMs: number
  /** The location that the queue's rules chose for the server. Undefined: the server is requested near its players. */
  readonly placement?: Placement | undefined
}

/**
 * The location that the rules of a match chose for its server. Only backends see the milliseconds, because they reveal
 * the latencies of single players.
 */
export interface Placement {
  /** Name of the ping beacon at the location. */
  readonly beacon: string
  readonly coordinates: Coordinates
  /** The longest and the average round trip of the players to the beacon, in milliseconds. */
  readonly worstMs: number
  readonly meanMs: number
  /** The rule's limit for every round trip, in milliseconds. Undefined if it sets none or was relaxed. */
  readonly limitMs: number | undefined
}

/** The attributes that all players of a match share, by the rules `equal` and `overlap`. */
export interface SharedAttributes {
  readonly equality: Readonly<Record<string, string | number | boolean>>
  readonly intersection: Readonly<Record<string, readonly string[]>>
}

export interface FoundTicket {
  readonly id: string
  /** Epoch milliseconds. */
  readonly createdAt: number
  readonly players: readonly Player[]
  /** The geographic centre of the ticket's players. Undefined if unknown. */
  readonly place?: Coordinates | undefined
}

/** The data from which a match's request is built, once it is the match's turn. See `foundMatch`. */
export interface Order {
  readonly deploy: Deploy
  readonly tickets: readonly FoundTicket[]
  /** For a server of a pool: the tickets near which it is requested. Default: `tickets`. */
  readonly near?: readonly FoundTicket[] | undefined
  /** The teams of the match. */
  readonly teams: readonly { readonly name: string }[]
  /** The index in `teams` for each ticket. */
  readonly teamOf: readonly number[]
  /** Returns the common attributes. Called when the request is built. */
  inCommon(): SharedAttributes
  /** Milliseconds of waiting at which the current limits began, see `FoundMatch`. */
  readonly expansionMs: number
  /**
   * Returns the locations that the queue's rules choose, best first. An empty list means near the players. Called once,
   * before the first request. Never rejects. Undefined if no rule chooses a location.
   */
  readonly placements?: (() => readonly Placement[] | Promise<readonly Placement[]>) | undefined
  /** Name of the pool whose servers serve the match. Undefined: it gets its own deployment. */
  readonly pool?: string | undefined
}

/** A server that may exist. It is stored before its create is sent, because a created server costs money. */
export interface ServerIntent {
  readonly serverId: string
  /** Name of the server's pool, or of the queue of its only match. */
  readonly queue: string
  /** The unique tag of this deployment. */
  readonly tag: string
  /** Epoch milliseconds. */
  readonly at: number
  /** Name of the server's pool. Undefined for a server that serves only one match. */
  readonly pool?: string | undefined
  /** For a server of a pool: the application and version that it runs, as `application/version`. */
  readonly build?: string | undefined
  /** Name of the server's source. Undefined: the deployment service. */
  readonly source?: string | undefined
  /** Set for a server that Muster has not started. */
  readonly enrolled?: Enrolled | undefined
  /** Id of the only match that the server serves. */
  readonly bornFor?: string | undefined
}

/** A match that needs a server or has one. */
export interface MatchIntent {
  readonly matchId: string
  /** Name of the queue. */
  readonly queue: string
  readonly ticketIds: readonly string[]
  /** Ids of the players of the match. */
  readonly playerIds: readonly string[]
  /** Epoch milliseconds. */
  readonly at: number
  /** Id of the server that was created only for this match. */
  readonly serverId?: string | undefined
}

/** The enrolment of a server that Muster has not started. */
export interface Enrolled {
  /** Id of the key with which the server enrolled: see `EnrolmentDefinition`. */
  readonly key: string
  /** The machine and the slot, as reported. */
  readonly name: string
  /** The build of the game, as reported. */
  readonly build?: string | undefined
  /** Identifies the process, see `ServerKeys`. Undefined in stores of earlier versions: use the server's id there. */
  readonly process?: string | undefined
  /** The reported address for players. Undefined in stores of earlier versions. */
  readonly at?: Assignment | undefined
}

/** Name of the source of servers that Muster has not started. */
export const ENROLLED = 'enrolled'

/** The data that a later process needs to continue a match, in addition to its tickets. */
export interface MatchResumption {
  /** See `Order`. */
  readonly expansionMs: number
  /** The names of the teams. Undefined in stores of earlier versions. */
  readonly teams?: readonly string[] | undefined
  /** The index in `teams` for each ticket, in the order of `ticketIds`. Undefined: all are in the only team. */
  readonly teamOf?: readonly number[] | undefined
}

/** The data that a later process needs to continue the create of a server. Not for logs: it contains latencies. */
export interface ServerResumption {
  /** See `Server`. */
  readonly tries: readonly PlacementAttempt[]
  readonly placements?: readonly Placement[] | undefined
  /** See `Server`. */
  readonly near?: Coordinates | undefined
}

/** The parts of a create that differ between the attempts for one server. */
export interface PlacementAttempt {
  readonly cachedOnly: boolean
  /**
   * The coordinates to request instead of the players' own. A create cannot name a location, but it accepts
   * coordinates.
   */
  readonly at: Coordinates | undefined
  /** The placement by a latency rule from which these coordinates come. */
  readonly placement?: Placement | undefined
}

/** A player who played a match and left it before its end. */
export interface PlayerWhoLeft {
  readonly playerId: string
  /** Epoch milliseconds. */
  readonly at: number
}

/** Returns the build that a server runs, as `application/version`. */
export const buildOf = ({ application, version }: Pick<Deploy, 'application' | 'version'>): string =>
  `${application}/${version}`
