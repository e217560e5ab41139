import type { Coordinates } from '@muster/core'
import type { Assignment, DrainReason, StopReason } from './assignment.js'
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
import type { RegisteredServer } from './registered-server.js'
import { credentialOf, matchTag } from './tags.js'

/**
 * The state of a server:
 * - `creating`: the create waits for its turn or for the response; after a restart, a create that was not sent waits
 *   again;
 * - `finding`: the response to the create was lost, or a restart or takeover came before it; the deployment, if it
 *   exists, is searched for by its tag;
 * - `retrying`: there was no capacity; anything that was created in spite of that is stopped before another location is
 *   tried;
 * - `starting`: the deployment exists and is not READY yet;
 * - `warming`: the deployment is READY; the matchmaker waits or probes until its server listens;
 * - `running`: the server listens, and players may be sent to it;
 * - `stopping`: the deployment is being stopped, until the service confirms the stop.
 */
export type ServerPhase = 'creating' | 'finding' | 'retrying' | 'starting' | 'warming' | 'running' | 'stopping'

const NO_TRIES: Server['tries'] = []
const NOBODY_CHARGED: readonly string[] = []

type ServerParts = Pick<ServerIntent, 'serverId' | 'queue' | 'at'> & Partial<ServerIntent>

/**
 * A server, from the intent to create it until it is gone. It belongs to a pool or to a single match. Only the
 * allocator changes it.
 */
export class Server {
  /** The id of its match if the server is only for that match. */
  readonly id: string
  /** Name of the server's pool, or of the queue of its only match. */
  readonly queue: string
  /** Epoch milliseconds. */
  readonly at: number
  /** Name of the server's pool. Undefined for a server that serves only one match. */
  readonly pool: string | undefined
  /** See `ServerIntent`. */
  readonly build: string | undefined
  readonly source: string | undefined
  readonly enrolled: Enrolled | undefined
  /** The order to create the server. Undefined for one of an earlier process for which nothing more can be created. */
  readonly order: Order | undefined
  /** The only match that the server serves. The server's environment contains its players. Both end together. */
  readonly bornFor: HostedMatch | undefined
  /** The matches that the server serves or should serve, in order of arrival. */
  readonly guests = new Set<HostedMatch>()
  /** Number of matches that the server was given so far. */
  matchesServed = 0
  /** The players who are charged for the server. Undefined: nobody yet. */
  chargedPlayers: readonly string[] | undefined = undefined
  /** The coordinates near which the server was requested, in addition to those of `tries`. */
  near: Coordinates | undefined = undefined
  /** True if the service was asked for the server's location. A list of deployments does not contain it. */
  isLocated = false
  /** True if an operator has requested the server's drain. */
  drainAsked = false
  /** True if the server lists itself for players, by its last report. A restart keeps the value. */
  isListed = false
  /** The attempts so far. */
  tries: readonly PlacementAttempt[] = NO_TRIES
  /** See `Order`. Undefined until `Order.placements` has resolved. */
  placements: readonly Placement[] | undefined = undefined
  phase: ServerPhase = 'creating'
  requestId: string | undefined = undefined
  /** The time at which the `requestId` became known, in epoch milliseconds. */
  knownAt: number
  /** Epoch milliseconds before which the deployment did not start. */
  startedAfter: number
  /** True if the server was charged to its players. */
  charged = false
  /** Epoch milliseconds since when the server listens. Infinity before. `phase` is `running` once the store has it. */
  listensAt = Infinity
  /** Maximum duration in milliseconds from the deployment's start, by the service's clock. Infinity: unlimited. */
  lastsMs = Infinity
  /** When `lastsMs` is over, in epoch milliseconds. Infinity while unknown, see `EndTimes`. */
  endsAt = Infinity
  assignment: Assignment | undefined = undefined
  /** True if the server has registered as ready for players. */
  registered = false
  /** The state that the server reports. Undefined: the server has not registered with this process. */
  presence: RegisteredServer | undefined = undefined
  /** Why the server takes no more matches. Only an operator's request is stored, see `drainAsked`. */
  draining: DrainReason | undefined = undefined
  /** Why the server must stop. Undefined while it is wanted. */
  stopReason: StopReason | undefined = undefined
  /** Ids of further deployments with the same tag, which are being stopped. Rare. */
  twins: Set<string> | undefined = undefined
  /** Undefined: the tag of the first attempt. */
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
    // An enrolled server costs nothing, so nobody is charged for it.
    if (enrolled !== undefined) this.chargedPlayers = NOBODY_CHARGED
    if (bornFor !== undefined) {
      bornFor.server = this
      bornFor.isAccepted = true
      bornFor.claim = { at: bornFor.at, isWarm: false }
      this.guests.add(bornFor)
      this.matchesServed = 1
      this.chargedPlayers = bornFor.playerIds
    }
  }

  /** The tag of the current attempt. */
  get tag(): string {
    return this.#tag ?? matchTag(this.id)
  }
  set tag(tag: string) {
    this.#tag = tag
  }

  /** The id of the server for its source. Its token is derived from this id. Each attempt has another one. */
  get credential(): string {
    return credentialOf(this.tag)
  }

  /** True if the server should run and is not being stopped. */
  get isWanted(): boolean {
    return this.stopReason === undefined && this.phase !== 'stopping'
  }

  /** The matches that the server serves or should serve, and that it may already know. */
  get matches(): readonly HostedMatch[] {
    return this.guests.size === 0 ? NO_MATCHES : [...this.guests].filter((match) => match.isOpen && match.isClaimStored)
  }

  /** The match for which alone the server exists, if any. */
  get bound(): readonly HostedMatch[] {
    return this.bornFor === undefined ? NO_MATCHES : [this.bornFor]
  }

  /** Number of matches on the server, including those whose entry is still being written to the store. */
  get claims(): number {
    let count = 0
    for (const match of this.guests) if (match.isOpen) count += 1
    return count
  }

  /** Requests the stop of the server, and of the match that it was created for. The first reason stays. */
  requestStop(reason: StopReason): void {
    this.stopReason ??= reason
    for (const match of this.bound) match.stopReason ??= reason
  }
}

