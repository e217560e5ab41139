import type { Coordinates } from '@muster/core'
import type { Assignment, StopReason } from './assignment.js'
import {
  buildOf,
  ENROLLED,
  type Enrolled,
  type MatchIntent,
  type Order,
  type Placement,
  type PlacementAttempt,
  type PlayerWhoLeft,
  type ServerIntent,
} from './order.js'
import { credentialOf, matchTag } from './tags.js'

/**
 * The state of a server:
 * - `creating`: the create waits for its turn, or for the answer;
 * - `finding`: the answer to the create was lost; the deployment, if it exists, is searched for by its tag;
 * - `retrying`: there was no capacity; anything that was created in spite of that is stopped before another place is
 *   tried;
 * - `starting`: the deployment exists and is not READY yet;
 * - `warming`: the deployment is READY; the matchmaker waits or probes until its server listens;
 * - `running`: it listens, and players may be sent to it;
 * - `stopping`: the deployment is being stopped, until the service confirms the stop.
 */
export type ServerPhase = 'creating' | 'finding' | 'retrying' | 'starting' | 'warming' | 'running' | 'stopping'

const NO_TRIES: Server['tries'] = []
const NOBODY_CHARGED: readonly string[] = []

type ServerParts = Pick<ServerIntent, 'serverId' | 'queue' | 'at'> & Partial<ServerIntent>

/**
 * A server, from the intent to have one until it is gone: one of a pool, or one for a single match. Only the allocator
 * changes it.
 */
export class Server {
  /** That of its match, if it is for one alone. */
  readonly id: string
  /** Name of its pool, or of the queue of its only match. */
  readonly queue: string
  /** Epoch milliseconds. */
  readonly at: number
  /** Name of its pool; undefined for a server that serves one match alone. */
  readonly pool: string | undefined
  /** See `ServerIntent`. */
  readonly build: string | undefined
  readonly source: string | undefined
  readonly enrolled: Enrolled | undefined
  /** What to create; undefined for a server of an earlier process of which nothing more can be created. */
  readonly order: Order | undefined
  /** The only match that it serves: its environment names the players. It lasts as long as the server. */
  readonly bornFor: HostedMatch | undefined
  /** The matches that it serves or is to serve, in the order in which they came. */
  readonly guests = new Set<HostedMatch>()
  /** How many matches it was given so far. */
  matchesServed = 0
  /** The players who caused it, and were charged for it; undefined: nobody yet. */
  causedBy: readonly string[] | undefined = undefined
  /** The coordinates near which it was asked for, beside those of `tries`. */
  near: Coordinates | undefined = undefined
  /** Whether the service has been asked where it runs. Of a list entry it is not known. */
  isLocated = false
  /** Whether an operator has asked that it takes no match any more. */
  drainAsked = false
  /** Whether it lists itself for players, by its last report; after a restart, by that of before. */
  isListed = false
  /** The attempts so far. */
  tries: readonly PlacementAttempt[] = NO_TRIES
  /** See `Order`; undefined until `Order.placements` has answered. */
  placements: readonly Placement[] | undefined = undefined
  phase: ServerPhase = 'creating'
  requestId: string | undefined = undefined
  /** The time at which the `requestId` became known, in epoch milliseconds. */
  knownAt: number
  /** A time before which the deployment did not start, in epoch milliseconds. */
  startedAfter: number
  /** Whether it was counted against what its players may cost. */
  charged = false
  /** Epoch milliseconds since when it listens; Infinity before. It is `running` once that is stored. */
  listensAt = Infinity
  /** Milliseconds from the deployment's start, as the service counts, after which it is stopped; Infinity: never. */
  lastsMs = Infinity
  /** The time at which `lastsMs` is over, in epoch milliseconds; Infinity while unknown: see `EndTimes`. */
  endsAt = Infinity
  assignment: Assignment | undefined = undefined
  /** Whether it has registered as ready for players. */
  registered = false
  /** Why it is no longer wanted. Undefined while it is wanted. */
  unwanted: StopReason | undefined = undefined
  /** Ids of further deployments with the same tag, which are being stopped. Rare. */
  twins: Set<string> | undefined = undefined
  /** Undefined: that of the first attempt. */
  #tag: string | undefined

  constructor(
    { serverId, queue, at, tag, pool, build, source, enrolled }: ServerParts,
    order: Order | undefined,
    bornFor?: HostedMatch,
  ) {
    this.id = serverId
    this.queue = queue
    this.at = at
    this.order = order
    this.bornFor = bornFor
    this.knownAt = at
    this.startedAfter = at
    this.pool = pool
    this.build = build
    this.source = source
    this.enrolled = enrolled
    this.#tag = tag
    // It costs nothing, so nobody is charged for it.
    if (enrolled !== undefined) this.causedBy = NOBODY_CHARGED
    if (bornFor !== undefined) {
      bornFor.server = this
      this.guests.add(bornFor)
    }
  }

  /** The tag of the current attempt. */
  get tag(): string {
    return this.#tag ?? matchTag(this.id)
  }
  set tag(tag: string) {
    this.#tag = tag
  }

  /** What its source calls it before it exists, and what its token is derived from. Each attempt has another. */
  get credential(): string {
    return credentialOf(this.tag)
  }

  /** It is not wanted any more, nor is the match for which alone it was created. The first reason stays. */
  unwant(reason: StopReason): void {
    this.unwanted ??= reason
    if (this.bornFor !== undefined) this.bornFor.unwanted ??= reason
  }
}

const NOBODY_LEFT: HostedMatch['left'] = []
export const NOBODY: HostedMatch['ended'] = []

