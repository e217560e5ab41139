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

/** Finds or creates a server for each match, and tracks each server until its source confirms its end. */
export class Allocator {
  /** Takes over the stored servers and matches. No match may be allocated before that is done. */
  readonly recovery: Recovery
  readonly pools: Pools
  /** The listed servers and the seats on them. */
  readonly browser: ServerBrowser
  readonly enrolling: Enrolling
  readonly creates: ServerCreation
  readonly sources: Pick<Sources, 'all' | 'oldestStopMs' | 'pausedUntil' | 'stopsPending'>
  /** The calls of server processes that authenticate with a server's token. */
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

  /**
   * Returns the number of matches that may be allocated now. @param pool name of a pool whose warm servers count too
   */
  room(now: number, pool?: string): number {
    const room = this.#parts.room.besideMatches(pool === undefined ? undefined : this.#parts.sourceOf(pool), now)
    return pool === undefined || this.#parts.isBroken() ? room : room + this.#parts.matches.freePlaces(pool)
  }

  /** Allocates a server for a match. Resolves once the store has the match. The listener receives the outcome. */
  allocate(found: FoundBy, order: Order): Promise<void> {
    return this.#parts.matches.begin(new HostedMatch(found, order), order)
  }

  /** Ends a match that is no longer wanted, and stops a server that is only for it. The caller handles the tickets. */
  drop(match: HostedMatch, reason: StopReason): void {
    this.#parts.matches.drop(match, reason)
  }

  /** Replaces the players of a match, and stores the change. @param gone ids of players who have left */
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
   * Drains a server: it gets no further match. False if it is unknown. `recorded` resolves once the drain is stored.
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
  /** Returns the server with this id. A server of a single match has the id of the match. */
  findServer(serverId: string): Server | undefined {
    return this.#parts.context.fleet.find(serverId)
  }
  servers(): Iterable<Server> {
    return this.#parts.context.fleet.all()
  }
  poolServers(): readonly Server[] {
    return [...this.#parts.context.fleet.all()].filter(({ bound }) => bound.length === 0)
  }
  /** Returns the match of a player whose ticket this process lacks, because the match is from before a restart. */
  playedBy(playerId: string): HostedMatch | undefined {
    return this.#parts.context.fleet.playedBy(playerId)
  }
  /** Returns views of all matches, and of all servers of pools. */
  views(): readonly AllocationView[] {
    return [
      ...Array.from(this.#parts.context.fleet.matches(), matchViewOf),
      ...this.poolServers().map(poolServerViewOf),
    ]
  }
  gameServers(): Iterable<ServerView> {
    return this.#parts.gameServers.views()
  }
  /** Returns the number of servers that exist or may exist, including orphans. */
  count(): number {
    return this.#parts.room.count()
  }

  /** Creates the token with which a player joins a server. */
  joinToken(grant: JoinGrant): string {
    return this.#parts.signer.grant(grant, this.#options.clock)
  }
  /** Returns the public keys that verify join tokens. */
  joinKeys(): ReturnType<ReturnType<typeof createJoinSigner>['keySet']> {
    return this.#parts.signer.keySet()
  }

  /** Called when a deployment of the service may have changed. Its status is then read. */
  hint(requestId: string): void {
    this.#parts.context.sources.of(undefined).hint({ handle: requestId })
  }

  /** Handles the service's webhooks about deployments. Never rejects. */
  async webhook(request: Request): Promise<Response> {
    // Before the stored servers are known, every webhook would be about an unknown match.
    if (this.recovery.isDone()) return this.#parts.receiveWebhook(request)
    return new Response(null, { status: 503, headers: { 'retry-after': '1' } })
  }

  /**
   * Resolves once all entries about this match or server are stored. Undefined if they are. Rejects if a write fails.
   */
  recorded(matchId: string): Promise<void> | undefined {
    return this.#parts.context.writer.written(matchId)
  }
  /** Returns why `room` has last allowed no server. Undefined if it has allowed one. */
  blockedBy(): BlockedBy | undefined {
    return this.#parts.room.blockedBy()
  }

  /** Flushes and closes the store, and rejects callers that wait for the end of a match. */
  async close(): Promise<void> {
    this.abandon()
    await this.#parts.context.writer.close().catch((error: unknown) => this.#options.on.problem('store', error))
  }

  /**
   * Does all work that is due, e.g. reads statuses, repeats stops, looks for lost deployments and checks time limits.
   */
  advance(now: number): void {
    this.#parts.advance(now)
  }
  /** Stops all activity without further requests or entries. Rejects callers that wait for the end of a match. */
  abandon(): void {
    this.#parts.abandon()
  }
}
