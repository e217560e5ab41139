import { newId } from '@muster/core/internal'
import { Unavailable } from './errors.js'
import { createAllocations, createSetPlayers, rejectAll, whenEnded } from './allocations.js'
import { createEndTimes } from './server-deadlines.js'
import { createListening, networkProber } from './port-probe.js'
import { createEnrolledSource, createSources, createWebhookReceiver, type Sources } from './sources/index.js'
import { createDeploymentCreation } from './create-deployment.js'
import { createEnrolling } from './enrolling.js'
import { createHostedMatches } from './hosted-matches.js'
import { createPools } from './pools/index.js'
import { createServerBrowser, createStartServers } from './browser/index.js'
import { createGovernor } from './server-limits.js'
import { createServerLifecycle, type ServerLifecycle } from './server-lifecycle.js'
import type { AllocatorOptions, Held } from './allocator.js'
import {
  createGameServers,
  createJoinSigner,
  createServerKeys,
  type GameServers,
  type JoinGrant,
  type Registered,
  ServerGone,
  type ServerRegistration,
  type ServerReport,
  type ServerView,
  serverViewOf,
} from './game-servers/index.js'
import {
  type Allocation,
  credentialOf,
  ENROLLED,
  type FoundBy,
  isHosted,
  newAllocation,
  newPoolServer,
  type Order,
  type StopReason,
} from './records/index.js'
import { createAdopting, NONE_INHERITED } from './adopt-servers.js'
import { createServerLogWriter, createRecovery } from './store/index.js'

/** Deploys a server for each match, and keeps track of it until the service has confirmed its end. */
export type Allocator = ReturnType<typeof createAllocator>

