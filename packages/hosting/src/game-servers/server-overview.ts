import type {
  DrainReason,
  HostedMatch,
  ReturnReason,
  Server,
  ServerRegistration,
  StopReason,
} from '../records/index.js'

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
  | 'STARTING'
  | 'IDLE'
  | 'TAKEN'
  | 'PLAYING'
  | 'DRAINING'
  | 'LOST'
  | 'STOPPING'
  | 'GONE'
  | 'FAILED'

/** Receives the events of game servers. */
export interface ServerListener {
  /** Called when a process of a server has registered for the first time. */
  registered(server: Server, registration: ServerRegistration): void
  /** Called when a server gets no further matches. */
  draining(server: Server, reason: DrainReason): void
  /** Called when a server has been silent for this number of milliseconds. */
  lost(server: Server, silentMs: number): void
  /** Called when a lost server has reported again, after this number of milliseconds. */
  returned(server: Server, silentMs: number): void
  /** Called when a match claims a server of a pool. `isWarm` is false if the server is created for the match. */
  taken(match: HostedMatch, server: Server, isWarm: boolean): void
  /** Called when a match leaves a server of a pool. */
  freed(match: HostedMatch, server: Server, reason: FreedReason): void
}

/**
 * Why a match leaves a server of a pool. After `silent` (no reply to the offer) or `refused`, it gets another server.
 */
export type FreedReason = ReturnReason | StopReason | 'silent'

/** Numbers of seats by state. `total` is the sum of the others. */
export interface SeatCounts {
  readonly total: number
  readonly free: number
  readonly held: number
  readonly taken: number
  readonly away: number
}

/** A registered game server, as operators see it. Times are epoch milliseconds. Contains no address, token or key. */
export interface ServerView {
  readonly id: string
  readonly state: ServerState
  /** Name of the server's pool. Undefined for a server of a single match. */
  readonly pool: string | undefined
  /** Name of the server's location in the pool, or its city. Undefined if neither is known. */
  readonly place: string | undefined
  /** Name of the server's source. Undefined: the deployment service. */
  readonly source: string | undefined
  /** Id of the key with which the server enrolled. Undefined for a server that Muster has started. */
  readonly enrolmentKey: string | undefined
  /** Id of the server's deployment, or its handle at another source. Undefined while unknown. */
  readonly requestId: string | undefined
  /** The build of the game, as the server reports it. */
  readonly build: string | undefined
  /** Ids of the matches that the server should serve, and the maximum number of concurrent matches. */
  readonly matches: readonly string[]
  readonly matchesAtOnce: number
  /** Number of matches that the server has been given so far. */
  readonly matchesServed: number
  /** Number of players on the server by its last report, and the maximum number that it reports. */
  readonly playersIn: number
  readonly seats: number | undefined
  /** Name and seat counts of a listed server, as Muster counts them. Undefined if the server is not listed. */
  readonly listing: { readonly name: string; readonly seats: SeatCounts } | undefined
  readonly registeredAt: number
  /** Epoch milliseconds of the server's last report. */
  readonly seenAt: number
  /** Why the server gets no further matches. Undefined while it may get some. */
  readonly draining: DrainReason | undefined
}
