import type { Coordinates } from '@muster/core'
import type { Assignment } from './assignment.js'
import type { Deploy } from './deploy.js'
import type { Player } from './player.js'

/** A found match, with everything that its server's create and environment need, including players' addresses. */
export interface FoundMatch extends SharedAttributes {
  readonly id: string
  /** Name of the queue. */
  readonly queue: string
  readonly tickets: readonly FoundTicket[]
  /** The teams with the ids of their tickets. Every ticket is in one team. */
  readonly teams: readonly { readonly name: string; readonly ticketIds: readonly string[] }[]
  /** When the match was found, in epoch milliseconds. */
  readonly foundAt: number
  /** Waiting time in milliseconds from which the rules' current limits apply. 0 if no rule was relaxed. */
  readonly expansionMs: number
  /** The location that the queue's rules chose for the server. Undefined: near the players. */
  readonly placement?: Placement | undefined
}

/** A location that a match's rules chose. Only backends may see its milliseconds, which reveal players' latencies. */
export interface Placement {
  /** Name of the ping beacon at the location. */
  readonly beacon: string
  readonly coordinates: Coordinates
  /** The longest and the average round trip of the players to the beacon, in milliseconds. */
  readonly worstMs: number
  readonly meanMs: number
  /** The limit of the rule for each round trip, in milliseconds. Undefined if the rule sets no limit or was dropped. */
  readonly limitMs: number | undefined
}

/** The attributes that all players of a match share, by the rules `equal` and `overlap`. */
export interface SharedAttributes {
  readonly equality: Readonly<Record<string, string | number | boolean>>
  readonly intersection: Readonly<Record<string, readonly string[]>>
}

export interface FoundTicket {
  readonly id: string
  /** When the ticket was created, in epoch milliseconds. */
  readonly createdAt: number
  readonly players: readonly Player[]
  /** The geographic centre of the ticket's players. Undefined if unknown. */
  readonly place?: Coordinates | undefined
}

/**
 * The data from which a server's create is built. It is kept small, because many creates may wait. See `foundMatch`.
 */
export interface Order {
  readonly deploy: Deploy
  readonly tickets: readonly FoundTicket[]
  /** For a server of a pool: the tickets near whose players it is created. Default: `tickets`. */
  readonly near?: readonly FoundTicket[] | undefined
  /** The teams of the match. */
  readonly teams: readonly { readonly name: string }[]
  /** Index in `teams` of each ticket's team. */
  readonly teamOf: readonly number[]
  /** Returns the attributes that all players share. Called when the create is built. */
  inCommon(): SharedAttributes
  /** Waiting time in milliseconds from which the rules' current limits apply. */
  readonly expansionMs: number
  /**
   * Returns the locations that the queue's rules choose, the best first. Empty: near the players. Never rejects.
   * Undefined if no rule chooses locations.
   */
  readonly placements?: (() => readonly Placement[] | Promise<readonly Placement[]>) | undefined
  /** Name of the pool whose servers serve the match. Undefined if the match gets its own server. */
  readonly pool?: string | undefined
}

/** A server that is going to be created. It is stored before its create is sent, because it will cost money. */
export interface ServerIntent {
  readonly serverId: string
  /** Name of the server's pool, or of the queue of its only match. */
  readonly queue: string
  /** The unique tag of the attempt's deployment. */
  readonly tag: string
  /** When the server was ordered, in epoch milliseconds. */
  readonly at: number
  /** Name of the server's pool. Undefined for a server of a single match. */
  readonly pool?: string | undefined
  /** For a server of a pool: the application and version that it runs, as `application/version`. */
  readonly build?: string | undefined
  /** Name of the server's source. Undefined: the deployment service. */
  readonly source?: string | undefined
  /** The server's enrolment. Set only for a server that Muster has not started. */
  readonly enrolled?: Enrolled | undefined
  /** Id of the match for which alone the server is created. */
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
  /** When the match was found, in epoch milliseconds. */
  readonly at: number
  /** Id of the server that is created for this match alone. */
  readonly serverId?: string | undefined
}

/** The enrolment of a server that Muster has not started. */
export interface Enrolled {
  /** Id of the key with which the server enrolled, see `EnrolmentDefinition`. */
  readonly key: string
  /** The reported name: the machine and the slot on it. */
  readonly name: string
  /** The reported build of the game. */
  readonly build?: string | undefined
  /** Id of the process, see `ServerKeys.processOf`. Undefined in stores of earlier versions: use the server's id. */
  readonly process?: string | undefined
  /** The reported address for players. In stores of earlier versions undefined. */
  readonly at?: Assignment | undefined
}

/** Name of the source to which all enrolled servers belong. */
export const ENROLLED = 'enrolled'

/** The data with which a match is continued after a restart, in addition to its tickets. */
export interface MatchResumption {
  /** Waiting time in milliseconds from which the rules' current limits apply. */
  readonly expansionMs: number
  /** Names of the teams. In stores of earlier versions undefined. */
  readonly teams?: readonly string[] | undefined
  /** Index of each ticket's team, in the order of `ticketIds`. Undefined if there is only one team. */
  readonly teamOf?: readonly number[] | undefined
}

/**
 * The data with which a server's create is continued after a restart. It contains latencies, so it must not be logged.
 */
export interface ServerResumption {
  /** The attempts so far. */
  readonly tries: readonly PlacementAttempt[]
  readonly placements?: readonly Placement[] | undefined
  /** Coordinates near which the server is requested, if `tries` has none. */
  readonly near?: Coordinates | undefined
}

/** What differs between the attempts for one server. */
export interface PlacementAttempt {
  readonly cachedOnly: boolean
  /** The requested coordinates, because a create cannot name a location. Undefined: those of the players. */
  readonly at: Coordinates | undefined
  /** The placement to which these coordinates belong. */
  readonly placement?: Placement | undefined
}

/** A player who left a match before its end. */
export interface PlayerWhoLeft {
  readonly playerId: string
  /** When the player left, in epoch milliseconds. */
  readonly at: number
}

/** Returns the build of a server, as `application/version`. */
export const buildOf = ({ application, version }: Pick<Deploy, 'application' | 'version'>): string =>
  `${application}/${version}`
