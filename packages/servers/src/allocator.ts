import type { Clock, Random } from '@muster/core/clock'
import type { StopReason, DeploymentService, LocationService, Allocation, FoundBy, Order } from './records/index.js'
import type { Inherited } from './adopt-servers.js'
import type { Browser, ServerBrowser } from './browser/index.js'
import type { Prober } from './port-probe.js'
import type { DeploymentCreation } from './create-deployment.js'
import type { Pool, Pools } from './pools/index.js'
import type { Held as GovernorHeld, SpendBound } from './server-limits.js'
import type { AllocatorListener, EndedMatches } from './allocations.js'
import type {
  GameServers,
  JoinAlgorithm,
  JoinGrant,
  JoinKeySet,
  Registered,
  ServerOrders,
  ServerRegistration,
  ServerReport,
  ServerView,
} from './game-servers/index.js'
import type { Recovery, ServerLog } from './store/index.js'

/** Why nothing may be created now: see `Governor`; or `store`, which cannot be read or written. */
export type Held = GovernorHeld | 'store'

/** Deploys a server for each match, and keeps track of it until the service has confirmed its end. */
export interface Allocator {
  /** Takes over what the store says may still exist. Nothing may be allocated before. */
  readonly recovery: Pick<Recovery, 'recover' | 'attempt' | 'ready' | 'isDone' | 'isFailing'>
  /** Number of matches that may be allocated now. @param pool whose warm servers count too. */
  room(now: number, pool?: string): number
  /** Begins an allocation. Resolves once the store holds the intent. Reports the outcome to the listener. */
  allocate(match: FoundBy, order: Order): Promise<void>
  /** Stops the server of a match that is no longer wanted; the caller handles its tickets. */
  drop(allocation: Allocation, reason: StopReason): void
  find(matchId: string): Allocation | undefined
  matches(): Iterable<Allocation>
  /** Deployments that exist or may exist. */
  count(): number
  /**
   * The match of an earlier process in which the player plays; undefined if there is none, or if its tickets were
   * inherited.
   */
  playedBy(playerId: string): Pick<Allocation, 'matchId' | 'queue' | 'assignment'> | undefined
  /** Replaces the players of a match, after some joined or left. */
  setPlayers(allocation: Allocation, playerIds: readonly string[]): void
  /** Notes that a deployment may have changed; its status is then read. */
  hint(requestId: string): void
  /** Answers the service's webhooks about deployments. Never rejects. */
  webhook(request: Request): Promise<Response>
  /** Notes that the server of a match is ready for players. Returns false for an unknown match or a wrong secret. */
  serverReady(matchId: string, secret: string): boolean
  /**
   * Notes that a player comes: if the match expects the player, its `joinBy` is met. Returns false for an unknown match
   * or a wrong secret.
   */
  playerCame(matchId: string, secret: string, playerId: string): boolean
  /** Whether any server has the secret; called before the match is known. */
  isServerSecret(secret: string): boolean
  /** Whether the server of this match has the secret. */
  isSecretOf(matchId: string, secret: string): boolean
  /**
   * Registers the game server of this token: see `GameServers`.
   * @throws {ServerGone}
   */
  registerServer(token: string, registration: ServerRegistration): Registered
  /**
   * Returns the orders of the server, and the ids of the matches that it had before.
   * @throws {InvalidInput}, and nothing changes; {ServerGone}; {ServerNotRegistered}
   */
  reportServer(
    token: string,
    report: ServerReport,
  ): { readonly orders: ServerOrders; readonly before: readonly string[] }
  /** Rejects with {ServerGone}, {ServerNotRegistered} or the signal's reason. */
  waitForOrders(token: string, wait: Parameters<GameServers['waitForOrders']>[1]): Promise<ServerOrders>
  /** Makes the token by which a player joins a match on its server. */
  joinToken(grant: JoinGrant): string
  /** The public keys that check join tokens. */
  joinKeys(): JoinKeySet
  /** What players see and have of listed servers. */
  readonly browser: Omit<ServerBrowser, 'games' | 'touch' | 'assertListing' | 'adopt' | 'isTaken' | 'advance'>
  /** The game servers that have registered. */
  gameServers(): Iterable<ServerView>
  /**
   * From now on a server takes no match besides those that it has. Returns false if there is no such server. It may not
   * be recorded yet: see `recorded`.
   */
  drainServer(serverId: string): boolean
  /** The server of this id; a match on a server of a pool is none. */
  findServer(serverId: string): Allocation | undefined
  readonly pools: Pick<Pools, 'views' | 'isPaused' | 'setPaused' | 'reconfigure' | 'isEmpty' | 'advance'>
  /** Does the work that is due: reads statuses, stops, finds lost deployments, checks time limits. */
  advance(now: number): void
  /**
   * Resolves when the store has all that was decided about the match so far; undefined if it has already. Rejects if
   * that cannot be written now.
   */
  recorded(matchId: string): Promise<void> | undefined
  /** Resolves when the server of the match is gone. @throws {MatchmakerClosed} */
  whenEnded(allocation: Allocation): Promise<void>
  /** From now on, a deployment that several searches did not find counts as absent. */
  giveUpSooner(): void
  readonly creates: Pick<DeploymentCreation, 'sendNoMore' | 'inFlight'>
  /** Waits for the store, and rejects callers that wait for a match to end. */
  close(): Promise<void>
  /** Ends all that is under way, without a request or an entry, and rejects callers that wait for a match to end. */
  abandon(): void
  /** Number of stops that are not confirmed. */
  stopsPending(): number
  /** Why `room` last returned 0; undefined if there was room. */
  held(): Held | undefined
  /** Epoch milliseconds until which nothing is created, because the service refuses creates. */
  pausedUntil(): number
}

