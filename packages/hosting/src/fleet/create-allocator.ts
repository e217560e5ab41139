import { newId } from '@muster/core/internal'
import { createFleet, createSetPlayers, rejectAll, whenEnded } from './fleet.js'
import { createEndTimes } from './server-deadlines.js'
import { createListening, networkProber } from './port-probe.js'
import { createSources, createWebhookReceiver, openEnrolledSource, type Sources } from '../sources/index.js'
import { createDeploymentCreation } from './create-deployment.js'
import { createEnrolling } from './enrolling.js'
import { createHostedMatches } from './hosted-matches.js'
import { createPools } from '../pools/index.js'
import { createServerBrowser, createStartServers } from '../browser/index.js'
import { createGovernor } from './server-limits.js'
import { createServerLifecycle, type ServerLifecycle } from './server-lifecycle.js'
import { createTokenCalls } from './token-calls.js'
import type { AllocatorOptions, Held } from './allocator.js'
import {
  createGameServers,
  createJoinSigner,
  createServerKeys,
  type JoinGrant,
  type ServerView,
  serverViewOf,
} from '../game-servers/index.js'
import {
  type AllocationView,
  ENROLLED,
  type FoundBy,
  HostedMatch,
  matchViewOf,
  poolServerViewOf,
  newPoolServer,
  type Order,
  type Server,
  type StopReason,
} from '../records/index.js'
import { createAdopting, NONE_INHERITED } from './adopt-servers.js'
import { createServerLogWriter, createRecovery } from '../store/index.js'

/** Deploys a server for each match, and keeps track of it until the service has confirmed its end. */
export type Allocator = ReturnType<typeof createAllocator>

