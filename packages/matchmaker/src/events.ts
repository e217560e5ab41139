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

/** A place chosen by latency, and where the server is. Not for players: it holds single players' latencies. */
export interface Placed extends Placement {
  /** Kilometres from the beacon to the server; undefined where the service does not say where that is. */
  readonly offKm: number | undefined
}

/** An event about a server of a pool names the pool. */
interface OfPool {
  readonly pool?: string | undefined
}

/** The game server that an event is about. */
interface ServerEvent {
  readonly serverId: string
  /** Name of its pool; undefined for the server of one match. */
  readonly pool: string | undefined
  /** Id of its deployment; undefined until the service has returned it. */
  readonly requestId: string | undefined
}

export interface MatchmakerEvents extends TicketEvents {
  /** A match was found. Next its server is deployed or, in a queue with acceptance, the match awaits acceptance. */
  matchFound: MatchEvent & {
    readonly tickets: readonly Ticket[]
    /**
     * Milliseconds of waiting at which the limits began that the match keeps: 0 for the strictest. In a queue with
     * `targetWaitMs`, those of a ticket without a head start.
     */
    readonly expansionMs: number
  }
  /** Players of a ticket accepted the match that was found for it. */
  matchAccepted: MatchEvent & { readonly ticket: Ticket; readonly playerIds: readonly string[] }
  /**
   * Tickets joined a match by its backfill. If its server runs, `serverAssigned` follows; in a queue with acceptance,
   * once they have accepted.
   */
  backfillJoined: MatchEvent & { readonly backfillId: string; readonly tickets: readonly Ticket[] }
  /** A player who let others down may not wait until the end of this cooldown. */
  cooldownBegan: { readonly queue: string; readonly offence: Offence; readonly cooldown: Cooldown }
  /** The cooldowns of a player were forgotten, by `forgive`. */
  cooldownForgiven: { readonly playerId: string }
  /** A queue was paused, by `pauseQueue`. */
  queuePaused: { readonly queue: string }
  queueResumed: { readonly queue: string }
  /** A pool was paused, or is not any more, by `pausePool`. */
  poolPaused: { readonly pool: string; readonly paused: boolean }
  backfillCreated: { readonly backfill: Backfill }
  /** A backfill changed: by `updateBackfill`, by players who joined or left, or because it ended. */
  backfillChanged: { readonly backfill: Backfill }
  /** Players left a match, by `playersLeft`. `remaining`: how many are in it still; 0 when it is over. */
  playersLeft: MatchEvent & { readonly playerIds: readonly string[]; readonly remaining: number }
  /**
   * A match whose players were sent to its server is over, once for each. `playerIds`: who played. `reason`: `over` if
   * its server said so, `left` if all players have left, `stopped` if a backend has ended it; any other, such as
   * `crashed` or `max-duration`, says what became of its server. `left`: those who left before its end, and when; left
   * out if nobody did. `source`, `enrolmentKey`: where its server came from, as `ServerView` says.
   */
  matchOver: MatchEvent & {
    readonly playerIds: readonly string[]
    readonly reason: StopReason
    readonly left?: readonly PlayerWhoLeft[] | undefined
    readonly source?: string | undefined
    readonly enrolmentKey?: string | undefined
    readonly result?: MatchResult | undefined
  }
  /** The service accepted the deployment. Of a server of a pool, `matchId` is the server's id, and `queue` its pool. */
  deploymentCreated: MatchEvent & OfPool & { readonly requestId: string }
  /**
   * The service reports the server READY, `startMs` milliseconds after its answer to the create. The server was last
   * seen not READY `unseenMs` milliseconds before. Players are sent once it listens.
   */
  deploymentReady: MatchEvent &
    OfPool & {
      readonly requestId: string
      readonly startMs: number
      readonly unseenMs: number
      /** What the latency rule promised of the place, if the match's queue has one that chose it, and the result. */
      readonly placed?: Placed | undefined
    }
  /** The server is READY, and the tickets say where it is. */
  serverAssigned: MatchEvent & {
    readonly requestId: string
    readonly assignment: Assignment
    readonly tickets: readonly Ticket[]
  }
  /**
   * A server failed: before its players were sent there, which counts as an attempt of their tickets, or, as `crashed`,
   * while players were on it. A server that ends by itself while players are on it has not failed.
   */
  deploymentFailed: MatchEvent &
    OfPool & {
      readonly requestId: string
      readonly reason: ServerFailure
      /**
       * What the service says of the error, e.g. an exit code, and why its logs were not read if its secrets are not
       * known; without addresses, at most 300 characters.
       */
      readonly detail?: string | undefined
    }
  /**
   * What the container of a server that failed wrote at its end: how it crashed, and at most 16,384 characters, without
   * its secrets and without addresses. Read before its stop, which takes them away. Not of every failed server: the
   * service may have none, no stop waits longer than three seconds, and those of a server that an earlier process has
   * ordered may hold secrets that are not known.
   */
  serverLogs: MatchEvent &
    OfPool & { readonly requestId: string; readonly reason: ServerFailure; readonly logs: string }
  /** The service confirmed that the server is stopped, or that it was gone already. */
  deploymentStopped: MatchEvent & OfPool & { readonly requestId: string; readonly reason: StopReason }
  /** A process of a game server has registered for the first time, or again after a restart of this process. */
  serverRegistered: ServerEvent & {
    /** The build of the game, as it says. */
    readonly build: string | undefined
    /** Matches that it serves at a time. */
    readonly matches: number
  }
  /**
   * A match takes a server of a pool. `warm`: it ran already; otherwise it was created for the match. The server is
   * told once the store has recorded this.
   */
  serverTaken: MatchEvent & ServerEvent & { readonly warm: boolean }
  /** A match has left its server of a pool: it ended, or goes to another server. */
  serverFreed: MatchEvent & ServerEvent & { readonly reason: FreedReason }
  /** A game server takes no match any more. Once it serves none, it is stopped. */
  serverDraining: ServerEvent & { readonly reason: DrainReason }
  /** A game server has been silent for `silentMs` milliseconds: it gets no match, and its status is read. */
  serverLost: ServerEvent & { readonly silentMs: number }
  /** A lost game server was heard again after `silentMs` milliseconds. */
  serverReturned: ServerEvent & { readonly silentMs: number }
  /** A deployment with this matchmaker's tag, which belonged to none of its matches, was stopped. */
  orphanStopped: { readonly requestId: string }
  /** A round of grouping has ended. `durationMs`: milliseconds; `matches`: number of matches found. */
  tickCompleted: { readonly durationMs: number; readonly matches: number }
  /** An error that was handled or will be retried; worth a line in the log. */
  problem: {
    readonly during: Activity
    readonly matchId?: string | undefined
    readonly requestId?: string | undefined
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
  /** Whether the event has a listener: its data need not be made otherwise. */
  isHeard(name: EventName): boolean
  /** Subscribes a listener, and returns a function that ends the subscription. */
  on<Name extends EventName>(name: Name, listener: Listener<Name>): () => void
}

/** A listener that fails disturbs neither the matchmaker nor the other listeners: `problem` tells of it. */
export function createEvents(): Events {
  const { emitter, emit } = createEventsWithProblems<Listeners>()
  return {
    emit: (name, event) => (emit as (name: EventName, event: unknown) => void)(name, event),
    isHeard: (name) => emitter.listenerCount(name) > 0,
    on: (name, listener) => {
      emitter.on(name, listener as never)
      return () => void emitter.off(name, listener as never)
    },
  }
}

/** Whether a match that leaves its server of a pool so does not go to another one. */
export const isEndOfMatch = (reason: FreedReason): boolean => reason !== 'refused' && reason !== 'silent'

/** Subscribes to the end of each match, on a server of its own or of a pool. An end may be told twice. */
export function onMatchEnd(on: Events['on'], ended: (matchId: string) => void): void {
  on('deploymentStopped', ({ matchId }) => ended(matchId))
  on('serverFreed', ({ matchId, reason }) => {
    if (isEndOfMatch(reason)) ended(matchId)
  })
}

/** Creates the listener by which what happens to game servers becomes events. */
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