export interface AllocatorOptions {
  readonly service: DeploymentService
  /** Tells where there is capacity. Without it, a match that found no capacity is not tried elsewhere. */
  readonly locations?: LocationService | undefined
  readonly serverLog: ServerLog
  /** What `resumes` of the store is, if it does not say. Default false. */
  readonly resumes?: boolean | undefined
  readonly clock: Clock
  /** Milliseconds, to divide long work into slices. */
  readonly stopwatch: () => number
  readonly random: Random
  /** Returns the master secret of the servers' tokens: see `ServerKeys`. */
  readonly masterSecret: () => string | Uint8Array
  /** How join tokens are signed. Default `HS256`. */
  readonly joinAlgorithm?: JoinAlgorithm | undefined
  /** Tag of all deployments of this matchmaker. */
  readonly ownTag: string
  readonly bound: SpendBound
  /** Creates whose answer is awaited at once; the others wait in a queue. */
  readonly maxCreatesInFlight: number
  /** Status reads per second at most. */
  readonly readsPerSecond: number
  /** Milliseconds for which the service's list may not show a new deployment. */
  readonly listLagMs: number
  /** Milliseconds after which a deployment with our tag and without a match is stopped; Infinity for never. */
  readonly orphanGraceMs: number
  /** Public URL of `webhook`; undefined for no webhooks. */
  readonly webhookUrl?: string | undefined
  /** Public URL of the ticket API, without a slash at its end; undefined if servers do not receive it. */
  readonly apiUrl?: string | undefined
  /** Default: over the network. */
  readonly prober?: Prober | undefined
  /** Pools of servers that outlive a match. Default: none. */
  readonly pools?: readonly Pool[] | undefined
  /** How servers are listed. */
  readonly browser: Browser
  /** A player let holds of seats expire too often. */
  readonly seatUnused: (playerId: string) => void
  /** The matches of which this process has inherited the tickets. Default: none. */
  readonly inherited?: Inherited | undefined
  /** Receives the matches that have ended completely. */
  readonly ended?: EndedMatches | undefined
  readonly on: AllocatorListener
}
