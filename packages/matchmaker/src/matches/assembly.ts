import {
  type Activity,
  createAllocator,
  createPolledSource,
  createServiceSource,
  createEndedMatches,
  createResultOutbox,
  type OutboxRecords,
  type ServerLog,
  matchmakerTag,
  newSecret,
  NO_SERVER_LOG,
} from '@muster/hosting/internal'
import { dateOf } from '@muster/core/clock'
import { createTicker, type Ticker } from '@muster/core/internal'
import { createBackfilling } from './backfill-commands.js'
import { createBackfills } from './backfills.js'
import { createClosing, createHandover, assertCanHandOver } from './handover.js'
import { notReady } from './guard.js'
import { createTick } from './tick.js'
import { MatchmakerClosed } from '../errors.js'
import { createBeaconDirectory } from '../beacons.js'
import { createEvents, createServerEvents } from '../events.js'
import { inspect } from './inspection.js'
import { createSurvey } from './survey.js'
import type { LearnedWaits, Matchmaker } from './matchmaker.js'
import { assertNoService, configure, definePools, defineQueues, type MatchmakerOptions } from '../options.js'
import type { Queue } from '../queues/index.js'
import { createCooldownCommands, createPausing, createResultCommands } from './operator-commands.js'
import { createBeginPrivate, createMatchCreation, createMatching } from './match-commands.js'
import { createHostingOutcomes, createMatchLifecycle } from './match-lifecycle.js'
import { createInheriting, createResuming, type StoredBackfill } from './resume-matches.js'
import { createPlacing } from './match-order.js'
import { createRounds } from './rounds.js'
import {
  createConclude,
  createSeatCommands,
  createServerCommands,
  createServerOutcomes,
  SEATS_QUEUE,
} from './server-commands.js'
import { createEstimating, createExplaining } from './explain-ticket.js'
import {
  createQueueFacts,
  createQueueRuntime,
  type QueueRuntime,
  ticketOf,
  type TicketRecord,
  createLocating,
  createCooldowns,
  createPlayerLimits,
  type Ledger,
  type Loading,
  type PlayedMatch,
  createTicketStore,
} from '../tickets/index.js'
import { createTicketing } from './ticket-commands.js'

/** A matchmaker, and what only those use of it whose tickets outlive their process. */
export interface Assembly {
  readonly matchmaker: Matchmaker
  /** Undefined without a ledger. */
  readonly loading: Loading | undefined
  /** Reads the store, and takes over the matches of an earlier process; see `Recovery`. */
  readonly recover: () => Promise<boolean>
  /** @throws {Unavailable} before that is done; {MatchmakerClosed} if it never will be */
  readonly assertReady: () => void
  readonly loadBackfills: (saved: readonly StoredBackfill[]) => void
  /** All tickets that are kept. */
  readonly tickets: () => Iterable<TicketRecord>
  readonly problem: (during: Activity, error: unknown) => void
  /** Ids of the tickets of a match whose players get the address as soon as its server listens. */
  readonly expected: (matchId: string) => readonly string[]
  readonly learnedWaits: () => readonly LearnedWaits[]
  /** Ends all that is under way and rejects callers that wait, without a request or an entry. */
  readonly abandon: () => void
}

/** Where what happens is written down. */
export interface Kept {
  /** Receives tickets, backfills and cooldowns. Without it, they end with the process. */
  readonly ledger?: Ledger | undefined
  /** Keeps the servers that may exist. Without it, a crash forgets them. */
  readonly serverLog?: ServerLog | undefined
  /** Returns the master secret of the servers' tokens. Default: one of this process. */
  readonly masterSecret?: (() => string) | undefined
  /** See `LeaderOptions.sparesUnknownServers`. */
  readonly sparesUnknownServers?: (() => boolean) | undefined
  /** Keeps results of matches that no backend has taken yet. Default: in memory. */
  readonly resultRecords?: OutboxRecords | undefined
}

/**
 * Puts a matchmaker together from its parts.
 * @throws {InvalidInput} naming the option and the value.
 */
