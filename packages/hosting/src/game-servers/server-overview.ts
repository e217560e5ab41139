import type { HostedMatch, ReturnReason, Server, StopReason } from '../records/index.js'
import type { ServerRegistration } from './server-reports.js'

/**
 * The state of a game server, as operators see it:
 *
 *   STARTING ──registers──▶ IDLE ──claimed──▶ TAKEN ──accepts──▶ PLAYING ──over──▶ IDLE
 *      │                      │                 │                    │
 *      ▼ failed               └────────┬────────┴────────┬───────────┘
 *    FAILED                            ▼ silent          ▼ surplus, reuse, update, its own wish
 *                                    LOST             DRAINING ──empty──▶ STOPPING ──confirmed──▶ GONE
 */
export type ServerState =
  'STARTING' | 'IDLE' | 'TAKEN' | 'PLAYING' | 'DRAINING' | 'LOST' | 'STOPPING' | 'GONE' | 'FAILED'

/** Why a server takes no match any more. */
export type DrainReason =
  'own-wish' | 'unhealthy' | 'refused' | 'surplus' | 'retired' | 'update' | 'operator' | 'silent'

/** Hears what operators are told of game servers. */
export interface ServerListener {
  /** A process of the server has registered for the first time. */
  registered(server: Server, registration: ServerRegistration): void
  /** The server takes no match any more. */
  draining(server: Server, reason: DrainReason): void
  /** The server has been silent for so many milliseconds. */
  lost(server: Server, silentMs: number): void
  /** A lost server was heard again, after so many milliseconds. */
  returned(server: Server, silentMs: number): void
  /** A match takes a server of a pool. `isWarm`: it ran already; otherwise it was created for the match. */
  taken(match: HostedMatch, server: Server, isWarm: boolean): void
  /** A match has no claim to its server any more. */
  freed(match: HostedMatch, server: Server, reason: FreedReason): void
}

/** Why a match leaves a server of a pool: why the match ended, or `silent`: the server did not answer the offer. */
export type FreedReason = ReturnReason | StopReason | 'silent'

/** A server that has registered, as this registry knows it. */
export interface GameServerView extends Pick<
  ServerView,
  'id' | 'state' | 'matches' | 'playersIn' | 'registeredAt' | 'seenAt' | 'draining'
> {
  readonly server: Server
  readonly registration: ServerRegistration
}

/** Seats by state. `total` is always the sum of the others. */
export interface SeatCounts {
  readonly total: number
  readonly free: number
  readonly held: number
  readonly taken: number
  readonly away: number
}

/** A game server that has registered, for operators. Times are epoch milliseconds. No address, token or key. */
export interface ServerView {
  readonly id: string
  readonly state: ServerState
  /** Name of its pool; undefined for the server of one match. */
  readonly pool: string | undefined
  /** The place of its pool, or the city where it runs; undefined where neither is known. */
  readonly place: string | undefined
  /** Name of its source; undefined: the deployment service. */
  readonly source: string | undefined
  /** Id of the key with which it came; undefined for one that Muster has started. */
  readonly enrolmentKey: string | undefined
  /** Id of its deployment; undefined until the service has returned it. */
  readonly requestId: string | undefined
  /** The build of the game, as it says. */
  readonly build: string | undefined
  /** Ids of the matches that it serves or is to serve, and how many it serves at a time at most. */
  readonly matches: readonly string[]
  readonly matchesAtOnce: number
  /** Matches that it was given so far. */
  readonly matchesServed: number
  /** Players who are on it, by its last report, and how many fit as it says. */
  readonly playersIn: number
  readonly seats: number | undefined
  /** What it lists for players, and its seats as they are counted here; undefined unless it is listed. */
  readonly listing: { readonly name: string; readonly seats: SeatCounts } | undefined
  readonly registeredAt: number
  /** The time of its last report. */
  readonly seenAt: number
  /** Why it takes no match any more; undefined while it may. */
  readonly draining: DrainReason | undefined
}

/**
 * @param placeOf the place of its pool at which a server is kept.
 * @param listing what the server lists; undefined unless it is listed.
 */
export const serverViewOf = (
  { server, registration, id, state, matches, playersIn, registeredAt, seenAt, draining }: GameServerView,
  placeOf: (server: Server) => string | undefined,
  listing: ServerView['listing'],
): ServerView => ({
  id,
  state,
  matches,
  registeredAt,
  seenAt,
  draining,
  pool: server.pool,
  place: placeOf(server) ?? server.assignment?.location?.city,
  source: server.source,
  enrolmentKey: server.enrolled?.key,
  requestId: server.requestId,
  build: registration.build,
  matchesAtOnce: registration.matches,
  matchesServed: server.pool === undefined ? matches.length : server.matchesServed,
  playersIn: playersIn + (listing?.seats.taken ?? 0),
  seats: registration.seats,
  listing,
})
