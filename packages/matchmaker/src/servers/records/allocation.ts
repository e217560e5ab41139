import type { Coordinates } from '@muster/core'
import type { StopReason } from './reasons.js'
import type { Player } from '../../player.js'
import type { Assignment } from './assignment.js'
import type { Deploy } from './deploy.js'

/** A found match: what its server is asked for, and told. Plain data, including addresses. */
export interface FoundMatch extends InCommon {
  readonly id: string
  /** Name of the queue. */
  readonly queue: string
  readonly tickets: readonly FoundTicket[]
  /** Teams with their tickets; every ticket is in one of them. */
  readonly teams: readonly { readonly name: string; readonly ticketIds: readonly string[] }[]
  /** Epoch milliseconds. */
  readonly foundAt: number
  /** Milliseconds of waiting at which the limits began that were in force; 0 for the strictest. */
  readonly expansionMs: number
  /** Where its server is asked for by its rules; undefined: near its players. */
  readonly placement?: Placement | undefined
}

/**
 * A place for a server that the rules of its match chose. Only backends are told the milliseconds: they tell of single
 * players.
 */
export interface Placement {
  /** Name of the ping beacon there. */
  readonly beacon: string
  readonly coordinates: Coordinates
  /** Milliseconds: of all players the longest round trip to it, and the average. */
  readonly worstMs: number
  readonly meanMs: number
  /** What no player's round trip to it exceeds, by the rule; undefined if it sets no limit, or has given way. */
  readonly limitMs: number | undefined
}

/** What all players of a match have in common, by attribute of the rules `equal` and `overlap`. */
export interface InCommon {
  readonly equality: Readonly<Record<string, string | number | boolean>>
  readonly intersection: Readonly<Record<string, readonly string[]>>
}

export interface FoundTicket {
  readonly id: string
  /** Epoch milliseconds. */
  readonly createdAt: number
  readonly players: readonly Player[]
  /** The middle of the ticket's players, if known. */
  readonly place?: Coordinates | undefined
}

/**
 * Where the allocation of a match stands:
 * - `creating`: the create waits for its turn, or for its answer;
 * - `finding`: the answer was lost, and the deployment, if there is one, is looked for by its tag;
 * - `retrying`: there was no capacity; what was created in spite of it is being stopped, then another place is tried;
 * - `starting`: it exists, and is not READY yet;
 * - `warming`: it is READY, and is given time, or asked, until it listens;
 * - `running`: players were sent to it;
 * - `stopping`: it is to be stopped, until the service confirms it.
 */
export type AllocationPhase = 'creating' | 'finding' | 'retrying' | 'starting' | 'warming' | 'running' | 'stopping'

/** What a match of this process asks for. The request is made from it when its turn comes: see `foundMatch`. */
export interface Order {
  readonly deploy: Deploy
  readonly tickets: readonly FoundTicket[]
  /** Deployment settings of the queue. */
  readonly teams: readonly { readonly name: string }[]
  /** The index of its team for each ticket. */
  readonly teamOf: readonly number[]
  /** Asked when its request is made. */
  readonly inCommon: () => InCommon
  /** See `FoundMatch`. */
  readonly expansionMs: number
  /**
   * Places that its rules choose, the best first; none: near its players. Asked once, before its first request. Never
   * rejects. Undefined for a match whose rules choose none.
   */
  readonly placements?: (() => readonly Placement[] | Promise<readonly Placement[]>) | undefined
  /**
   * Only the service and the server are told: the end of its webhooks' path, and what it registers with. Undefined
   * until its request is made.
   */
  secret: string | undefined
}

/** A deployment that may exist: in the journal before it is asked for, because it costs money from then on. */
export interface Intent {
  readonly matchId: string
  readonly queue: string
  /** The tag of this deployment and of no other. */
  readonly tag: string
  readonly ticketIds: readonly string[]
  /** Ids of the players who are to play on it. */
  readonly playerIds?: readonly string[] | undefined
  /** Epoch milliseconds. */
  readonly at: number
}

/** What a create asks for. */
export interface PlacementAttempt {
  readonly cachedOnly: boolean
  /**
   * The place to ask for, in place of one near the players: the create cannot name a place, but it takes coordinates.
   */
  readonly at: Coordinates | undefined
  /** What the latency rule promises of the place. */
  readonly placement?: Placement | undefined
}

/** A match as the allocator keeps it: from the intent until its server is gone. Only the allocator changes it. */
export interface Allocation extends Omit<Intent, 'tag' | 'playerIds'> {
  /** Tag of the present attempt. */
  tag: string
  playerIds: readonly string[]
  /** Undefined for a match of an earlier process. */
  readonly order: Order | undefined
  /** What the attempts so far have asked for. */
  tries: readonly PlacementAttempt[]
  /** See `Order`; undefined until they were asked for. */
  placements: readonly Placement[] | undefined
  phase: AllocationPhase
  requestId: string | undefined
  /** Epoch milliseconds since when the `requestId` is known. */
  knownAt: number
  /**
   * Epoch milliseconds since when it listens, and only the journal has to be told before players are; Infinity before.
   */
  listensAt: number
  /**
   * Milliseconds from its start, as the service counts, after which it is stopped, whoever plays; Infinity for never.
   */
  lastsMs: number
  /** Epoch milliseconds at which that is; Infinity while it is not known: see `EndTimes`. */
  endsAt: number
  assignment: Assignment | undefined
  /** Whether the server has registered as ready for players. */
  registered: boolean
  /** Why it is no longer wanted; its tickets have left it then. */
  unwanted: StopReason | undefined
  /** Other deployments with its tag, which are being stopped. There are hardly ever any. */
  twins: Set<string> | undefined
  /** Called when the server is gone, or with an error when that will not be known. */
  ended: readonly ((error?: Error) => void)[]
}

const NO_TRIES: readonly PlacementAttempt[] = []
export const NOBODY: Allocation['ended'] = []

export const newAllocation = (
  { matchId, queue, tag, ticketIds, playerIds = [], at }: Intent,
  order?: Order,
): Allocation => ({
  matchId,
  queue,
  tag,
  ticketIds,
  playerIds,
  at,
  order,
  tries: NO_TRIES,
  placements: undefined,
  phase: 'creating',
  requestId: undefined,
  knownAt: at,
  listensAt: Infinity,
  lastsMs: Infinity,
  endsAt: Infinity,
  assignment: undefined,
  registered: false,
  unwanted: undefined,
  twins: undefined,
  ended: NOBODY,
})

/**
 * What the journal is told of it before its create. Field by field, because spreading costs more than all else about
 * it.
 */
export const intentEntry = ({ matchId, queue, tag, ticketIds, playerIds, at }: Allocation) => ({
  kind: 'intent' as const,
  matchId,
  queue,
  tag,
  ticketIds,
  playerIds,
  at,
})

/** A match and its deployment, for other code. */
export interface AllocationView extends Intent {
  readonly playerIds: readonly string[]
  readonly phase: AllocationPhase
  readonly requestId: string | undefined
  readonly assignment: Assignment | undefined
  /** Where its latency rule placed it, if it has one and an earlier process did not make it. Not for players. */
  readonly placement?: Placement | undefined
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
  requestId: allocation.requestId,
  assignment: allocation.assignment,
  placement: placementOf(allocation),
})