const NO_MATCHES: readonly HostedMatch[] = []
const NOBODY_LEFT: HostedMatch['left'] = []
const NOBODY: readonly ((error?: Error) => void)[] = []

/**
 * A match that needs a server or has one: its own, or one of a pool that may serve others too. Only the allocator
 * changes it. Many may wait, so values derived from the order are computed on first use.
 */
export class HostedMatch {
  readonly id: string
  /** Name of the queue. */
  readonly queue: string
  /** Epoch milliseconds. */
  readonly at: number
  /** Undefined for a match of an earlier process that cannot be resumed. */
  readonly order: Order | undefined
  /** The server that serves the match or should serve it. Undefined while one is looked for. */
  server: Server | undefined = undefined
  /**
   * When the match took its server (epoch milliseconds), and whether that server already ran. Not stored for a server
   * of a pool.
   */
  claim: { readonly at: number; readonly isWarm: boolean } | undefined = undefined
  /** True if the store knows which server the match has taken, so that the server may learn of the match. */
  isClaimStored = true
  /** True if the server has accepted the match's players. A server of only this match accepts them by running. */
  isAccepted = false
  /** Players who left before the match's end, oldest first. */
  left: readonly PlayerWhoLeft[]
  /**
   * Epoch milliseconds since when the match's players may connect. Infinity before. They get the address once that is
   * stored.
   */
  readyAt = Infinity
  /** When the match has lasted too long, in epoch milliseconds. Infinity: never, or when its own server ends. */
  endsAt = Infinity
  /**
   * The time by which one of the match's players must have come, in epoch milliseconds. Infinity if nobody needs to
   * come or somebody has. It is not stored: for a match of an earlier process, somebody counts as having come.
   */
  joinBy = Infinity
  /** Why the match is over. Its tickets have left it by then. Undefined while the match is wanted. */
  stopReason: StopReason | undefined = undefined
  /** True if the match's end was passed to the store. */
  isClosed = false
  /** True if no part of this process knows the match any more. */
  isGone = false
  /** The assignment that the match's players got, or will get once it is stored. */
  #place: { readonly host: Server; readonly requestId: string; readonly assignment: Assignment } | undefined
  #phase: ServerPhase = 'creating'
  /** Undefined: the ids follow from the order. */
  readonly #ticketIds: readonly string[] | undefined
  /** Callbacks that wait for the match's end. */
  #waiters: readonly ((error?: Error) => void)[] = NOBODY
  #playerIds: readonly string[] | undefined

