import { createOwnPauses, newId, type OwnPauses } from '@muster/core/internal'
import { MatchmakerClosed } from '../errors.js'
import type { AllocatorContext } from './allocator-context.js'
import { Fleet } from './fleet.js'
import { createEndTimes, type EndTimes } from './server-deadlines.js'
import { createListening, type ListenCheck, networkProber } from './port-probe.js'
import { createSources, createWebhookReceiver, openEnrolledSource } from '../sources/index.js'
import { Enrolling } from './enrolling.js'
import { HostedMatches } from './hosted-matches.js'
import { Pools } from '../pools/index.js'
import { ServerBrowser } from '../browser/index.js'
import { CreationRoom } from './creation-room.js'
import { createSpendingLimiter, type SpendingLimiter } from './spending-limiter.js'
import { ServerCreation } from './server-creation.js'
import { ServerLifecycle } from './server-lifecycle.js'
import type { AllocatorOptions } from './allocator-options.js'
import { createJoinSigner, createServerKeys, type GameServerListener, GameServers } from '../game-servers/index.js'
import {
  ENROLLED,
  type ListingReport,
  newPoolServer,
  type Server,
  type ServerRegistration,
  type StopReason,
} from '../records/index.js'
import { createServerRestore, NONE_INHERITED } from './restore-servers.js'
import { ServerLogWriter, createRecovery, type Recovery } from '../store/index.js'

/** The parts of an allocator and the connections between them. */
export class AllocatorParts {
  readonly context: AllocatorContext
  readonly spendingLimiter: SpendingLimiter
  readonly room: CreationRoom
  readonly matches: HostedMatches
  readonly gameServers: GameServers
  readonly pools: Pools
  readonly browser: ServerBrowser
  readonly lifecycle: ServerLifecycle
  readonly endTimes: EndTimes
  readonly enrolling: Enrolling
  readonly creates: ServerCreation
  readonly recovery: Recovery
  readonly signer: ReturnType<typeof createJoinSigner>
  readonly receiveWebhook: ReturnType<typeof createWebhookReceiver>
  readonly #options: AllocatorOptions
  readonly #listening: ListenCheck
  readonly #pauses: OwnPauses

