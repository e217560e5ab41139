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
import { credentialOf, serverTag } from './tags.js'

/**
 * The state of a server:
 * - `creating`: the create was not sent yet, or was not answered yet;
 * - `finding`: the response to the create was lost, also by a restart or takeover; the deployment, if it exists, is
 *   searched for by its tag;
 * - `retrying`: there was no capacity; a deployment that was created anyway is stopped before another location is
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
 * A server of a pool or of one match, from the decision to create it until it is gone. Only the allocator changes it.
 */
export class Server {
  /** Id of the server. A server of a single match has the match's id. */
  readonly id: string
  /** Name of the server's pool, or of the queue of its single match. */
  readonly queue: string
  /** When the server was ordered, in epoch milliseconds. */
  readonly at: number
  /** Name of the server's pool. Undefined for a server of a single match. */
  readonly pool: string | undefined
  /** Build and source, see `ServerIntent`. */
  readonly build: string | undefined
  readonly source: string | undefined
  readonly enrolled: Enrolled | undefined
  /** How the server is created. Undefined after a restart if the server must not be created again. */
  readonly order: Order | undefined
  /** The match for which alone the server was created. Its environment contains the players, and both end together. */
  readonly bornFor: HostedMatch | undefined
  /** The matches that the server serves or should serve, in order of arrival. */
  readonly guests = new Set<HostedMatch>()
  /** Number of matches that the server has been given so far. */
  matchesServed = 0
  /** The players who are charged for the server. Undefined while nobody is. */
  chargedPlayers: readonly string[] | undefined = undefined
  /** Coordinates near which the server is requested, if `tries` has none. */
  near: Coordinates | undefined = undefined
  /** True if the server's location was read. The service's list does not contain it. */
  isLocated = false
  /** True if an operator drains the server. */
  drainAsked = false
  /** True if the server's last report lists a session for players. The value survives restarts. */
  isListed = false
  /** The attempts to create the server, including the current one. */
  tries: readonly PlacementAttempt[] = NO_TRIES
  /** The locations that the match's rules have chosen. Undefined until `Order.placements` has resolved. */
  placements: readonly Placement[] | undefined = undefined
  phase: ServerPhase = 'creating'
  requestId: string | undefined = undefined
  /** Epoch milliseconds at which this process learned the `requestId`. */
  knownAt: number
  /** Epoch milliseconds. The deployment did not start earlier. */
  startedAfter: number
  /** True if players were charged for the server, or nobody has to be. */
  charged = false
  /** Epoch milliseconds since when the server listens. Infinity before. Once that is stored, the phase is `running`. */
  listensAt = Infinity
  /** Maximum milliseconds of the server since its start, by the service's clock. Infinity if unlimited. */
  lastsMs = Infinity
  /** Epoch milliseconds at which `lastsMs` is over. Infinity while unknown, see `EndTimes`. */
  endsAt = Infinity
  assignment: Assignment | undefined = undefined
  /** True if the server has reported by registration that players may come. */
  registered = false
  /** The state of a registered server. Undefined until the server has registered with this process. */
  presence: RegisteredServer | undefined = undefined
  /** Why the server gets no further matches. Undefined while it may. Only an operator's drain survives restarts. */
  draining: DrainReason | undefined = undefined
  /** Why the server must end. Undefined while it is wanted. */
  stopReason: StopReason | undefined = undefined
  /** Ids of further deployments that the same create made. They are being stopped. */
  twins: Set<string> | undefined = undefined
  /** The tag of the current attempt. Undefined if it is that of a first attempt. */
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

  get tag(): string {
    return this.#tag ?? serverTag(this.id)
  }
  set tag(tag: string) {
    this.#tag = tag
  }

  /** The server's id at its source, from which its token is derived. Each attempt has its own. */
  get credential(): string {
    return credentialOf(this.tag)
  }

  /** True if the server has no reason to end and is not being stopped. */
  get isWanted(): boolean {
    return this.stopReason === undefined && this.phase !== 'stopping'
  }

  /** True if the server's end depends on its age, which this process has not read yet. */
  get isAgeUnknown(): boolean {
    return this.lastsMs < Infinity && this.endsAt === Infinity
  }

  /** The matches that the server should serve and may know, because their claims are stored. */
  get matches(): readonly HostedMatch[] {
    return this.guests.size === 0 ? NO_MATCHES : [...this.guests].filter((match) => match.isOpen && match.isClaimStored)
  }

  /** The match for which alone the server was created, as a list that is empty for a server of a pool. */
  get bound(): readonly HostedMatch[] {
    return this.bornFor === undefined ? NO_MATCHES : [this.bornFor]
  }

  /** Number of matches on the server, including those whose claim is not stored yet. */
  get claims(): number {
    let count = 0
    for (const match of this.guests) if (match.isOpen) count += 1
    return count
  }

  /** Records that the server must end, and its single match too. The first reason stays. */
  requestStop(reason: StopReason): void {
    this.stopReason ??= reason
    for (const match of this.bound) match.stopReason ??= reason
  }
}

const NO_MATCHES: readonly HostedMatch[] = []
const NOBODY_LEFT: HostedMatch['left'] = []
const NOBODY: readonly ((error?: Error) => void)[] = []