export function createAllocator(options: AllocatorOptions) {
  const { serverLog, clock, random, bound, on } = options
  const { stopwatch, inherited = NONE_INHERITED, ended } = options
  const resumes = serverLog.resumes ?? options.resumes ?? false
  const allocations = createAllocations({
    ended,
    changed: (allocation) => {
      const isOpen = allocations.find(allocation.matchId) === allocation
      gameServers.changed(allocation.host ?? allocation)
      if (isOpen) return
      gameServers.forget(allocation)
      if (allocation.pool !== undefined) pools.gone(allocation)
    },
  })
  const governor = createGovernor(bound)
  const keys = createServerKeys(options.masterSecret)
  const signer = createJoinSigner(options.joinAlgorithm ?? 'HS256', keys)
  /** The allocation whose deployment has this token: no other attempt of its match, and no match that is over. */
  const byToken = (token: string) => {
    const credential = keys.credentialIn(token)
    return credential === undefined ? undefined : allocations.byServerIds([credential])
  }
  const isTokenOf = (matchId: string, token: string) => byToken(token)?.matchId === matchId
  const writer = createServerLogWriter(serverLog, clock, (error, matchId) =>
    on.problem('store', error, allocations.find(matchId)),
  )

  const { open: openEnrolled, hasEnded } = createEnrolledSource()
  const sources: Sources = createSources({
    service: options.sources.service,
    others: new Map([...options.sources.others, [ENROLLED, openEnrolled]]),
    clock,
    random,
    listener: (source) => ({
      changed: (change) => lifecycle.changed(change, source),
      seen: (ids, handle) => lifecycle.seen(ids, handle, source),
      late: (id) => lifecycle.late(id),
      absent: (id) => lifecycle.absent(id),
      reaped: on.reaped,
      problem: (during, error, { id, handle }) => {
        const known = handle === undefined ? undefined : allocations.byRequest(handle, source)
        on.problem(during, error, known ?? (id === undefined ? undefined : allocations.byServerIds([id])), handle)
      },
    }),
  })
  const listening = createListening({
    prober: options.prober ?? networkProber,
    clock,
    listened: (allocation, listens) => lifecycle.listened(allocation, listens),
    problem: (error, allocation) => on.problem('probe', error, allocation, allocation.requestId),
  })
  const hosted = createHostedMatches({
    allocations,
    writer,
    resumes,
    gameServers: () => gameServers,
    creating: () => creating,
    lifecycle: () => lifecycle,
    pools: () => pools,
    room: (pool, now) => roomFor(sourceOf(pool), 0, now),
    clock,
    random,
    on,
  })
  const pools = createPools({
    pools: options.pools ?? [],
    clock,
    // Creates for matches that wait come before those for stock.
    room: (source) => (creating.waiting() > 0 || !recovery.isDone() ? 0 : roomNow(source, clock.now())),
    create: (pool, order) => {
      const server = newPoolServer(
        { matchId: newId(random), queue: pool, at: clock.now(), source: sourceOf(pool) },
        order,
      )
      void creating.begin(server)
      return server
    },
    drain: (server, reason) => gameServers.drain(server, reason),
    useOf: (server) => browser.useOf(server),
    freePlaces: (server) => gameServers.freePlaces(server),
  })
  const browser = createServerBrowser({
    browser: options.browser,
    clock,
    random,
    gameServers: () => gameServers,
    find: (serverId) => allocations.find(serverId),
    pool: (name) => pools.find(name)?.definition,
    customPool: () => pools.definitions().find(({ custom }) => custom !== undefined),
    servers: createStartServers({
      pools: () => pools,
      clock,
      random,
      writer,
      room: (source) => (recovery.isDone() ? roomNow(source, clock.now()) : 0),
      begin: (server) => void creating.begin(server),
      used: on.used,
    }),
    assertMayStart: options.assertMayStart,
    isNear: (server, near) => pools.isNear(server, near),
    drop: (server) => {
      if (gameServers.find(server.matchId) === undefined) drop(server, 'surplus')
      else gameServers.drain(server, 'surplus')
    },
    keys,
    joinToken: ({ serverId, session, id: seatId, team, ...seat }) => {
      const server = credentialOf(allocations.find(serverId)?.tag ?? '')
      const grant = { ...seat, server, matchId: session, seatId, team: team || undefined }
      return signer.grant(grant, clock)
    },
    unused: options.seatUnused,
  })
  const lifecycle: ServerLifecycle = createServerLifecycle({
    sources,
    allocations,
    writer,
    resumes,
    listening,
    clock,
    hosted,
    tokenOf: keys.tokenOf,
    ended: (server) => browser.ended(server),
    again: (allocation) => void creating.retry(allocation),
    on,
  })
  const matchesOn = (server: Allocation) => {
    if (server.pool !== undefined) return hosted.matchesOn(server)
    return isServing(server) ? [server] : []
  }
  const gameServers = createGameServers({
    clock,
    joinAlgorithm: signer.alg,
    joinKeyOf: ({ tag }) => signer.keyOf(credentialOf(tag)),
    matchesOn,
    claimsOn: (server) => {
      if (server.pool !== undefined) return hosted.claimsOn(server)
      return isServing(server) ? 1 : 0
    },
    on: {
      ...on.games,
      accepted: (match) => {
        if (isHosted(match)) hosted.accepted(match)
        else serverAccepted(match)
      },
      refused: (match) => {
        if (isHosted(match) && match.phase !== 'running') return hosted.refused(match)
        const { phase, requestId } = match
        if (phase === 'running' || requestId === undefined) return on.games.over(match, undefined)
        lifecycle.fail(match, 'not-listening', true)
        lifecycle.stop(match, requestId)
      },
      came: (match) => {
        match.joinBy = Infinity
      },
      registered: (server, registration, isNew) => {
        if (isNew) on.servers.registered(server, registration)
        if (server.pool === undefined) return
        serverAccepted(server)
        endTimes.locate(server)
        pools.up(server)
        hosted.registered(server)
      },
      ...browser.games,
      listed: (server, listing, instance) => {
        browser.games.listed(server, listing, instance)
        const isListed = listing !== undefined
        if (server.isListed === isListed || server.pool === undefined) return
        server.isListed = isListed
        // One that is being stopped is listed no more, whatever the store says.
        if (server.unwanted === undefined) void writer.note({ kind: 'listed', matchId: server.matchId, isListed })
      },
      draining: (server, reason) => {
        pools.draining(server)
        browser.touch(server.matchId)
        on.servers.draining(server, reason)
      },
      lost: (server, silentMs) => {
        browser.touch(server.matchId)
        on.servers.lost(server, silentMs)
        lifecycle.hinted(server, undefined)
      },
      returned: (server, silentMs) => {
        browser.touch(server.matchId)
        on.servers.returned(server, silentMs)
      },
      spent: (server, reason) => enrolling.spent(server, reason),
      problem: (server, error) => on.problem('server', error, server, server.requestId),
    },
  })
  /** The server of a match runs, so its deployment is READY by now. */
  const serverAccepted = (match: Allocation) => {
    listening.registered(match)
    lifecycle.hinted(match, undefined)
  }
  const endTimes = createEndTimes({
    sources,
    allocations,
    clock,
    located: (server) => browser.touch(server.matchId),
    problem: (error, allocation) => on.problem('status', error, allocation, allocation.requestId),
  })
  const receiveWebhook = createWebhookReceiver({ clock, find: byToken, hinted: lifecycle.hinted })
  const creating = createDeploymentCreation({
    sources,
    writer,
    resumes,
    governor,
    allocations,
    lifecycle,
    clock,
    random,
    keys,
    maxCreatesInFlight: options.maxCreatesInFlight,
    apiUrl: options.apiUrl,
    isPromised: (allocation) => browser.isStarting(allocation.matchId),
    on,
  })

  const recovery = createRecovery({
    serverLog,
    clock,
    stopwatch,
    adopt: createAdopting({
      allocations,
      governor,
      creating,
      lifecycle,
      sources,
      endTimes,
      hosted,
      pools,
      browser,
      gameServers,
      clock,
      inherited,
      on,
    }),
    expect: inherited.expect,
    adopted: () => {
      inherited.done()
      // Nothing but one server may be created before the list is answered.
      sources.watch(clock.now())
    },
    problem: (error) => on.problem('store', error),
  })
  const count = () => allocations.count() + sources.strays()
  const isBroken = () => writer.isBehind() || recovery.isFailing()

  const drop = (allocation: Allocation, reason: StopReason) => {
    const { phase, requestId } = allocation
    allocation.unwanted ??= reason
    if (phase === 'stopping') return
    if (isHosted(allocation)) return hosted.release(allocation)
    // It is no stock any more, although it is there until its stop is confirmed.
    pools.draining(allocation)
    if (requestId !== undefined && phase !== 'retrying') lifecycle.stop(allocation, requestId)
    else if (!creating.forget(allocation)) lifecycle.drop(allocation)
  }

  const findServer = (serverId: string) => {
    const server = allocations.find(serverId)
    return server === undefined || isHosted(server) ? undefined : server
  }
  const drainServer = (serverId: string) => {
    const server = findServer(serverId)
    if (server === undefined) return false
    if (server.unwanted !== undefined || server.drainAsked) return true
    server.drainAsked = true
    void writer.note({ kind: 'draining', matchId: serverId })
    // One that has not registered, and serves no match but its own, is stopped after that in any case.
    if (server.pool !== undefined || gameServers.find(serverId) !== undefined) gameServers.drain(server, 'operator')
    return true
  }

  /** @throws {ServerGone}; {Unavailable} while its record may have vanished */
  const serverOf = (token: string) => {
    const server = byToken(token)
    if (server === undefined && options.sparesUnknown?.() === true)
      throw new Unavailable('The record of this server may have vanished. Let players play on.', {
        retryAfterMs: 30_000,
      })
    if (server === undefined) throw new ServerGone('This server is not wanted any more. End its process.')
    return server
  }

  const enrolling = createEnrolling({ pools, allocations, gameServers, lifecycle, writer, keys, clock, drop, hasEnded })

  /** Servers that may be created, besides so many that will be. */
  const roomFor = (source: string | undefined, coming: number, now: number): number => {
    if (isBroken() || source === ENROLLED) return 0
    const { gate, strays } = sources.of(source)
    // Strays cost as much as servers of matches, so they count.
    const all = { count: count() + coming, startingCount: allocations.startingCount() + coming }
    return Math.min(gate.room(allocations.countOf(source) + strays() + coming, now), governor.room(all, now))
  }
  const roomNow = (source: string | undefined, now: number) => roomFor(source, hosted.needingServers(), now)
  const sourceOf = (pool: string) => pools.find(pool)?.definition.source
  const endAll = () => {
    recovery.close()
    sources.close()
    listening.close()
    rejectAll(allocations.all())
  }

  return {
    /** Takes over what the store says may still exist. Nothing may be allocated before. */
    recovery,

    /** Number of matches that may be allocated now. @param pool whose warm servers count too. */
    // A server that the store cannot record would be lost after a crash, so none is created.
    room: (now: number, pool?: string) => {
      const room = roomNow(pool === undefined ? undefined : sourceOf(pool), now)
      return pool === undefined || isBroken() ? room : room + hosted.freePlaces(pool)
    },

    /** Begins an allocation. Resolves once the store holds the intent. Reports the outcome to the listener. */
    allocate: (match: FoundBy, order: Order) => {
      const allocation = newAllocation(match, order)
      return order.pool === undefined ? creating.begin(allocation) : hosted.begin(allocation)
    },

    /** Stops the server of a match that is no longer wanted; the caller handles its tickets. */
    drop,

    find: (matchId: string): Allocation | undefined => allocations.find(matchId),
    matches: (): Iterable<Allocation> => allocations.all(),
    /** Deployments that exist or may exist. */
    count,
    /** The match of an earlier process in which the player plays; undefined if its tickets were inherited. */
    playedBy: allocations.playedBy,
    setPlayers: createSetPlayers(allocations, writer, clock),

    /** Notes that a deployment may have changed; its status is then read. */
    hint: (requestId: string) => sources.of(undefined).hint({ handle: requestId }),
    /** Answers the service's webhooks about deployments. Never rejects. */
    // Before, every webhook would be one of an unknown match.
    webhook: async (request: Request): Promise<Response> =>
      recovery.isDone()
        ? receiveWebhook(request)
        : new Response(null, { status: 503, headers: { 'retry-after': '1' } }),
    /** Whether any server has the secret; called before the match is known. */
    isServerSecret: (secret: string) => keys.credentialIn(secret) !== undefined,
    /** Whether the server of this match has the secret. */
    isSecretOf: isTokenOf,
    /** Notes that the server of a match is ready for players. Returns false for an unknown match or a wrong secret. */
    serverReady: (matchId: string, secret: string) => {
      const allocation = allocations.find(matchId)
      if (allocation === undefined || !isTokenOf(matchId, secret)) return false
      serverAccepted(allocation)
      return true
    },
    /** A player comes: an expected one meets `joinBy`. Returns false for an unknown match or a wrong secret. */
    playerCame: (matchId: string, secret: string, playerId: string) => {
      const allocation = allocations.find(matchId)
      if (allocation === undefined || !isTokenOf(matchId, secret)) return false
      if (allocation.playerIds.includes(playerId)) allocation.joinBy = Infinity
      return true
    },

    /**
     * Registers the game server of this token: see `GameServers`.
     * @throws {ServerGone}; {Unavailable}: see `assertFollowed`
     */
    registerServer: (token: string, registration: ServerRegistration): Registered => {
      const server = serverOf(token)
      lifecycle.assertFollowed(server, registration.deployment)
      return gameServers.register(server, enrolling.withinTerms(server, registration))
    },
    enrolling,
    /**
     * Returns the orders of the server, and the ids of the matches that it had before, and its own if it lists itself
     * now, or does no more: a restart has to know that.
     * @throws {InvalidInput}, and nothing changes; {ServerGone}; {ServerNotRegistered}
     */
    reportServer: (token: string, report: ServerReport) => {
      browser.assertListing(report)
      const server = serverOf(token)
      const before = matchesOn(server).map(({ matchId }) => matchId)
      const { isListed } = server
      const orders = gameServers.report(server, report)
      return { orders, before: server.isListed === isListed ? before : [...before, server.matchId] }
    },
    /** As `reportServer`. Rejects with {ServerGone}, {ServerNotRegistered} or the signal's reason. */
    waitForOrders: async (token: string, wait: Parameters<GameServers['waitForOrders']>[1]) => {
      const server = serverOf(token)
      const before = matchesOn(server).map(({ matchId }) => matchId)
      const orders = await gameServers.waitForOrders(server, wait)
      return { orders, before: [...before, ...gameServers.reportedOn(server)] }
    },
    /** Makes the token by which a player joins a match on its server. */
    joinToken: (grant: JoinGrant) => signer.grant(grant, clock),
    /** The public keys that check join tokens. */
    joinKeys: signer.keySet,
    /** The game servers that have registered. */
    *gameServers(): Iterable<ServerView> {
      for (const server of gameServers.all()) yield serverViewOf(server, pools.placeNameOf, browser.listing(server.id))
    },
    /** The server takes no further match. Returns false if there is none. See `recorded` for when that is written. */
    drainServer,
    /** The server of this id; a match on a server of a pool is none. */
    findServer,
    /** What players see and have of listed servers. */
    browser,
    pools,

    /** Does the work that is due: reads statuses, stops, finds lost deployments, checks time limits. */
    advance: (now: number) => {
      // Before the store is read, every deployment would look like a stray.
      if (recovery.isDone()) sources.watch(now)
      writer.advance(now)
      endTimes.advance(now)
      sources.advance(now)
      lifecycle.advance(now)
      creating.advance(now)
      gameServers.advance(now)
      hosted.advance(now)
      browser.advance(now)
    },

    /** Resolves when the store has all that was decided about the match; undefined if it has. Rejects if it fails. */
    recorded: (matchId: string): Promise<void> | undefined => writer.written(matchId),
    /** Resolves when the server of the match is gone. @throws {MatchmakerClosed} */
    whenEnded,
    /** From now on, a deployment that several searches did not find counts as absent. */
    giveUpSooner: sources.giveUpSooner,
    creates: creating,
    /** Waits for the store, and rejects callers that wait for a match to end. */
    close: async () => {
      endAll()
      await writer.close().catch((error: unknown) => on.problem('store', error))
    },
    /** Ends all that is under way, without a request or an entry, and rejects callers that wait for a match to end. */
    abandon: endAll,
    /** Number of stops that are not confirmed. */
    stopsPending: sources.stopsPending,
    oldestStopMs: sources.oldestStopMs,
    /** Why `room` last returned 0; undefined if there was room. */
    held: (): Held | undefined => (isBroken() ? 'store' : (sources.held() ?? governor.held())),
    /** Epoch milliseconds until which nothing is created, because the service refuses creates. */
    pausedUntil: sources.pausedUntil,
  }
}

/** Whether the deployment of an allocation serves its match, or may soon. */
const isServing = ({ phase, unwanted }: Allocation) =>
  unwanted === undefined && (phase === 'starting' || phase === 'warming' || phase === 'running')
