import { newId } from '@muster/core/internal'
import { createAllocations, rejectAll, whenEnded } from './allocations.js'
import { createEndTimes } from './server-deadlines.js'
import { createListening, networkProber } from './port-probe.js'
import { createWatcher } from './watching/index.js'
import { createWebhookReceiver } from './webhooks.js'
import { createDeploymentCreation } from './create-deployment.js'
import { createHostedMatches } from './hosted-matches.js'
import { createPools } from './pools/index.js'
import { createServerBrowser } from './browser/index.js'
import { createGovernor } from './server-limits.js'
import { createServerLifecycle, type ServerLifecycle } from './server-lifecycle.js'
import type { Allocator, AllocatorOptions } from './allocator.js'
import {
  createGameServers,
  createJoinSigner,
  createServerKeys,
  ServerGone,
  serverViewOf,
} from './game-servers/index.js'
import {
  type Allocation,
  credentialOf,
  isHosted,
  newAllocation,
  newPoolServer,
  tagOfCredential,
} from './records/index.js'
import { createAdopting, type Inherited } from './adopt-servers.js'
import { createServerLogWriter, createRecovery } from './store/index.js'

const nothing = () => undefined
const NONE_INHERITED: Inherited = { expect: nothing, assignmentOf: nothing, orderOf: nothing, done: nothing }