  constructor(options: AllocatorOptions) {
    const { serverLog, clock, random, on } = options
    const keys = createServerKeys(options.masterSecret)
    const fleet = new Fleet({
      ended: options.ended,
      changed: (server) => this.gameServers.changed(server),
      gone: (server) => {
        this.gameServers.forget(server)
        this.pools.gone(server)
      },
    })
    const writer = new ServerLogWriter(
      serverLog,
      clock,
      (error, id) => on.problem('store', error, fleet.match(id) ?? fleet.find(id)),
      serverLog.resumes ?? options.resumes,
    )
    const context = { fleet, writer, sources: this.#openSources(options, fleet), keys, clock, random, on }
    this.context = context
    this.#options = options
    this.#pauses = createOwnPauses(clock.now())
    this.spendingLimiter = createSpendingLimiter(options.bound)
    this.signer = createJoinSigner(options.joinAlgorithm ?? 'HS256', keys)
    this.#listening = createListening({
      prober: networkProber,
      clock,
      listened: (server, isListening) => this.lifecycle.listened(server, isListening),
      problem: (error, server) => on.problem('probe', error, server, server.requestId),
    })
    this.gameServers = new GameServers({
      clock,
      joinAlgorithm: this.signer.alg,
      joinKeyOf: ({ credential }) => this.signer.keyOf(credential),
      on: this.#serverListener(),
    })
    this.room = new CreationRoom({
      ...context,
      spendingLimiter: this.spendingLimiter,
      isBroken: () => this.isBroken(),
      needed: () => this.matches.needingServers(),
    })
    this.pools = this.#createPools()
    this.matches = new HostedMatches({
      ...context,
      gameServers: this.gameServers,
      pools: this.pools,
      begin: (server, claims) => this.creates.begin(server, claims),
      room: (pool, now) => this.room.of(this.sourceOf(pool), now),
      dropServer: (server, reason) => this.dropServer(server, reason),
      failServer: (server, reason, counts) => this.lifecycle.failAndStop(server, reason, counts),
    })
    this.lifecycle = new ServerLifecycle({
      ...context,
      listening: this.#listening,
      matches: this.matches,
      ended: (server) => {
        this.browser.starts.ended(server)
        this.enrolling.ended(server)
      },
      create: (server) => this.creates.resume(server),
      again: (server) => void this.creates.retry(server),
    })
    this.creates = new ServerCreation({
      ...context,
      spendingLimiter: this.spendingLimiter,
      lifecycle: this.lifecycle,
      maxCreatesInFlight: options.maxCreatesInFlight,
      apiUrl: options.apiUrl,
      isPromised: (server) => this.browser.starts.isStarting(server.id),
    })
    this.browser = this.#createBrowser()
    this.endTimes = createEndTimes({
      ...context,
      located: (server) => this.browser.touch(server.id),
      problem: (error, server) => on.problem('status', error, server, server.requestId),
    })
    this.receiveWebhook = createWebhookReceiver({
      clock,
      find: (token) => this.byToken(token),
      hinted: (server, hint) => this.lifecycle.hinted(server, hint),
      failed: (error) => on.problem('status', error),
    })
    this.enrolling = new Enrolling({
      ...context,
      pools: this.pools,
      gameServers: this.gameServers,
      lifecycle: this.lifecycle,
      prober: networkProber,
      called: () => this.#called(clock.now()),
      drop: (server, reason) => this.dropServer(server, reason),
    })
    this.recovery = this.#createRecovery()
  }

  /**
   * Does all work that is due, e.g. reads statuses, repeats stops, looks for lost deployments and checks time limits.
   */
  advance(now: number): void {
    const { sources, writer } = this.context
    const wasPaused = this.#pauses.ticked(now)
    // Before the stored servers are known, every deployment would look like an orphan.
    if (this.recovery.isDone()) for (const source of sources.all()) source.watch(now)
    writer.advance(now)
    this.endTimes.advance(now)
    for (const source of sources.all()) source.advance(now)
    this.lifecycle.advance(now, wasPaused)
    this.creates.advance(now)
    this.gameServers.advance(now, wasPaused)
    this.enrolling.knocking.advance(now)
    this.matches.advance(now, wasPaused)
    this.browser.advance(now, wasPaused)
  }

  /** Stops all activity without further requests or entries. Rejects callers that wait for the end of a match. */
  abandon(): void {
    this.recovery.close()
    for (const source of this.context.sources.all()) source.close()
    this.#listening.close()
    this.enrolling.knocking.close()
    for (const match of this.context.fleet.matches())
      match.tellEnded(
        new MatchmakerClosed(`the matchmaker was closed before the end of match ${match.id} was confirmed`),
      )
  }

  /** Stops a server that is no longer wanted, and ends its matches. */
  dropServer(server: Server, reason: StopReason): void {
    server.requestStop(reason)
    const { phase, requestId } = server
    if (phase === 'stopping') return
    // A server that is being stopped is not available to matches, although it exists until the stop is confirmed.
    this.pools.draining(server)
    if (requestId !== undefined && phase !== 'retrying') this.lifecycle.stop(server)
    else if (!this.creates.forget(server)) this.lifecycle.drop(server)
  }

  /** Returns the server with this token. Undefined if the token is from an earlier attempt or the server is gone. */
  byToken(token: string): Server | undefined {
    const credential = this.context.keys.credentialIn(token)
    return credential === undefined ? undefined : this.context.fleet.byServerIds([credential])
  }

  #openSources({ sources, clock, random, on }: AllocatorOptions, fleet: Fleet): AllocatorContext['sources'] {
    return createSources({
      service: sources.service,
      others: new Map([...sources.others, [ENROLLED, openEnrolledSource]]),
      clock,
      random,
      listener: (source) => ({
        changed: (change) => this.lifecycle.changed(change, source),
        seen: (ids, handle) => this.lifecycle.seen(ids, handle, source),
        late: (id) => this.lifecycle.late(id),
        absent: (id) => this.lifecycle.absent(id),
        isReporting: (handle) => {
          this.#called(clock.now())
          const server = fleet.byRequest(handle, source)
          return server !== undefined && this.gameServers.isReporting(server)
        },
        reaped: on.reaped,
        problem: (during, error, { id, handle }) => {
          const known = handle === undefined ? undefined : fleet.byRequest(handle, source)
          const about = known ?? (id === undefined ? undefined : fleet.byServerIds([id]))
          on.problem(during, error, { id: about?.id, source }, handle)
        },
      }),
    })
  }

  #createPools(): Pools {
    const { clock, random, pools = [] } = this.#options
    return new Pools({
      pools,
      clock,
      // Servers for waiting matches are created first, and only then warm servers.
      room: (source) => (this.creates.waiting() > 0 ? 0 : this.#roomForStock(source)),
      create: (pool, order) => {
        const source = this.sourceOf(pool)
        const server = newPoolServer({ id: newId(random), pool, at: clock.now(), source }, order)
        void this.creates.begin(server)
        return server
      },
      drain: (server, reason) => this.gameServers.drain(server, reason),
      useOf: (server) => this.browser.useOf(server),
    })
  }

  #createBrowser(): ServerBrowser {
    const { browser, clock, on, assertMayStart, seatUnused } = this.#options
    return new ServerBrowser({
      ...this.context,
      browser,
      gameServers: this.gameServers,
      find: (id) => this.context.fleet.find(id),
      pools: this.pools,
      room: (source) => this.#roomForStock(source),
      begin: (server) => void this.creates.begin(server),
      used: on.used,
      assertMayStart,
      drop: (server) => {
        if (server.presence === undefined) this.dropServer(server, 'surplus')
        else this.gameServers.drain(server, 'surplus')
      },
      joinToken: ({ serverId, session, id: seatId, team, ...seat }) => {
        const server = this.context.fleet.find(serverId)?.credential ?? ''
        return this.signer.grant({ ...seat, server, matchId: session, seatId, team: team || undefined }, clock)
      },
      unused: seatUnused,
    })
  }

  #createRecovery(): Recovery {
    const { serverLog, clock, stopwatch, on, inherited = NONE_INHERITED } = this.#options
    return createRecovery({
      serverLog,
      clock,
      stopwatch,
      adopt: createServerRestore(this, inherited),
      adopted: () => {
        inherited.done()
        this.browser.resumed(clock.now())
        // Request the first list now. Until it arrives, the source's circuit breaker allows at most one server.
        for (const source of this.context.sources.all()) source.watch(clock.now())
      },
      problem: (error) => on.problem('store', error),
    })
  }

  #serverListener(): GameServerListener {
    const { on } = this.#options
    const touched = (server: Server) => this.browser.touch(server.id)
    return {
      ...on.games,
      accepted: (match, server) => {
        this.runs(server)
        this.matches.accepted(match)
      },
      loads: (match) => this.matches.loads(match),
      refused: (match) => this.matches.refused(match),
      came: (match) => {
        match.joinBy = Infinity
      },
      registered: (server, registration, isNew) => this.#registered(server, registration, isNew),
      heard: (server, knock) => this.enrolling.knocking.heard(server, knock),
      knockOf: (server) => this.enrolling.knocking.expectedText(server),
      listed: (server, listing, instance) => this.#listed(server, listing, instance),
      seatsOn: (server) => this.browser.seatsOn(server),
      listingOf: (server) => this.browser.listing(server.id),
      placeOf: (server) => this.pools.placeNameOf(server),
      isOccupied: (server) => this.browser.isOccupied(server),
      draining: (server, reason) => {
        this.pools.draining(server)
        touched(server)
        on.servers.draining(server, reason)
      },
      lost: (server, silentMs) => {
        touched(server)
        on.servers.lost(server, silentMs)
        this.lifecycle.hinted(server, undefined)
      },
      returned: (server, silentMs) => {
        touched(server)
        on.servers.returned(server, silentMs)
      },
      spent: (server, reason) => this.enrolling.spent(server, reason),
      problem: (server, error) => on.problem('server', error, server, server.requestId),
    }
  }

  #registered(server: Server, registration: ServerRegistration, isNew: boolean): void {
    if (isNew) this.#options.on.servers.registered(server, registration)
    if (server.pool === undefined || this.enrolling.knocking.isAwaited(server)) return
    this.runs(server)
    this.endTimes.locate(server)
    this.pools.up(server)
    this.matches.registered(server)
  }

  /**
   * Called when the server's process is known to run. If the deployment is not known to be READY, its status is read.
   */
  runs(server: Server): void {
    this.#listening.registered(server)
    if (server.phase !== 'running') this.lifecycle.hinted(server, undefined)
  }

  /** Called when a request or an answer is read, maybe before the next tick. Silence while suspended does not count. */
  #called(now: number): void {
    if (!this.#pauses.called(now)) return
    this.gameServers.upSince = now
    this.browser.resumed(now)
  }

  #listed(server: Server, given: ListingReport | undefined, instance: string): void {
    const now = this.#options.clock.now()
    this.#called(now)
    const listing = this.enrolling.knocking.isAwaited(server) ? undefined : given
    this.browser.listed(server, listing, instance)
    const isListed = listing !== undefined
    if (server.isListed === isListed) return
    server.isListed = isListed
    // A stored server that is being stopped counts as not listed, so no entry is needed.
    if (server.stopReason === undefined)
      void this.context.writer.note({ kind: 'listed', serverId: server.id, isListed })
  }

  /** Returns the number of warm servers that may be created now. 0 until all stored servers are taken over. */
  #roomForStock(source: string | undefined): number {
    return this.recovery.isDone() ? this.room.besideMatches(source, this.#options.clock.now()) : 0
  }

  isBroken(): boolean {
    return this.context.writer.isBehind() || this.recovery.isFailing()
  }

  sourceOf(pool: string): string | undefined {
    return this.pools.find(pool)?.definition.source
  }
}
