import type { Coordinates } from '@muster/core'
import type { Assignment, StopReason } from './assignment.js'
import type { Deploy } from './deploy.js'
import type { Player } from './player.js'
import { matchTag } from './tags.js'

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

/**
 * The state of a match's allocation:
 * - `creating`: the create waits for its turn, or for the answer;
 * - `finding`: the answer to the create was lost; the deployment, if it exists, is searched for by its tag;
 * - `retrying`: there was no capacity; anything that was created in spite of that is stopped before another place is
 *   tried;
 * - `starting`: the deployment exists and is not READY yet;
 * - `warming`: the deployment is READY; the matchmaker waits or probes until its server listens;
 * - `running`: players were sent to the server;
 * - `stopping`: the deployment is being stopped, until the service confirms the stop.
 */
export type AllocationPhase = 'creating' | 'finding' | 'retrying' | 'starting' | 'warming' | 'running' | 'stopping'

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

/** A deployment that may exist. The intent is stored before the request, since it costs money from then on. */
export interface Intent {
  readonly matchId: string
  readonly queue: string
  /** The tag that this deployment has, and no other. */
  readonly tag: string
  readonly ticketIds: readonly string[]
  /** Ids of the players who are to play on the server. */
  readonly playerIds?: readonly string[] | undefined
  /** Epoch milliseconds. */
  readonly at: number
  /** Of a server of a pool: the name of the pool. It has no tickets; matches are served on it. */
  readonly pool?: string | undefined
  /** Of a server of a pool: the application and version that it runs, as `application/version`. */
  readonly build?: string | undefined
  /** Of a server of a pool: the name of the source that it comes from; undefined: the deployment service. */
  readonly source?: string | undefined
  /** Of a server that Muster has not started. */
  readonly enrolled?: Enrolled | undefined
}

/** How a server came that Muster has not started. */
export interface Enrolled {
  /** Id of its key: see `EnrolmentDefinition`. */
  readonly key: string
  /** The machine and the slot, as it says. */
  readonly name: string
  /** The build of the game, as it says. */
  readonly build?: string | undefined
}

/** Name of the source of servers that Muster has not started. */
export const ENROLLED = 'enrolled'

/** What a later process needs to go on with a match, besides its tickets. Not for logs: it holds latencies. */
export interface Resumption {
  /** See `Order`. */
  readonly expansionMs: number
  /** See `Allocation`. */
  readonly tries: readonly PlacementAttempt[]
  readonly placements: readonly Placement[] | undefined
  /** See `Allocation`. */
  readonly near?: Coordinates | undefined
  /** The names of the teams. Undefined in stores of earlier versions. */
  readonly teams?: readonly string[] | undefined
  /** The index in `teams` for each ticket, in the order of `ticketIds`; undefined: all are in the only one. */
  readonly teamOf?: readonly number[] | undefined
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

const NO_TRIES: Allocation['tries'] = []
const NOBODY_CHARGED: readonly string[] = []
const NOBODY_LEFT: Allocation['left'] = []
export const NOBODY: Allocation['ended'] = []

/**
 * The allocator's record of a match, from the intent until the server is gone. Only the allocator changes it. There is
 * one for each match, and most wait for their turn to be created. So values derived from the order are computed on
 * first use.
 */
export class Allocation {
  readonly matchId: string
  readonly queue: string
  /** Epoch milliseconds. */
  readonly at: number
  /** Of a server of a pool: the name of the pool. */
  readonly pool: string | undefined
  /** See `Intent`. */
  readonly build: string | undefined
  /** See `Intent`. */
  readonly source: string | undefined
  /** See `Intent`. */
  readonly enrolled: Enrolled | undefined
  /** The server of a pool that serves the match, or is to; undefined for one with a deployment of its own. */
  host: Allocation | undefined = undefined
  /** Of a server of a pool: the matches that it serves or is to serve, in the order in which they came. */
  guests: Set<Allocation> | undefined = undefined
  /** Of a server of a pool: how many matches it was given so far. */
  matchesServed = 0
  /** Of a server of a pool: the players who caused it, and were charged for it; undefined: nobody yet. */
  causedBy: readonly string[] | undefined = undefined
  /** Of a server of a pool: the coordinates near which it was asked for, beside those of `tries`. */
  near: Coordinates | undefined = undefined
  /** Of a server of a pool: whether the service has been asked where it runs. Of a list entry it is not known. */
  isLocated = false
  /** When a match took its host (epoch milliseconds), and whether that ran already. Not stored. */
  claim: { readonly at: number; readonly isWarm: boolean } | undefined = undefined
  /** Whether an operator has asked that this server takes no match any more. */
  drainAsked = false
  /** Of a match: who played and left before its end, oldest first. */
  left: readonly PlayerWhoLeft[] = NOBODY_LEFT
  /** Whether the server lists itself for players, by its last report; after a restart, by that of before. */
  isListed = false
  /** The order of the match; undefined for a match of an earlier process that cannot be resumed. */
  readonly order: Order | undefined
  /** The attempts so far. */
  tries: readonly PlacementAttempt[] = NO_TRIES
  /** See `Order`; undefined until `Order.placements` has answered. */
  placements: readonly Placement[] | undefined = undefined
  phase: AllocationPhase = 'creating'
  requestId: string | undefined = undefined
  /** The time at which the `requestId` became known, in epoch milliseconds. */
  knownAt: number
  /** A time before which the deployment did not start, in epoch milliseconds. */
  startedAfter: number
  /** Whether its server was counted against what its players may cost. */
  charged = false
  /** Epoch milliseconds since when the server listens; Infinity before. Players are told once that is stored. */
  listensAt = Infinity
  /** Milliseconds from the deployment's start, as the service counts, after which it is stopped; Infinity: never. */
  lastsMs = Infinity
  /** The time at which `lastsMs` is over, in epoch milliseconds; Infinity while unknown: see `EndTimes`. */
  endsAt = Infinity
  /**
   * The time by which one of its players must have come, in epoch milliseconds; Infinity if nobody needs to, and once
   * somebody has. It is not stored: a match of an earlier process counts as one to which somebody came.
   */
  joinBy = Infinity
  assignment: Assignment | undefined = undefined
  /** Whether the server has registered as ready for players. */
  registered = false
  /** Why the server is no longer wanted; its tickets have left the match by then. Undefined while it is wanted. */
  unwanted: StopReason | undefined = undefined
  /** Ids of further deployments with the same tag, which are being stopped. Rare. */
  twins: Set<string> | undefined = undefined
  /** Callbacks for when the server is gone, or, with an error, when that can no longer be found out. */
  ended: readonly ((error?: Error) => void)[] = NOBODY
  /** Undefined: as they follow from the order. */
  #tag: string | undefined
  readonly #ticketIds: readonly string[] | undefined
  #playerIds: readonly string[] | undefined