export function createAllocator(options: AllocatorOptions): Allocator {
  const { service, locations, serverLog, clock, random, ownTag, bound, listLagMs, orphanGraceMs, on } = options
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
  const governor = createGovernor(bound, random)
  const keys = createServerKeys(options.masterSecret)
  const signer = createJoinSigner(options.joinAlgorithm ?? 'HS256', keys)
  /** The allocation whose deployment has this token: no other attempt of its match, and no match that is over. */
  const byToken = (token: string) => {
    const credential = keys.credentialIn(token)
    return credential === undefined ? undefined : allocations.byTags([tagOfCredential(credential)])
  }
  const isTokenOf = (matchId: string, token: string) => byToken(token)?.matchId === matchId
  const writer = createServerLogWriter(serverLog, clock, (error, matchId) =>
    on.problem('store', error, allocations.find(matchId)),
  )

  const watcher = createWatcher({
    service,
    tag: ownTag,
    clock,
    listLagMs,
    readsPerSecond: options.readsPerSecond,
    pushed: options.webhookUrl !== undefined,
    report: (change) => lifecycle.statusChanged(change),
    stranger: (entry) => lifecycle.listed(entry),
    swept: (begunAt) => lifecycle.swept(begunAt),
    problem: (during, error, requestId) => {
      on.problem(during, error, requestId === undefined ? undefined : allocations.byRequest(requestId), requestId)
    },
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
    room: (now) => roomFor(0, now),
    clock,
    random,
    on,
  })
  const pools = createPools({
    pools: options.pools ?? [],
    clock,
    // Creates for matches that wait come before those for stock.
    room: () => (creating.waiting() > 0 || !recovery.isDone() ? 0 : roomNow(clock.now())),
    create: (pool, order) => {
      const server = newPoolServer({ matchId: newId(random), queue: pool, at: clock.now() }, order)
      void creating.begin(server)
      return server
    },
    drain: (server, reason) => gameServers.drain(server, reason),
    isTaken: (server) => browser.isTaken(server),
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
    serverFor: (name, near) => {
      const pool = pools.find(name)
      if (pool === undefined || !recovery.isDone()) return undefined
      const warm = pools.warmFor(pool, { isEmpty: true, middle: near, placements: undefined })
      if (warm !== undefined) return warm
      if (roomNow(clock.now()) <= 0) return undefined
      const order = pool.orderAt(near)
      if (order === undefined) return undefined
      const server = newPoolServer({ matchId: newId(random), queue: name, at: clock.now() }, order)
      pools.created(server, near)
      void creating.begin(server)
      return server
    },
    drop: (server) => {
      if (gameServers.find(server.matchId) === undefined) drop(server, 'surplus')
      else gameServers.drain(server, 'surplus')
    },
    keep: ({ matchId }, session) => void writer.note({ kind: 'wanted', matchId, session }),
    keys,
    joinToken: ({ serverId, session, id: seatId, team, ...seat }) => {
      const server = credentialOf(allocations.find(serverId)?.tag ?? '')
      const grant = { ...seat, server, matchId: session, seatId, team: team || undefined }
      return signer.grant(grant, clock.now())
    },
    unused: options.seatUnused,
  })
  const lifecycle: ServerLifecycle = createServerLifecycle({
    service,
    allocations,
    writer,
    resumes,
    watcher,
    listening,
    clock,
    random,
    ownTag,
    listLagMs,
    orphanGraceMs,
    hosted,
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
        pools.up(server)
        hosted.registered(server)
      },
      ...browser.games,
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
      spent: (server, reason) => drop(server, reason === 'surplus' ? 'surplus' : 'drained'),
      problem: (server, error) => on.problem('server', error, server, server.requestId),
    },
  })
  /** The server of a match runs, so its deployment is READY by now. */
  const serverAccepted = (match: Allocation) => {
    listening.registered(match)
    lifecycle.hinted(match, undefined)
  }
  const endTimes = createEndTimes({
    service,
    allocations,
    clock,
    problem: (error, allocation) => on.problem('status', error, allocation, allocation.requestId),
  })
  const webhooks = createWebhookReceiver({
    clock,
    baseUrl: options.webhookUrl,
    find: byToken,
    tokenOf: ({ tag }) => keys.tokenOf(credentialOf(tag)),
    hinted: lifecycle.hinted,
  })
  const creating = createDeploymentCreation({
    service,
    locations,
    writer,
    resumes,
    governor,
    allocations,
    lifecycle,
    clock,
    random,
    keys,
    maxCreatesInFlight: options.maxCreatesInFlight,
    ownTag,
    webhookUrlOf: webhooks.urlOf,
    apiUrl: options.apiUrl,
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
      watcher,
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
    adopted: inherited.done,
    problem: (error) => on.problem('store', error),
  })
  const count = () => allocations.count() + lifecycle.strays()
  const isBroken = () => writer.isBehind() || recovery.isFailing()

  const drop: Allocator['drop'] = (allocation, reason) => {
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
  const drainServer: Allocator['drainServer'] = (serverId) => {
    const server = findServer(serverId)
    if (server === undefined) return false
    if (server.unwanted !== undefined || server.drainAsked) return true
    server.drainAsked = true
    void writer.note({ kind: 'draining', matchId: serverId })
    // One that has not registered, and serves no match but its own, is stopped after that in any case.
    if (server.pool !== undefined || gameServers.find(serverId) !== undefined) gameServers.drain(server, 'operator')
    return true
  }

  /** @throws {ServerGone} */
  const serverOf = (token: string) => {
    const server = byToken(token)
    if (server === undefined) throw new ServerGone('This server is not wanted any more. End its process.')
    return server
  }

  /** Servers that may be created, besides so many that will be. */
  const roomFor = (coming: number, now: number): number => {
    if (isBroken()) return 0
    // Strays cost as much as servers of matches, so they count.
    return governor.room({ count: count() + coming, startingCount: allocations.startingCount() + coming }, now)
  }
  const roomNow = (now: number) => roomFor(hosted.needingServers(), now)

  const endAll = () => {
    recovery.close()
    watcher.close()
    lifecycle.close()
    listening.close()
    rejectAll(allocations.all())
  }

  return {
    recovery,

    // A server that the store cannot record would be lost after a crash, so none is created.
    room: (now, pool) => {
      const room = roomNow(now)
      return pool === undefined || isBroken() ? room : room + hosted.freePlaces(pool)
    },

    allocate: (match, order) => {
      const allocation = newAllocation(match, order)
      return order.pool === undefined ? creating.begin(allocation) : hosted.begin(allocation)
    },

    drop,

    find: (matchId) => allocations.find(matchId),
    matches: () => allocations.all(),
    count,
    playedBy: allocations.playedBy,
    setPlayers: (allocation, playerIds) => {
      allocations.setPlayers(allocation, playerIds)
      writer.note({ kind: 'players', matchId: allocation.matchId, playerIds })
    },

    hint: (requestId) => watcher.hint(requestId),
    // Before, every webhook would be one of an unknown match.
    webhook: async (request) =>
      recovery.isDone()
        ? webhooks.receive(request)
        : new Response(null, { status: 503, headers: { 'retry-after': '1' } }),
    isServerSecret: (secret) => keys.credentialIn(secret) !== undefined,
    isSecretOf: isTokenOf,
    serverReady: (matchId, secret) => {
      const allocation = allocations.find(matchId)
      if (allocation === undefined || !isTokenOf(matchId, secret)) return false
      serverAccepted(allocation)
      return true
    },
    playerCame: (matchId, secret, playerId) => {
      const allocation = allocations.find(matchId)
      if (allocation === undefined || !isTokenOf(matchId, secret)) return false
      if (allocation.playerIds.includes(playerId)) allocation.joinBy = Infinity
      return true
    },

    registerServer: (token, registration) => gameServers.register(serverOf(token), registration),
    reportServer: (token, report) => {
      browser.assertListing(report)
      const server = serverOf(token)
      const before = matchesOn(server).map(({ matchId }) => matchId)
      return { orders: gameServers.report(server, report), before }
    },
    waitForOrders: async (token, wait) => gameServers.waitForOrders(serverOf(token), wait),
    joinToken: (grant) => signer.grant(grant, clock.now()),
    joinKeys: signer.keySet,
    *gameServers() {
      for (const server of gameServers.all()) yield serverViewOf(server, pools.placeNameOf, browser.listing(server.id))
    },
    drainServer,
    findServer,
    browser,
    pools,

    advance: (now) => {
      // Before the store is read, every deployment would look like a stray.
      if (recovery.isDone()) watcher.look(now)
      writer.advance(now)
      endTimes.advance(now)
      lifecycle.advance(now)
      creating.advance(now)
      gameServers.advance(now)
      hosted.advance(now)
      browser.advance(now)
    },

    recorded: (matchId) => writer.written(matchId),
    whenEnded,
    giveUpSooner: () => lifecycle.giveUpSooner(),
    creates: creating,
    close: async () => {
      endAll()
      await writer.close().catch((error: unknown) => on.problem('store', error))
    },
    abandon: endAll,
    stopsPending: lifecycle.stopsPending,
    held: () => (isBroken() ? 'store' : governor.held()),
    pausedUntil: governor.pausedUntil,
  }
}

/** Whether the deployment of an allocation serves its match, or may soon. */
const isServing = ({ phase, unwanted }: Allocation) =>
  unwanted === undefined && (phase === 'starting' || phase === 'warming' || phase === 'running')