export function createAllocator(options: AllocatorOptions) {
  const { serverLog, clock, random, bound, on } = options
  const { stopwatch, inherited = NONE_INHERITED, ended } = options
  const resumes = serverLog.resumes ?? options.resumes ?? false
  const fleet = createFleet({
    ended,
    changed: (server) => gameServers.changed(server),
    gone: (server) => {
      gameServers.forget(server)
      pools.gone(server)
    },
  })
  const governor = createGovernor(bound)
  const keys = createServerKeys(options.masterSecret)
  const signer = createJoinSigner(options.joinAlgorithm ?? 'HS256', keys)
  /** The server that has this token: no earlier attempt, and none that is gone. */
  const byToken = (token: string) => {
    const credential = keys.credentialIn(token)
    return credential === undefined ? undefined : fleet.byServerIds([credential])
  }
  const writer = createServerLogWriter(serverLog, clock, (error, id) =>
    on.problem('store', error, fleet.match(id) ?? fleet.find(id)),
  )

  const sources: Sources = createSources({
    service: options.sources.service,
    others: new Map([...options.sources.others, [ENROLLED, openEnrolledSource]]),
    clock,
    random,
    listener: (source) => ({
      changed: (change) => lifecycle.changed(change, source),
      seen: (ids, handle) => lifecycle.seen(ids, handle, source),
      late: (id) => lifecycle.late(id),
      absent: (id) => lifecycle.absent(id),
      reaped: on.reaped,
      problem: (during, error, { id, handle }) => {
        const known = handle === undefined ? undefined : fleet.byRequest(handle, source)
        on.problem(during, error, known ?? (id === undefined ? undefined : fleet.byServerIds([id])), handle)
      },
    }),
  })
  const { prober = networkProber } = options
  const listening = createListening({
    prober,
    clock,
    listened: (server, isListening) => lifecycle.listened(server, isListening),
    problem: (error, server) => on.problem('probe', error, server, server.requestId),
  })
  const matches = createHostedMatches({
    fleet,
    writer,
    resumes,
    gameServers: () => gameServers,
    creating: () => creating,
    pools: () => pools,
    room: (pool, now) => roomFor(sourceOf(pool), 0, now),
    dropServer: (server, reason) => dropServer(server, reason),
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
      const server = newPoolServer({ id: newId(random), pool, at: clock.now(), source: sourceOf(pool) }, order)
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
    find: (serverId) => fleet.find(serverId),
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
      if (gameServers.find(server.id) === undefined) dropServer(server, 'surplus')
      else gameServers.drain(server, 'surplus')
    },
    keys,
    joinToken: ({ serverId, session, id: seatId, team, ...seat }) => {
      const server = fleet.find(serverId)?.credential ?? ''
      const grant = { ...seat, server, matchId: session, seatId, team: team || undefined }
      return signer.grant(grant, clock)
    },
    unused: options.seatUnused,
  })
  const lifecycle: ServerLifecycle = createServerLifecycle({
    sources,
    fleet,
    writer,
    resumes,
    listening,
    clock,
    matches,
    tokenOf: keys.tokenOf,
    ended: (server) => {
      browser.ended(server)
      enrolling.ended(server)
    },
    again: (server) => void creating.retry(server),
    on,
  })
  const gameServers = createGameServers({
    clock,
    joinAlgorithm: signer.alg,
    joinKeyOf: ({ credential }) => signer.keyOf(credential),
    matchesOn: matches.matchesOn,
    claimsOn: matches.claimsOn,
    on: {
      ...on.games,
      accepted: (match) => {
        if (match.ownServer === undefined) matches.accepted(match)
        else runs(match.ownServer)
      },
      refused: (match) => {
        const { phase, ownServer } = match
        if (phase === 'running') return on.games.over(match, undefined)
        if (ownServer === undefined) return matches.refused(match)
        if (ownServer.requestId === undefined) return on.games.over(match, undefined)
        lifecycle.fail(ownServer, 'not-listening', true)
        lifecycle.stop(ownServer, ownServer.requestId)
      },
      came: (match) => {
        match.joinBy = Infinity
      },
      registered: (server, registration, isNew) => {
        if (isNew) on.servers.registered(server, registration)
        if (server.pool === undefined || enrolling.isKnocked(server)) return
        runs(server)
        endTimes.locate(server)
        pools.up(server)
        matches.registered(server)
      },
      ...browser.games,
      heard: (server, knock) => enrolling.heard(server, knock),
      knockOf: (server) => enrolling.knockOf(server),
      listed: (server, given, instance) => {
        const listing = enrolling.isKnocked(server) ? undefined : given
        browser.games.listed(server, listing, instance)
        const isListed = listing !== undefined
        if (server.isListed === isListed || server.pool === undefined) return
        server.isListed = isListed
        // One that is being stopped is listed no more, whatever the store says.
        if (server.unwanted === undefined) void writer.note({ kind: 'listed', serverId: server.id, isListed })
      },
      draining: (server, reason) => {
        pools.draining(server)
        browser.touch(server.id)
        on.servers.draining(server, reason)
      },
      lost: (server, silentMs) => {
        browser.touch(server.id)
        on.servers.lost(server, silentMs)
        lifecycle.hinted(server, undefined)
      },
      returned: (server, silentMs) => {
        browser.touch(server.id)
        on.servers.returned(server, silentMs)
      },
      spent: (server, reason) => enrolling.spent(server, reason),
      problem: (server, error) => on.problem('server', error, server, server.requestId),
    },
  })
  /** Its process runs, so its deployment is READY by now. */
  const runs = (server: Server) => {
    listening.registered(server)
    lifecycle.hinted(server, undefined)
  }
  const endTimes = createEndTimes({
    sources,
    fleet,
    clock,
    located: (server) => browser.touch(server.id),
    problem: (error, server) => on.problem('status', error, server, server.requestId),
  })
  const receiveWebhook = createWebhookReceiver({ clock, find: byToken, hinted: lifecycle.hinted })
  const creating = createDeploymentCreation({
    sources,
    writer,
    resumes,
    governor,
    fleet,
    lifecycle,
    clock,
    random,
    keys,
    maxCreatesInFlight: options.maxCreatesInFlight,
    apiUrl: options.apiUrl,
    isPromised: (server) => browser.isStarting(server.id),
    on,
  })

  const dropServer = (server: Server, reason: StopReason) => {
    server.unwant(reason)
    const { phase, requestId } = server
    if (phase === 'stopping') return
    // It is no stock any more, although it is there until its stop is confirmed.
    pools.draining(server)
    if (requestId !== undefined && phase !== 'retrying') lifecycle.stop(server, requestId)
    else if (!creating.forget(server)) lifecycle.drop(server)
  }

  const enrolling = createEnrolling({
    pools,
    fleet,
    gameServers,
    lifecycle,
    writer,
    keys,
    clock,
    prober,
    random,
    drop: dropServer,
    problem: (server, error) => on.problem('probe', error, server, server.requestId),
  })

  const recovery = createRecovery({
    serverLog,
    clock,
    stopwatch,
    adopt: createAdopting({
      fleet,
      governor,
      creating,
      lifecycle,
      sources,
      endTimes,
      matches,
      pools,
      browser,
      gameServers,
      enrolling,
      writer,
      clock,
      inherited,
    }),
    adopted: () => {
      inherited.done()
      // Nothing but one server may be created before the list is answered.
      sources.watch(clock.now())
    },
    problem: (error) => on.problem('store', error),
  })
  const count = () => fleet.count() + sources.strays()
  const isBroken = () => writer.isBehind() || recovery.isFailing()

  const poolServers = () => [...fleet.all()].filter(({ bornFor }) => bornFor === undefined)

  const drainServer = (serverId: string) => {
    const server = fleet.find(serverId)
    if (server === undefined) return false
    if (server.unwanted !== undefined || server.drainAsked) return true
    server.drainAsked = true
    void writer.note({ kind: 'draining', serverId })
    // One that has not registered, and serves no match but its own, is stopped after that in any case.
    if (server.pool !== undefined || gameServers.find(serverId) !== undefined) gameServers.drain(server, 'operator')
    return true
  }

  const tokenCalls = createTokenCalls({
    fleet,
    keys,
    byToken,
    matches,
    gameServers,
    lifecycle,
    enrolling,
    browser,
    runs,
    sparesUnknown: options.sparesUnknown,
  })

  /** Servers that may be created, besides so many that will be. */
  const roomFor = (source: string | undefined, coming: number, now: number): number => {
    if (isBroken() || source === ENROLLED) return 0
    const { gate, strays } = sources.of(source)
    // Strays cost as much as servers of matches, so they count.
    const all = { count: count() + coming, startingCount: fleet.startingCount() + coming }
    return Math.min(gate.room(fleet.countOf(source) + strays() + coming, now), governor.room(all, now))
  }
  const roomNow = (source: string | undefined, now: number) => roomFor(source, matches.needingServers(), now)
  const sourceOf = (pool: string) => pools.find(pool)?.definition.source
  const endAll = () => {
    recovery.close()
    sources.close()
    listening.close()
    enrolling.close()
    rejectAll(fleet.matches())
  }

  return {
    /** Takes over what the store says may still exist. Nothing may be allocated before. */
    recovery,

    /** Number of matches that may be allocated now. @param pool whose warm servers count too. */
    // A server that the store cannot record would be lost after a crash, so none is created.
    room: (now: number, pool?: string) => {
      const room = roomNow(pool === undefined ? undefined : sourceOf(pool), now)
      return pool === undefined || isBroken() ? room : room + matches.freePlaces(pool)
    },

    /** Begins an allocation. Resolves once the store holds the intent. Reports the outcome to the listener. */
    allocate: (found: FoundBy, order: Order) => matches.begin(new HostedMatch(found, order), order),

    /** Ends a match that is no longer wanted; the caller handles its tickets. A server of its own is stopped. */
    drop: matches.drop,
    /** Stops a server that is no longer wanted, and ends its matches. */
    dropServer,

    find: fleet.match,
    matches: fleet.matches,
    /** The server of this id; that of a match finds the one that is for it alone. */
    findServer: fleet.find,
    servers: fleet.all,
    /** The servers of pools. */
    poolServers,
    /** Matches, with their own servers, and servers of pools. */
    views: (): readonly AllocationView[] => [
      ...Array.from(fleet.matches(), matchViewOf),
      ...poolServers().map(poolServerViewOf),
    ],
    /** Deployments that exist or may exist. */
    count,
    /** The match of an earlier process in which the player plays; undefined if its tickets were inherited. */
    playedBy: fleet.playedBy,
    setPlayers: createSetPlayers(fleet, writer, clock),

    /** Notes that a deployment may have changed; its status is then read. */
    hint: (requestId: string) => sources.of(undefined).hint({ handle: requestId }),
    /** Answers the service's webhooks about deployments. Never rejects. */
    // Before, every webhook would be one of an unknown match.
    webhook: async (request: Request): Promise<Response> =>
      recovery.isDone()
        ? receiveWebhook(request)
        : new Response(null, { status: 503, headers: { 'retry-after': '1' } }),
    ...tokenCalls,
    enrolling,
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
      enrolling.advance(now)
      matches.advance(now)
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
