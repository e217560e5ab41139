import { createEventsWithProblems } from '@muster/core/internal'
import type {
  Activity,
  AllocatorListener,
  Assignment,
  DrainReason,
  FreedReason,
  HostedMatch,
  MatchResult,
  PlayerWhoLeft,
  Placement,
  Server,
  ServerFailure,
  StopReason,
} from '@muster/hosting/internal'
import type { Backfill, Cooldown, MatchEvent, Ticket, TicketEvents } from './tickets/index.js'
import type { Offence } from './queues/index.js'

/**
 * A place chosen by latency, and where the server runs. It holds single players' latencies, so do not show it to
 * players.
 */
export interface Placed extends Placement {
  /**
   * Kilometres from the beacon to the server; undefined if the deployment service does not report the server's
   * location.
   */
  readonly offKm: number | undefined
}

/** Names the pool if the event is about a server of a pool. */
interface OfPool {
  readonly pool?: string | undefined
}

/** The game server that an event is about. */
interface ServerEvent {
  readonly serverId: string
  /** Name of the server's pool; undefined for the server of one match. */
  readonly pool: string | undefined
  /** Id of the server's deployment; undefined until the service has returned it. */
  readonly requestId: string | undefined
}

export interface MatchmakerEvents extends TicketEvents {
  /** A match was found. Next its server is deployed or, in a queue with acceptance, the match awaits acceptance. */
  matchFound: MatchEvent & {
    readonly tickets: readonly Ticket[]
    /**
     * The wait, in milliseconds, after which limits are as relaxed as this match needs; 0 for the strictest limits. In
     * a queue with `targetWaitMs`, the wait of a ticket without a head start.
     */
    readonly expansionMs: number
  }
  /** Players of a ticket accepted the match that was found for it. */
  matchAccepted: MatchEvent & { readonly ticket: Ticket; readonly playerIds: readonly string[] }
  /**
   * Tickets joined a match by its backfill. If the server runs, `serverAssigned` follows. In a queue with acceptance,
   * `serverAssigned` follows once the tickets have accepted.
   */
  backfillJoined: MatchEvent & { readonly backfillId: string; readonly tickets: readonly Ticket[] }
  /** A player got a cooldown after declining, not accepting or leaving a match. */
  cooldownBegan: { readonly queue: string; readonly offence: Offence; readonly cooldown: Cooldown }
  /** `forgive` ended the cooldowns of a player. */
  cooldownForgiven: { readonly playerId: string }
  /** `pauseQueue` paused a queue. */
  queuePaused: { readonly queue: string }
  queueResumed: { readonly queue: string }
  /** `pausePool` paused or resumed a pool. */
  poolPaused: { readonly pool: string; readonly paused: boolean }
  backfillCreated: { readonly backfill: Backfill }
  /** A backfill changed: by `updateBackfill`, by players who joined or left, or because it ended. */
  backfillChanged: { readonly backfill: Backfill }
  /** Players left a match by `playersLeft`. `remaining`: number of players still in it; 0 if the match is over. */
  playersLeft: MatchEvent & { readonly playerIds: readonly string[]; readonly remaining: number }
  /**
   * A match whose players were sent to its server is over. Emitted once for each match. `playerIds`: its players.
   * `ticketIds`: their tickets, including tickets that joined by a backfill.
   * `reason`: `over` if its server reported it, `left` if all players left, `stopped` if a backend ended it. Any other
   * reason, such as `crashed` or `max-duration`, says how its server ended. `left`: players who left before the end,
   * and when; absent if nobody did. `source`, `enrolmentKey`: the server's origin, as in `ServerView`.
   */
  matchOver: MatchEvent & {
    readonly playerIds: readonly string[]
    readonly ticketIds: readonly string[]
    readonly reason: StopReason
    readonly left?: readonly PlayerWhoLeft[] | undefined
    readonly source?: string | undefined
    readonly enrolmentKey?: string | undefined
    readonly result?: MatchResult | undefined
  }
  /**
   * The service accepted the deployment. For a server of a pool, `matchId` is the server's id and `queue` is its pool.
   */
  deploymentCreated: MatchEvent & OfPool & { readonly requestId: string }
  /**
   * The service reports the server READY, `startMs` milliseconds after it answered the create. The previous status
   * read, `unseenMs` milliseconds earlier, was not READY. Players are sent to the server once it listens.
   */
  deploymentReady: MatchEvent &
    OfPool & {
      readonly requestId: string
      readonly startMs: number
      readonly unseenMs: number
      /**
       * Where the latency rule of the match placed the server, and where the server runs; undefined if no latency rule
       * chose the place.
       */
      readonly placed?: Placed | undefined
    }
  /** The server is READY, and the tickets hold its address. */
  serverAssigned: MatchEvent & {
    readonly requestId: string
    readonly assignment: Assignment
    readonly tickets: readonly Ticket[]
  }
  /**
   * A server failed. If its players were not sent to it yet, that counts as a placement attempt of their tickets. If
   * players were on it, `reason` is `crashed`. A server that exits normally while players are on it has not failed.
   */
  deploymentFailed: MatchEvent &
    OfPool & {
      readonly requestId: string
      readonly reason: ServerFailure
      /**
       * The deployment service's error, e.g. an exit code. If the server's secrets are unknown: why its logs were not
       * read. At most 300 characters, without addresses.
       */
      readonly detail?: string | undefined
    }
  /**
   * The end of the log of a failed server's container, at most 16,384 characters, without its secrets and addresses. It
   * is read before the stop, which deletes the log. The event is missing if the service has no log, or if reading takes
   * longer than 3 s. It is also missing if an earlier process created the server and its secrets are unknown.
   */
  serverLogs: MatchEvent &
    OfPool & { readonly requestId: string; readonly reason: ServerFailure; readonly logs: string }
  /** The service confirmed that the server is stopped or was already gone. */
  deploymentStopped: MatchEvent & OfPool & { readonly requestId: string; readonly reason: StopReason }
  /** A game server process registered for the first time, or again after a restart of this process. */
  serverRegistered: ServerEvent & {
    /** The build of the game, as the server reports it. */
    readonly build: string | undefined
    /** Number of matches that it serves at a time. */
    readonly matches: number
  }
  /**
   * A match takes a server of a pool. `warm`: the server already ran; otherwise it was created for the match. The
   * server gets the match once the store has recorded that.
   */
  serverTaken: MatchEvent & ServerEvent & { readonly warm: boolean }
  /** A match has left its server of a pool: it ended, or moves to another server. */
  serverFreed: MatchEvent & ServerEvent & { readonly reason: FreedReason }
  /** A game server takes no further match. Once it serves none, it is stopped. */
  serverDraining: ServerEvent & { readonly reason: DrainReason }
  /** A game server has been silent for `silentMs` milliseconds: it gets no match, and its status is read. */
  serverLost: ServerEvent & { readonly silentMs: number }
  /** A lost game server reported again after `silentMs` milliseconds. */
  serverReturned: ServerEvent & { readonly silentMs: number }
  /** A deployment with this matchmaker's tag that belonged to none of its matches was stopped. */
  orphanStopped: { readonly requestId: string }
  /** A round of matching has ended. `durationMs`: its duration in milliseconds; `matches`: number of matches found. */
  tickCompleted: { readonly durationMs: number; readonly matches: number }
  /** An error that was handled or will be retried. Log it. */
  problem: {
    readonly during: Activity
    readonly matchId?: string | undefined
    readonly requestId?: string | undefined
    /** Name of the source of the server. Undefined: the deployment service, or the problem is about no server. */
    readonly source?: string | undefined
    /** The event whose listener failed. */
    readonly event?: string | undefined
    readonly error: unknown
  }
}