  constructor(
    { matchId, queue, at, tag, ticketIds, playerIds, pool, build, source, enrolled }: FoundBy & Partial<Intent>,
    order: Order | undefined,
  ) {
    this.matchId = matchId
    this.queue = queue
    this.at = at
    this.order = order
    this.knownAt = at
    this.startedAfter = at
    this.pool = pool
    this.build = build
    this.source = source
    this.enrolled = enrolled
    // It costs nothing, so nobody is charged for it.
    if (enrolled !== undefined) this.causedBy = NOBODY_CHARGED
    this.#tag = tag
    this.#ticketIds = ticketIds
    this.#playerIds = playerIds
  }

  /** The tag of the current attempt. */
  get tag(): string {
    return this.#tag ?? matchTag(this.matchId)
  }
  set tag(tag: string) {
    this.#tag = tag
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
}

/** Most of those who left a match that are remembered (our choice): the latest ones. */
export const MOST_LEFT = 1000

/** Those who left a match, once its players are others. @param gone players who leave now, at an epoch millisecond */
export function leftAfter(
  before: readonly PlayerWhoLeft[],
  {
    playerIds,
    gone,
    at,
  }: { readonly playerIds: readonly string[]; readonly gone: readonly string[]; readonly at: number },
): readonly PlayerWhoLeft[] {
  if (gone.length === 0 && before.length === 0) return before
  const present = new Set([...playerIds, ...gone])
  const others = before.filter(({ playerId }) => !present.has(playerId))
  return [...others, ...gone.map((playerId) => ({ playerId, at }))].slice(-MOST_LEFT)
}

/** Undefined for a match whose order is not known. */
export const resumptionOf = ({ order, ticketIds, tries, placements, near }: Allocation): Resumption | undefined =>
  order && {
    expansionMs: order.expansionMs,
    tries,
    placements,
    ...(near !== undefined && { near }),
    teams: order.teams.map(({ name }) => name),
    teamOf: teamsIn(order, ticketIds),
  }

function teamsIn({ tickets, teams, teamOf }: Order, ticketIds: readonly string[]): readonly number[] | undefined {
  if (teams.length === 1) return undefined
  // Tickets that have joined or left since the intent are at other places.
  const teamsById = new Map(tickets.map(({ id }, index) => [id, teamOf[index] ?? 0]))
  return ticketIds.map((id) => teamsById.get(id) ?? 0)
}

/** A read-only view of a match and its deployment, for other modules. */
export interface AllocationView extends Intent {
  readonly playerIds: readonly string[]
  readonly phase: AllocationPhase
  /**
   * Why the server is not wanted any more. Its tickets have left the match by then, and its players may be in another.
   * Undefined while it is wanted.
   */
  readonly stopReason?: StopReason | undefined
  readonly requestId: string | undefined
  readonly assignment: Assignment | undefined
  /** Of a match that is served on a server of a pool, and has no deployment of its own. */
  readonly hosted?: HostedView | undefined
  /** By the match's latency rule; undefined without one, or for a deployment of an earlier process. Not for players. */
  readonly placement?: Placement | undefined
}

interface HostedView {
  /** Id of the server; undefined while one is looked for. */
  readonly serverId: string | undefined
  /** Whether it ran already when the match took it; undefined for a match of an earlier process. */
  readonly warm: boolean | undefined
}

export const placementOf = ({ tries }: Allocation): Placement | undefined => tries.at(-1)?.placement

export const viewOf = (allocation: Allocation): AllocationView => ({
  matchId: allocation.matchId,
  queue: allocation.queue,
  tag: allocation.tag,
  ticketIds: allocation.ticketIds,
  playerIds: allocation.playerIds,
  at: allocation.at,
  phase: allocation.phase,
  ...(allocation.unwanted !== undefined && { stopReason: allocation.unwanted }),
  requestId: allocation.requestId,
  assignment: allocation.assignment,
  ...(allocation.pool !== undefined && { pool: allocation.pool }),
  ...(isHosted(allocation) && {
    hosted: { serverId: allocation.host?.matchId, warm: allocation.claim?.isWarm },
  }),
  placement: placementOf(allocation),
})

/** A match that needs a server. `queue`: the queue's name; `at`: epoch milliseconds. */
export type FoundBy = Pick<Allocation, 'matchId' | 'queue' | 'at'>

/** Whether a match is served on a server of a pool, and has no deployment of its own. */
export const isHosted = ({ order, host }: Allocation): boolean => order?.pool !== undefined || host !== undefined

/** The record of a match that was found just now. */
export const newAllocation = (match: FoundBy, order: Order): Allocation => new Allocation(match, order)

/** What a server runs, as `application/version`. */
export const buildOf = ({ application, version }: Pick<Deploy, 'application' | 'version'>): string =>
  `${application}/${version}`

/**
 * The record of a server of a pool that is to be created.
 * @param server `queue` is the name of the pool, for views and events
 */
export const newPoolServer = ({ source, ...server }: FoundBy & Pick<Intent, 'source'>, order: Order): Allocation => {
  const build = buildOf(order.deploy)
  return new Allocation({ ...server, ticketIds: [], playerIds: [], pool: server.queue, build, source }, order)
}

/** The record of a server that has come by itself. @param server `queue` is the name of the pool */
export const newEnrolledServer = (server: FoundBy & { readonly enrolled: Enrolled }, order: Order): Allocation => {
  const { queue: pool, enrolled } = server
  const parts = { ticketIds: [], playerIds: [], pool, build: enrolled.build, source: ENROLLED }
  return new Allocation({ ...server, ...parts }, order)
}

/** Whether Muster has not started this server. */
export const isEnrolled = ({ source }: Pick<Allocation, 'source'>): boolean => source === ENROLLED

/** The record of a match of which an earlier process wrote down the intent. */
export const inheritedAllocation = (intent: Intent, order?: Order): Allocation =>
  new Allocation({ ...intent, playerIds: intent.playerIds ?? [] }, order)

/** The entry that precedes the create. */
export const intentEntry = (allocation: Allocation) => {
  const { matchId, queue, tag, ticketIds, playerIds, at, pool, build, source, enrolled } = allocation
  return {
    kind: 'intent' as const,
    matchId,
    queue,
    tag,
    ticketIds,
    playerIds,
    at,
    ...(pool === undefined ? {} : { pool, build }),
    ...(source === undefined ? {} : { source }),
    ...(enrolled === undefined ? {} : { enrolled }),
  }
}

/** The entry of who is in a match, and who left it. */
export const playersEntry = ({ matchId, playerIds, left }: Allocation) => ({
  kind: 'players' as const,
  matchId,
  playerIds,
  ...(left.length > 0 && { left }),
})