/**
 * A match that needs or has a server. Only the allocator changes it. Many matches may wait, so some values are
 * computed only on use, to save memory.
 */
export class HostedMatch {
  readonly id: string
  readonly queue: string
  /** When the match was found, in epoch milliseconds. */
  readonly at: number
  /** How the match's server is created. Undefined if the match cannot be continued after a restart. */
  readonly order: Order | undefined
  /** The server that serves the match or should serve it. Undefined while the match waits for one. */
  server: Server | undefined = undefined
  /**
   * When the match claimed its server, in epoch milliseconds, and whether the server ran already. Lost at a restart.
   */
  claim: { readonly at: number; readonly isWarm: boolean } | undefined = undefined
  /** True if the store has the match's claim. Before that, the server must not learn of the match. */
  isClaimStored = true
  /** True if the server has accepted the match. A server of a single match accepts it by running. */
  isAccepted = false
  /** Players who left before the match's end, oldest first. */
  left: readonly PlayerWhoLeft[]
  /** Epoch milliseconds since when the match is ready, or Infinity. The players get the address once that is stored. */
  readyAt = Infinity
  /** Epoch milliseconds at which the match has lasted too long. Infinity if the match has no own limit. */
  endsAt = Infinity
  /**
   * Epoch milliseconds by which one of the match's players must have come. Infinity if nobody must come or somebody
   * has. After a restart, somebody counts as having come.
   */
  joinBy = Infinity
  /** Why the match is over. Its tickets have left the match by then. Undefined while the match continues. */
  stopReason: StopReason | undefined = undefined
  /** True if the entry of the match's end was passed to the store. */
  isClosed = false
  /** True if the match was removed from this process. */
  isGone = false
  /** The server and the address to which the players were sent, or will be once that is stored. */
  #place: { readonly host: Server; readonly requestId: string; readonly assignment: Assignment } | undefined
  #phase: ServerPhase = 'creating'
  /** Ids of the tickets. Undefined if `order` contains them. */
  readonly #ticketIds: readonly string[] | undefined
  /** Callbacks that wait until the match has ended. */
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

  /** The server that was created for this match alone. Undefined on a server of a pool. */
  get ownServer(): Server | undefined {
    return this.server?.bornFor === this ? this.server : undefined
  }

  /**
   * The phase of the match's own server. On a server of a pool: `creating`, then `warming`, and once stored `running`.
   */
  get phase(): ServerPhase {
    return this.ownServer?.phase ?? this.#phase
  }
  set phase(phase: ServerPhase) {
    this.#phase = phase
  }

  get isOpen(): boolean {
    return this.stopReason === undefined && !this.isGone
  }

  /** True if the players were sent to the server, or will be once that is stored. */
  get isPlaced(): boolean {
    return this.#phase !== 'creating'
  }
  /** True if the players were sent to the server. */
  get hasBegun(): boolean {
    return this.#phase === 'running'
  }

  /** The location that a latency rule chose for the match's own server. Undefined on a server of a pool. */
  get placement(): Placement | undefined {
    return this.ownServer && placementOf(this.ownServer)
  }

  /** The match's own server, or the address to which the players were sent. */
  get #connection(): Pick<Server, 'requestId' | 'assignment'> | undefined {
    return this.ownServer ?? this.#place
  }
  /** The deployment to which the players were sent or will be sent. Undefined while unknown. */
  get requestId(): string | undefined {
    return this.#connection?.requestId
  }
  get assignment(): Assignment | undefined {
    return this.#connection?.assignment
  }
  /** The match's server, even after the match has left it. Undefined if it had none since the last restart. */
  get host(): Server | undefined {
    return this.server ?? this.#place?.host
  }
  /** Records the server to which the match's players are sent. */
  placeAt(host: Server, requestId: string, assignment: Assignment): void {
    this.#place = { host, requestId, assignment }
  }

  /** Resolves when the match has ended. Rejects if the matchmaker is closed before. */
  whenEnded(): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#waiters = [...this.#waiters, (error) => (error === undefined ? resolve() : reject(error))]
    })
  }
  /** Settles all promises of `whenEnded`. @param error why the end will never be known */
  tellEnded(error?: Error): void {
    const waiters = this.#waiters
    this.#waiters = NOBODY
    for (const tell of waiters) tell(error)
  }
}

/** A found match. `at`: epoch milliseconds. */
export type FoundBy = Pick<MatchIntent, 'matchId' | 'queue' | 'at'>

/** The stored data of a match from before a restart. */
type InheritedParts = Partial<MatchIntent> & { readonly left?: readonly PlayerWhoLeft[] | undefined }

/** Returns a server that is going to be created for a single match. */
export const newServerFor = (match: HostedMatch, order: Order): Server =>
  new Server({ serverId: match.id, queue: match.queue, at: match.at }, order, match)

/** The identity of a new server of a pool. `at`: epoch milliseconds. */
interface NewServer {
  readonly id: string
  readonly pool: string
  readonly at: number
}

/**
 * Returns a server of a pool that is going to be created. @param source its source. Undefined: the deployment service
 */
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