export type EventName = keyof MatchmakerEvents
export type Listener<Name extends EventName> = (event: MatchmakerEvents[Name]) => void

type Listeners = { readonly [Name in EventName]: Listener<Name> }

export interface Events {
  emit<Name extends EventName>(name: Name, event: MatchmakerEvents[Name]): void
  /** True if the event has a listener. Without one, the caller need not build its data. */
  hasListeners(name: EventName): boolean
  /** Subscribes a listener. Returns a function that ends the subscription. */
  on<Name extends EventName>(name: Name, listener: Listener<Name>): () => void
}

/**
 * Creates the events. A listener that throws disturbs neither the matchmaker nor other listeners; `problem` reports its
 * error.
 */
export function createEvents(): Events {
  const { emitter, emit, on } = createEventsWithProblems<Listeners>()
  return {
    emit: (name, event) => (emit as (name: EventName, event: unknown) => void)(name, event),
    hasListeners: (name) => emitter.listenerCount(name) > 0,
    on: (name, listener) => on(name, listener as never),
  }
}

/** False if a match that leaves its server for this reason goes to another server. */
export const isEndOfMatch = (reason: FreedReason): boolean => reason !== 'refused' && reason !== 'silent'

/**
 * Subscribes to the end of each match, on a server of its own or of a pool. `ended` may be called twice for a match.
 */
export function onMatchEnd(on: Events['on'], ended: (matchId: string) => void): void {
  on('deploymentStopped', ({ matchId }) => ended(matchId))
  on('serverFreed', ({ matchId, reason }) => {
    if (isEndOfMatch(reason)) ended(matchId)
  })
}

/** Creates the listener that emits events of the matchmaker for changes of game servers. */
export function createServerEvents(events: Pick<Events, 'emit'>): AllocatorListener['servers'] {
  const named = ({ id: serverId, pool, requestId }: Server) => ({ serverId, pool, requestId })
  const inMatch = ({ id: matchId, queue }: HostedMatch, server: Server) => ({ matchId, queue, ...named(server) })
  return {
    registered: (server, { build, matches }) => events.emit('serverRegistered', { ...named(server), build, matches }),
    draining: (server, reason) => events.emit('serverDraining', { ...named(server), reason }),
    lost: (server, silentMs) => events.emit('serverLost', { ...named(server), silentMs }),
    returned: (server, silentMs) => events.emit('serverReturned', { ...named(server), silentMs }),
    taken: (match, server, isWarm) => events.emit('serverTaken', { ...inMatch(match, server), warm: isWarm }),
    freed: (match, server, reason) => events.emit('serverFreed', { ...inMatch(match, server), reason }),
  }
}