/**
 * A match that needs a server, or has one: its own, or one of a pool that may serve others too. Only the allocator
 * changes it. There may be many that wait, so values derived from the order are computed on first use.
 */
export class HostedMatch {
  readonly id: string
  /** Name of the queue. */
  readonly queue: string
  /** Epoch milliseconds. */
  readonly at: number
  /** Undefined for a match of an earlier process that cannot be resumed. */
  readonly order: Order | undefined
  /** The server that serves it, or is to; undefined while one is looked for. */
  server: Server | undefined = undefined
  /** When it took a server of a pool (epoch milliseconds), and whether that ran already. Not stored. */
  claim: { readonly at: number; readonly isWarm: boolean } | undefined = undefined
  /** Who played and left before its end, oldest first. */
  left: readonly PlayerWhoLeft[] = NOBODY_LEFT
  /** Epoch milliseconds since when its players may connect; Infinity before. They are told once that is stored. */
  readyAt = Infinity
  /** The time at which it has lasted too long, in epoch milliseconds; Infinity: never, or with its own server. */
  endsAt = Infinity
  /**
   * The time by which one of its players must have come, in epoch milliseconds; Infinity if nobody needs to, and once
   * somebody has. It is not stored: a match of an earlier process counts as one to which somebody came.
   */
  joinBy = Infinity
  /** Why it is over; its tickets have left it by then. Undefined while it is wanted. */
  unwanted: StopReason | undefined = undefined
  /** Whether the store was told that it is over. */
  isClosed = false
  /** Callbacks for when its server is gone or free of it, or, with an error, when that can no longer be found out. */
  ended: readonly ((error?: Error) => void)[] = NOBODY
  /** On a server of a pool: what its players are told. */
  #place: { readonly host: Server; readonly requestId: string; readonly assignment: Assignment } | undefined
  #phase: ServerPhase = 'creating'
  /** Undefined: as they follow from the order. */
  readonly #ticketIds: readonly string[] | undefined
  #playerIds: readonly string[] | undefined

  constructor({ matchId, queue, at, ticketIds, playerIds }: FoundBy & Partial<MatchIntent>, order: Order | undefined) {
    this.id = matchId
    this.queue = queue
    this.at = at
    this.order = order
    this.#ticketIds = ticketIds
    this.#playerIds = playerIds
  }

  get ticketIds(): readonly string[] {
    return this.#ticketIds ?? this.order?.tickets.map(({ id }) => id) ?? []
  }

  get playerIds(): readonly string[] {
    return this.#playerIds ?? this.order?.tickets.flatMap(({ players }) => players.map(({ id }) => id)) ?? []
  }
  set playerIds(playerIds: readonly string[]) {
    this.#playerIds = playerIds
  }

  /** The server that was created for it alone; undefined where it is one of a pool, or none yet. */
  get ownServer(): Server | undefined {
    return this.server?.bornFor === this ? this.server : undefined
  }

  /** That of its own server; on one of a pool `creating`, then `warming` until it is stored, then `running`. */
  get phase(): ServerPhase {
    return this.ownServer?.phase ?? this.#phase
  }
  set phase(phase: ServerPhase) {
    this.#phase = phase
  }

  /** Whether its players were sent to its server, or are once that is stored. */
  get isPlaced(): boolean {
    return this.#phase !== 'creating'
  }
  /** Whether its players were sent to its server. */
  get hasBegun(): boolean {
    return this.#phase === 'running'
  }

  /** Where its players connect, and on which deployment; undefined before that is known. */
  get requestId(): string | undefined {
    return (this.ownServer ?? this.#place)?.requestId
  }
  get assignment(): Assignment | undefined {
    return (this.ownServer ?? this.#place)?.assignment
  }
  /** Its server, also after the match has left it; undefined before it has one, or if that was gone at a restart. */
  get host(): Server | undefined {
    return this.server ?? this.#place?.host
  }
  /** Its server of a pool is ready for it. */
  placeAt(host: Server, requestId: string, assignment: Assignment): void {
    this.#place = { host, requestId, assignment }
  }
}

/** A match that needs a server. `queue`: the queue's name; `at`: epoch milliseconds. */
export type FoundBy = Pick<MatchIntent, 'matchId' | 'queue' | 'at'>

/** A match of which an earlier process wrote down the intent. */
export const inheritedMatch = (intent: MatchIntent, order?: Order): HostedMatch => new HostedMatch(intent, order)

/** A server that is to be created for a match alone. */
export const newServerFor = (match: HostedMatch, order: Order): Server =>
  new Server({ serverId: match.id, queue: match.queue, at: match.at }, order, match)

/** What names a new server of a pool. `at`: epoch milliseconds. */
interface NewServer {
  readonly id: string
  readonly pool: string
  readonly at: number
}

/** A server of a pool that is to be created. @param source its name; undefined: the deployment service */
export const newPoolServer = (
  { id, pool, at, source }: NewServer & Pick<ServerIntent, 'source'>,
  order: Order,
): Server => new Server({ serverId: id, queue: pool, at, pool, build: buildOf(order.deploy), source }, order)

/** A server that has come by itself to a pool. */
export const newEnrolledServer = (
  { id, pool, at, enrolled }: NewServer & { readonly enrolled: Enrolled },
  order: Order,
) => new Server({ serverId: id, queue: pool, at, pool, build: enrolled.build, source: ENROLLED, enrolled }, order)

/** Whether Muster has not started this server. */
export const isEnrolled = ({ source }: Pick<Server, 'source'>): boolean => source === ENROLLED

export const placementOf = ({ tries }: Pick<Server, 'tries'>): Placement | undefined => tries.at(-1)?.placement