export function assemble(options: MatchmakerOptions, kept: Kept = {}): Assembly {
  const { ledger, serverLog = NO_SERVER_LOG, masterSecret } = kept
  const config = configure(options)
  const { clock, random, stopwatch, endedTicketTtlMs, deployments } = config
  let ownSecret: string | undefined
  const events = createEvents()
  let isClosed = false
  /** While it ticks by itself. */
  let ticker: Ticker | undefined

  /** Tickets have arrived in a queue that makes matches at arrival: tickets added in one call count as one arrival. */
  const arrived = (runtime: QueueRuntime) => {
    if (ticker !== undefined) queueMicrotask(() => void tick.arrived(runtime).catch(tickFailed))
  }
  const problem = (during: Activity, error: unknown, matchId?: string) =>
    events.emit('problem', { during, error, matchId })
  const tickFailed = (error: unknown) => problem('tick', error)
  const ruleFailed = (error: Error) => problem('rule', error)
  const inOperation = (
    queues: readonly Queue[],
    before?: ReadonlyMap<string, QueueRuntime>,
  ): ReadonlyMap<string, QueueRuntime> =>
    new Map(
      queues.map((queue) => [queue.name, createQueueRuntime(queue, arrived, ruleFailed, before?.get(queue.name))]),
    )
  let runtimes = inOperation(config.queues)
  let { pools } = config

  const results =
    config.results &&
    createResultOutbox({
      ...config.results,
      records: kept.resultRecords ?? { stored: () => [], put: () => {}, remove: () => {}, written: () => undefined },
      clock,
      random,
      problem: (error, matchId) => problem('results', error, matchId),
    })
  const conclude = createConclude({ results, events, clock })
  const limits = createPlayerLimits(config, () => allocator.count())
  const cooldowns = createCooldowns({
    began: (cooldown, { name }, offence) => events.emit('cooldownBegan', { queue: name, offence, cooldown }),
    changed: (...change) => ledger?.cooldownChanged(...change),
  })
  const inheriting = createInheriting((queue) => runtimes.get(queue))
  const tickets = createTicketStore({
    runtimes,
    locatePlayers: createLocating(config.locate, (error) => problem('locate', error)),
    limits,
    cooldowns,
    playedBy: (playerId) => playedBy(playerId),
    locateTimeoutMs: config.locateTimeoutMs,
    endedTicketTtlMs,
    events,
    clock,
    random,
    ledger,
    inheriting,
  })
  const backfills = createBackfills({ runtimes, endedTicketTtlMs, events, clock, random, ledger })

  const resuming = createResuming({
    inheriting,
    lifecycle: () => lifecycle,
    backfills,
    ledger,
    tickets,
    placing: (match) => placing(match),
    clock,
  })
  const ended = createEndedMatches()
  const allocator = createAllocator({
    sources: {
      service:
        deployments &&
        createServiceSource({
          service: deployments,
          locations: config.locations,
          clock,
          random,
          ownTag: matchmakerTag(config.name),
          readsPerSecond: config.readsPerSecond,
          listLagMs: config.listLagMs,
          orphanGraceMs: config.orphanGraceMs,
          webhookUrl: config.webhookUrl,
        }),
      others: new Map(
        Object.entries(config.sources).map(([name, own]) => [
          name,
          createPolledSource({ allocator: own, clock, random, lagMs: own.lagMs ?? config.listLagMs }),
        ]),
      ),
    },
    serverLog,
    clock,
    stopwatch,
    random,
    masterSecret: () => config.serverSecret ?? masterSecret?.() ?? (ownSecret ??= newSecret(random)),
    sparesUnknown: kept.sparesUnknownServers,
    joinAlgorithm: config.joinTokens.alg,
    resumes: config.store !== undefined,
    bound: config,
    maxCreatesInFlight: config.maxCreatesInFlight,
    pools: config.pools,
    browser: config.browser,
    seatUnused: (playerId) => cooldowns.count(SEATS_QUEUE, [playerId], 'not-accepted', clock.now()),
    assertMayStart: (playerIds) => {
      for (const playerId of playerIds) limits.check(playerId, 0, clock.now())
    },
    apiUrl: config.apiUrl,
    inherited: resuming,
    ended,
    on: createHostingOutcomes({
      lifecycle: () => lifecycle,
      served: (playerIds) => {
        limits.served(playerIds, clock.now())
        ledger?.served(playerIds)
      },
      games: createServerOutcomes({
        lifecycle: () => lifecycle,
        matching: () => matching,
        backfilling: () => backfilling,
        tickets: () => tickets,
        conclude,
        events,
      }),
      servers: createServerEvents(events),
      events,
      clock,
    }),
  })
  events.on('serverAssigned', ({ tickets: assigned }) =>
    allocator.browser.matched(assigned.flatMap(({ players }) => players.map(({ id }) => id))),
  )
  const placing = createPlacing({
    beacons: config.beacons && createBeaconDirectory(config.beacons, clock, (error) => problem('beacons', error)),
    unplaced: ({ matchId }, error) => problem('beacons', error, matchId),
  })
  const lifecycle = createMatchLifecycle({
    tickets,
    backfills,
    allocator,
    ended,
    events,
    cooldowns,
    random,
    placing,
  })
  const rounds = createRounds({ runtimes: () => runtimes.values(), tickets, budgetMs: config.tickBudgetMs })
  const tick = createTick({
    runtimes: () => runtimes.values(),
    tickets,
    backfills,
    cooldowns,
    rounds,
    beginPrivate: (now) => beginPrivate(now),
    lifecycle,
    allocator,
    results,
    events,
    clock,
    stopwatch,
    isClosed: () => isClosed,
  })

  const assertNotClosed = () => {
    if (isClosed) throw new MatchmakerClosed('The matchmaker is closed.')
  }
  /** Of a match of an earlier process, unless a ticket says the same. */
  const playedBy = (playerId: string): PlayedMatch | undefined => {
    const { id: matchId, queue, assignment } = allocator.playedBy(playerId) ?? {}
    if (matchId === undefined || queue === undefined) return undefined
    const isKnown = tickets.ofPlayer(playerId).some(({ seat }) => seat?.match.matchId === matchId)
    return isKnown ? undefined : { matchId, queue, assignment }
  }
  const ticketing = createTicketing({ tickets, lifecycle, cooldowns, playedBy, clock, assertNotClosed })
  const matching = createMatching({
    lifecycle,
    allocator,
    ended,
    runtime: (queue) => runtimes.get(queue),
    cooldowns,
    events,
    clock,
  })
  const backfilling = createBackfilling({ backfills, running: matching.running, clock })
  const handover = createHandover({ tickets, clock, assertNotClosed })
  const beginPrivate = createBeginPrivate({ tickets, lifecycle })
  const matchCreation = createMatchCreation({
    tickets,
    runtimes: () => runtimes,
    begin: () => {
      if (allocator.recovery.isDone()) beginPrivate(clock.now())
    },
    random,
    assertNotClosed,
  })
  const { store } = config
  const close = createClosing({
    tickets,
    lifecycle,
    allocator,
    store,
    problem: (error) => problem('store', error),
    clock,
  })
  const { learnedWaits, ...estimating } = createEstimating({ tickets, runtimes: () => runtimes, clock })

  const startTicking = () => {
    if (ticker !== undefined || isClosed) return
    ticker = createTicker({
      clock,
      everyMs: config.tickMs,
      tick: () => tick.all().catch(tickFailed),
      atOnce: true,
      isNeeded: () => true,
    })
    ticker.wake()
  }
  const stopTicking = async () => {
    const last = ticker
    ticker = undefined
    await last?.stop()
  }

  const matchmaker: Matchmaker = {
    ...ticketing,
    playersLeft: matching.playersLeft,
    stopMatch: matching.stopMatch,
    ...matchCreation,
    ...createCooldownCommands({ cooldowns, events, clock }),
    ...createPausing({ runtimes: () => runtimes, pools: allocator.pools, events, clock }),
    ...backfilling,
    ...createResultCommands(results),
    ...createServerCommands({ allocator, lifecycle, matching, ended }),
    browserTerms: () => config.browser,
    dateOf: (at) => dateOf(clock, at),
    ...createSeatCommands({
      browser: allocator.browser,
      cooldowns,
      findPlayer: ticketing.findPlayer,
      find: allocator.findServer,
      matching,
      clock,
      assertNotClosed,
    }),
    ...handover,
    ...estimating,
    ...createQueueFacts(() => runtimes),
    explain: createExplaining({ tickets, clock, held: allocator.held, find: allocator.find }),

    reconfigure: (definitions, given) => {
      const next = given?.pools === undefined ? pools : definePools(given.pools, config.sources)
      const queues = defineQueues(definitions, next)
      if (deployments === undefined) assertNoService(queues, next)
      runtimes = inOperation(queues, runtimes)
      if (next !== pools) allocator.pools.reconfigure((pools = next))
      const refused = tickets.replaceQueues(runtimes, clock.now())
      backfills.replaceQueues(runtimes)
      return { refused: refused.map(({ record, queue, error }) => ({ ticket: ticketOf(record), queue, error })) }
    },

    hint: (requestId) => allocator.hint(requestId),
    webhook: (request) => allocator.webhook(request),
    serverReady: (matchId, secret) => allocator.serverReady(matchId, secret),
    playerCame: (matchId, secret, playerId) => allocator.playerCame(matchId, secret, playerId),
    isServerSecret: (secret) => allocator.isServerSecret(secret),
    isSecretOf: (matchId, secret) => allocator.isSecretOf(matchId, secret),
    on: (event, listener) => events.on(event, listener),
    tick: tick.all,

    ready: (signal) => allocator.recovery.ready(signal),
    start: startTicking,
    stop: stopTicking,

    inspect: () =>
      inspect({
        runtimes: runtimes.values(),
        tickets: tickets.all(),
        matches: lifecycle.all(),
        allocator,
        results,
        store,
        now: clock.now(),
      }),

    survey: (wanted) =>
      createSurvey(
        {
          runtimes: runtimes.values(),
          outside: tickets.outside(),
          matches: lifecycle.all(),
          allocator,
          now: () => clock.now(),
        },
        wanted,
      ),

    close: async (given) => {
      assertCanHandOver(given?.handOver, store)
      isClosed = true
      results?.close()
      await stopTicking()
      return close(given)
    },
  }

  return {
    matchmaker,
    loading: tickets.loading,
    recover: allocator.recovery.recover,
    assertReady: () => {
      if (allocator.recovery.isDone()) return
      assertNotClosed()
      if (!allocator.recovery.attempt()) throw notReady(allocator.recovery.isFailing())
    },
    loadBackfills: resuming.loadBackfills,
    tickets: tickets.all,
    problem,
    expected: lifecycle.expected,
    learnedWaits,
    abandon: () => {
      isClosed = true
      results?.close()
      void stopTicking()
      allocator.abandon()
    },
  }
}