  constructor(
    { matchId, queue, at, ticketIds, playerIds, left = NOBODY_LEFT }: FoundBy & InheritedParts,
    order: Order | undefined,
  ) {
    this.id = matchId
    this.queue = queue
    this.at = at
    this.order = order
    this.#ticketIds = ticketIds
    this.#playerIds = playerIds
    this.left = left
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

  /** The server that was created only for this match. Undefined if there is none, e.g. on a server of a pool. */
  get ownServer(): Server | undefined {
    return this.server?.bornFor === this ? this.server : undefined
  }

  /**
   * The phase of the match's own server. On a server of a pool: `creating`, then `warming` until its start is stored,
   * then `running`.
   */
  get phase(): ServerPhase {
    return this.ownServer?.phase ?? this.#phase
  }
  set phase(phase: ServerPhase) {
    this.#phase = phase
  }

  /** True if the match continues. */
  get isOpen(): boolean {
    return this.stopReason === undefined && !this.isGone
  }

  /** True if the match's players were sent to its server, or will be once that is stored. */
  get isPlaced(): boolean {
    return this.#phase !== 'creating'
  }
  /** True if the match's players were sent to its server. */
  get hasBegun(): boolean {
    return this.#phase === 'running'
  }

  /** The location that the latency rule chose for its own server. Undefined on a server of a pool. */
  get placement(): Placement | undefined {
    return this.ownServer && placementOf(this.ownServer)
  }

  /** Its own server, or the stored address of the pool's server to which its players were sent. */
  get #connection(): Pick<Server, 'requestId' | 'assignment'> | undefined {
    return this.ownServer ?? this.#place
  }
  /** The server's address for players, and its deployment. Undefined until known. */
  get requestId(): string | undefined {
    return this.#connection?.requestId
  }
  get assignment(): Assignment | undefined {
    return this.#connection?.assignment
  }
  /** The match's server, even after the match has left it. Undefined: none yet, or it was gone at a restart. */
  get host(): Server | undefined {
    return this.server ?? this.#place?.host
  }
  /** Called when the match's server is ready for it. */
  placeAt(host: Server, requestId: string, assignment: Assignment): void {
    this.#place = { host, requestId, assignment }
  }

  /** Resolves when the match's server is gone or the match has left it. Rejects if that can no longer be known. */
  whenEnded(): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#waiters = [...this.#waiters, (error) => (error === undefined ? resolve() : reject(error))]
    })
  }
  /** Settles all callers that wait for the match's end. @param error why the end can no longer be known */
  tellEnded(error?: Error): void {
    const waiters = this.#waiters
    this.#waiters = NOBODY
    for (const tell of waiters) tell(error)
  }
}

/** A match that needs a server. `queue`: the queue's name. `at`: epoch milliseconds. */
export type FoundBy = Pick<MatchIntent, 'matchId' | 'queue' | 'at'>

/** The data of a match that an earlier process has stored. */
type InheritedParts = Partial<MatchIntent> & { readonly left?: readonly PlayerWhoLeft[] | undefined }

/** Returns a server that will be created for one match only. */
export const newServerFor = (match: HostedMatch, order: Order): Server =>
  new Server({ serverId: match.id, queue: match.queue, at: match.at }, order, match)

/** Identifies a new server of a pool. `at`: epoch milliseconds. */
interface NewServer {
  readonly id: string
  readonly pool: string
  readonly at: number
}

/** Returns a server of a pool that will be created. @param source its source. Undefined: the deployment service */
export const newPoolServer = (
  { id, pool, at, source }: NewServer & Pick<ServerIntent, 'source'>,
  order: Order,
): Server => new Server({ serverId: id, queue: pool, at, pool, build: buildOf(order.deploy), source }, order)

/** Returns a server that has enrolled itself in a pool. */
export const newEnrolledServer = (
  { id, pool, at, enrolled }: NewServer & { readonly enrolled: Enrolled },
  order: Order,
) => new Server({ serverId: id, queue: pool, at, pool, build: enrolled.build, source: ENROLLED, enrolled }, order)

/** True for a server that Muster has not started. */
export const isEnrolled = ({ source }: Pick<Server, 'source'>): boolean => source === ENROLLED

export const placementOf = ({ tries }: Pick<Server, 'tries'>): Placement | undefined => tries.at(-1)?.placement
