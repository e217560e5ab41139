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

/** Receives the events of game servers for operators. */
export interface ServerListener {
  /** Called when a process of the server has registered for the first time. */
  registered(server: Server, registration: ServerRegistration): void
  /** Called when the server takes no more matches. */
  draining(server: Server, reason: DrainReason): void
  /** Called when the server has been silent for this many milliseconds. */
  lost(server: Server, silentMs: number): void
  /** Called when a lost server has reported again, after this number of milliseconds. */
  returned(server: Server, silentMs: number): void
  /** Called when a match takes a server of a pool. `isWarm`: false if the server was created for the match. */
  taken(match: HostedMatch, server: Server, isWarm: boolean): void
  /** Called when a match no longer takes up a place on its server. */
  freed(match: HostedMatch, server: Server, reason: FreedReason): void
}

/**
 * Why a match leaves a server of a pool: the reason for the end of the match or the server. After `silent` (the server
 * did not reply to the offer) or `refused` (the server refused it), another server is tried.
 */
export type FreedReason = ReturnReason | StopReason | 'silent'

/** Seats by state. `total` is always the sum of the others. */
export interface SeatCounts {
  readonly total: number
  readonly free: number
  readonly held: number
  readonly taken: number
  readonly away: number
}

/** A registered game server, for operators. Times are epoch milliseconds. Contains no address, token or key. */
export interface ServerView {
  readonly id: string
  readonly state: ServerState
  /** Name of the server's pool. Undefined for the server of one match. */
  readonly pool: string | undefined
  /** Name of the server's location in the pool, or the city where it runs. Undefined if neither is known. */
  readonly place: string | undefined
  /** Name of the server's source. Undefined: the deployment service. */
  readonly source: string | undefined
  /** Id of the key with which the server enrolled. Undefined for a server that Muster has started. */
  readonly enrolmentKey: string | undefined
  /** Id of the server's deployment. Undefined until the service has returned it. */
  readonly requestId: string | undefined
  /** The build of the game, as reported. */
  readonly build: string | undefined
  /** Ids of the matches that the server serves or should serve, and its maximum number of concurrent matches. */
  readonly matches: readonly string[]
  readonly matchesAtOnce: number
  /** Number of matches that the server was given so far. */
  readonly matchesServed: number
  /** Number of players on the server by its last report, and its reported maximum. */
  readonly playersIn: number
  readonly seats: number | undefined
  /** The server's public listing, and its seats as counted here. Undefined unless it is listed. */
  readonly listing: { readonly name: string; readonly seats: SeatCounts } | undefined
  readonly registeredAt: number
  /** The time of the server's last report. */
  readonly seenAt: number
  /** Why the server takes no more matches. Undefined while it may take some. */
  readonly draining: DrainReason | undefined
}
