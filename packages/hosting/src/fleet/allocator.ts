import { dateOf } from '@muster/core/clock'
import { AllocatorParts } from './allocator-parts.js'
import type { Enrolling } from './enrolling.js'
import type { Pools } from '../pools/index.js'
import type { ServerBrowser } from '../browser/index.js'
import type { ServerCreation } from './server-creation.js'
import { ServerCalls } from './server-calls.js'
import type { AllocatorOptions, BlockedBy } from './allocator-options.js'
import type { createJoinSigner, JoinGrant, ServerView } from '../game-servers/index.js'
import {
  type AllocationView,
  type FoundBy,
  HostedMatch,
  leftAfter,
  matchViewOf,
  playersEntry,
  poolServerViewOf,
  type Order,
  type Server,
  type StopReason,
} from '../records/index.js'
import type { Sources } from '../sources/index.js'
import type { Recovery } from '../store/index.js'

/** Finds or creates a server for each match, and tracks it until its source has confirmed its end. */
export class Allocator {
  /** Takes over the servers and matches in the store. Nothing may be allocated before. */
  readonly recovery: Recovery
  readonly pools: Pools
  /** The listed servers and their seats, as players see them. */
  readonly browser: ServerBrowser
  readonly enrolling: Enrolling
  readonly creates: ServerCreation
  /** Where servers come from. */
  readonly sources: Pick<Sources, 'all' | 'oldestStopMs' | 'pausedUntil' | 'stopsPending'>
  /** The calls of processes with a server's token. */
  readonly serverCalls: ServerCalls
  readonly #options: AllocatorOptions
  readonly #parts: AllocatorParts

  constructor(options: AllocatorOptions) {
    const parts = new AllocatorParts(options)
    this.#options = options
    this.#parts = parts
    this.recovery = parts.recovery
    this.pools = parts.pools
    this.browser = parts.browser
    this.enrolling = parts.enrolling
    this.creates = parts.creates
    this.sources = parts.context.sources
    this.serverCalls = new ServerCalls(parts, options.sparesUnknown ?? (() => false))
  }

  /** Returns the number of matches that may be allocated now. @param pool a pool whose warm servers also count. */
  room(now: number, pool?: string): number {
    const room = this.#parts.room.besideMatches(pool === undefined ? undefined : this.#parts.sourceOf(pool), now)
    return pool === undefined || this.#parts.isBroken() ? room : room + this.#parts.matches.freePlaces(pool)
  }

  /** Begins an allocation. Resolves once the store holds the intent. Reports the outcome to the listener. */
  allocate(found: FoundBy, order: Order): Promise<void> {
    return this.#parts.matches.begin(new HostedMatch(found, order), order)
  }

  /** Ends a match that is no longer wanted. The caller handles its tickets. Stops the match's own server. */
  drop(match: HostedMatch, reason: StopReason): void {
    this.#parts.matches.drop(match, reason)
  }

  /** Replaces the players of a match after some have joined or left. A later process knows them too. */
  setPlayers(match: HostedMatch, playerIds: readonly string[], gone: readonly string[] = []): void {
    const { fleet, writer, clock } = this.#parts.context
    match.left = leftAfter(match.left, { playerIds, gone, at: dateOf(clock) })
    fleet.setPlayers(match, playerIds)
    void writer.note(playersEntry(match))
  }

  /** Stops a server that is no longer wanted, and ends its matches. */
  dropServer(server: Server, reason: StopReason): void {
    this.#parts.dropServer(server, reason)
  }

  /**
   * Drains the server: it takes no further match. Returns false if it is unknown. `recorded` resolves when that is
   * written.
   */
  drainServer(serverId: string): boolean {
    const server = this.#parts.context.fleet.find(serverId)
    if (server === undefined) return false
    if (server.stopReason !== undefined || server.drainAsked) return true
    server.drainAsked = true
    void this.#parts.context.writer.note({ kind: 'draining', serverId })
    this.#parts.gameServers.drain(server, 'operator')
    return true
  }

  find(matchId: string): HostedMatch | undefined {
    return this.#parts.context.fleet.match(matchId)
  }
  matches(): Iterable<HostedMatch> {
    return this.#parts.context.fleet.matches()
  }
  /** Returns the server with this id. The id of a match finds the server that is only for that match. */
  findServer(serverId: string): Server | undefined {
    return this.#parts.context.fleet.find(serverId)
  }
  servers(): Iterable<Server> {
    return this.#parts.context.fleet.all()
  }
  /** Returns the servers of pools. */
  poolServers(): readonly Server[] {
    return [...this.#parts.context.fleet.all()].filter(({ bound }) => bound.length === 0)
  }
  /** Returns the match of an earlier process in which the player plays. Undefined if its tickets were inherited. */
  playedBy(playerId: string): HostedMatch | undefined {
    return this.#parts.context.fleet.playedBy(playerId)
  }
  /** Matches with their own servers, and servers of pools. */
  views(): readonly AllocationView[] {
    return [
      ...Array.from(this.#parts.context.fleet.matches(), matchViewOf),
      ...this.poolServers().map(poolServerViewOf),
    ]
  }
  /** Returns the game servers that have registered. */
  gameServers(): Iterable<ServerView> {
    return this.#parts.gameServers.views()
  }
  /** Returns the number of deployments that exist or may exist. */
  count(): number {
    return this.#parts.room.count()
  }

  /** Creates the token with which a player joins a match on its server. */
  joinToken(grant: JoinGrant): string {
    return this.#parts.signer.grant(grant, this.#options.clock)
  }
  /** Returns the public keys that verify join tokens. */
  joinKeys(): ReturnType<ReturnType<typeof createJoinSigner>['keySet']> {
    return this.#parts.signer.keySet()
  }

  /** Called when a deployment may have changed. Its status is then read. */
  hint(requestId: string): void {
    this.#parts.context.sources.of(undefined).hint({ handle: requestId })
  }

  /** Handles the service's webhooks about deployments. Never rejects. */
  async webhook(request: Request): Promise<Response> {
    // Before recovery, every webhook would be about an unknown match.
    if (this.recovery.isDone()) return this.#parts.receiveWebhook(request)
    return new Response(null, { status: 503, headers: { 'retry-after': '1' } })
  }

  /**
   * Resolves when the store has all decisions about the match. Undefined if it already has. Rejects if the write fails.
   */
  recorded(matchId: string): Promise<void> | undefined {
    return this.#parts.context.writer.written(matchId)
  }
  /** Returns why no server could be created when `room` was last called. Undefined if one could. */
  blockedBy(): BlockedBy | undefined {
    return this.#parts.room.blockedBy()
  }

  /** Waits for the store, and rejects callers that wait for a match to end. */
  async close(): Promise<void> {
    this.abandon()
    await this.#parts.context.writer.close().catch((error: unknown) => this.#options.on.problem('store', error))
  }

  /** Does the work that is due: reads statuses, stops servers, finds lost deployments, checks time limits. */
  advance(now: number): void {
    this.#parts.advance(now)
  }
  /** Stops everything in progress without requests or entries, and rejects callers that wait for a match to end. */
  abandon(): void {
    this.#parts.abandon()
  }
}
