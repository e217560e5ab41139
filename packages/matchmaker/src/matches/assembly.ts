import {
  type Activity,
  Allocator,
  createPolledSource,
  createServiceSource,
  createEndedMatches,
  ResultOutbox,
  type OutboxRecords,
  type Pool,
  type ServerLog,
  matchmakerTag,
  newSecret,
  NO_SERVER_LOG,
} from '@muster/hosting/internal'
import { type Clock, dateOf } from '@muster/core/clock'
import { createBackfillCommands } from './backfill-commands.js'
import { Backfills } from './backfills.js'
import { createMatchmakerClose, createHandover, readCloseOptions } from './handover.js'
import { Ticks } from './tick.js'
import { MatchmakerClosed, Unavailable } from '../errors.js'
import { createBeaconDirectory } from '../beacons.js'
import { createEvents } from '../events.js'
import { inspect } from './inspection.js'
import { createSurvey } from './survey.js'
import type { LearnedWaits, Matchmaker } from './matchmaker.js'
import {
  assertNoService,
  type Config,
  configure,
  definePools,
  defineQueues,
  type MatchmakerOptions,
} from '../options.js'
import type { Queue } from '../queues/index.js'
import { createCooldownCommands, createPauseCommands, createResultCommands } from './operator-commands.js'
import {
  type BeginPrivate,
  createBeginPrivate,
  createMatchCreation,
  createMatchCommands,
  type MatchCommands,
} from './match-commands.js'
import { createHostingOutcomes } from './hosting-outcomes.js'
import { MatchLifecycle } from './match-lifecycle.js'
import { createInheritedMatches, createMatchRestore, type StoredBackfill } from './restore-matches.js'
import { createPlacing } from './match-order.js'
import { createRounds } from './rounds.js'
import { createSeatCommands, createServerCommands, SEATS_QUEUE } from './server-commands.js'
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
  type Cooldowns,
  type PlayerLimits,
  type Ledger,
  type TicketLoader,
  type PlayedMatch,
  TicketStore,
} from '../tickets/index.js'
import { createTicketCommands } from './ticket-commands.js'

/** A matchmaker, and additional functions for matchmakers whose tickets outlive their process. */
export interface Assembly {
  readonly matchmaker: Matchmaker
  /** Loads tickets of other processes; undefined without a ledger. */
  readonly loading: TicketLoader | undefined
  /** Reads the store, and takes over the matches of an earlier process; see `Recovery`. */
  readonly recover: () => Promise<boolean>
  /**
   * Checks that the matchmaker may answer calls.
   * @throws {Unavailable} until recovery is done; {MatchmakerClosed} if the matchmaker was closed before
   */
  readonly assertReady: () => void
  readonly loadBackfills: (saved: readonly StoredBackfill[]) => void
  /** Returns all stored tickets. */
  readonly tickets: () => Iterable<TicketRecord>
  readonly problem: (during: Activity, error: unknown) => void
  /** Returns the ids of the match's tickets that wait for nothing but its server. */
  readonly expected: (matchId: string) => readonly string[]
  readonly learnedWaits: () => readonly LearnedWaits[]
  /** Ends all running work and rejects waiting callers, without a request or a log entry. */
  readonly abandon: () => void
}

/** The stores that a matchmaker writes to. */
export interface Persistence {
  /** Stores tickets, backfills and cooldowns. Without it, they end with the process. */
  readonly ledger?: Ledger | undefined
  /** Stores the servers that may exist. Without it, a crash forgets them. */
  readonly serverLog?: ServerLog | undefined
  /** Returns the master secret of the servers' tokens. Default: a new secret for this process. */
  readonly masterSecret?: (() => string) | undefined
  /** True if records of servers may be lost; see `LeaderOptions.sparesUnknownServers`. */
  readonly sparesUnknownServers?: (() => boolean) | undefined
  /** Stores match results until a backend takes them. Default: in memory. */
  readonly resultRecords?: OutboxRecords | undefined
}

/**
 * The parts of a matchmaker, created in the order in which they need each other. A part that needs a later part, or the
 * current queues, reads it from this object at each use.
 */
class MatchmakerParts {
  readonly config: Config
  readonly clock: Clock
  readonly ledger: Ledger | undefined
  readonly events = createEvents()
  readonly results: ResultOutbox | undefined
  /** Whether the next process finds the results that the backend has not taken. */
  readonly keepsResults: boolean
  readonly limits: PlayerLimits
  readonly cooldowns: Cooldowns
  readonly tickets: TicketStore
  readonly backfills: Backfills
  readonly resuming: ReturnType<typeof createMatchRestore>
  readonly ended = createEndedMatches()
  readonly allocator: Allocator
  readonly lifecycle: MatchLifecycle
  readonly beginPrivate: BeginPrivate
  readonly ticks: Ticks
  readonly matching: MatchCommands
  readonly backfilling: ReturnType<typeof createBackfillCommands>
  readonly estimating: ReturnType<typeof createEstimating>
  /** The queues in operation, by name. */
  runtimes: ReadonlyMap<string, QueueRuntime>
  #pools: readonly Pool[]
  #isClosed = false

  constructor(options: MatchmakerOptions, persistence: Persistence) {
    const config = configure(options)
    const { clock, random, stopwatch, endedTicketTtlMs } = config
    const { ledger } = persistence
    const { events, ended } = this
    this.config = config
    this.clock = clock
    this.ledger = ledger
    this.#pools = config.pools
    this.runtimes = this.#inOperation(config.queues)
    this.keepsResults = persistence.resultRecords !== undefined
    this.results =
      config.results &&
      new ResultOutbox({
        ...config.results,
        records: persistence.resultRecords ?? {
          stored: () => [],
          put: () => {},
          remove: () => {},
          written: () => undefined,
        },
        clock,
        random,
        problem: (error, matchId) => this.problem('results', error, matchId),
      })
    this.limits = createPlayerLimits(config, () => this.allocator.count())
    this.cooldowns = createCooldowns({
      began: (cooldown, { name }, offence) => events.emit('cooldownBegan', { queue: name, offence, cooldown }),
      changed: (...change) => ledger?.cooldownChanged(...change),
      queues: () => [SEATS_QUEUE, ...Array.from(this.runtimes.values(), ({ queue }) => queue)],
    })
    const { runtimes, limits, cooldowns, results } = this
    const inheriting = createInheritedMatches((queue) => this.runtimes.get(queue))
    const tickets = new TicketStore({
      runtimes,
      locatePlayers: createLocating(config.locate, (error) => this.problem('locate', error)),
      limits,
      cooldowns,
      playedBy: this.playedBy,
      locateTimeoutMs: config.locateTimeoutMs,
      endedTicketTtlMs,
      events,
      clock,
      random,
      ledger,
      inheriting,
    })
    const backfills = new Backfills({ runtimes, endedTicketTtlMs, events, clock, random, ledger })
    const placing = createPlacing({
      beacons:
        config.beacons && createBeaconDirectory(config.beacons, clock, (error) => this.problem('beacons', error)),
      unplaced: ({ matchId }, error) => this.problem('beacons', error, matchId),
    })
    this.tickets = tickets
    this.backfills = backfills
    this.resuming = createMatchRestore({
      inheriting,
      lifecycle: () => this.lifecycle,
      backfills,
      ledger,
      tickets,
      placing,
      clock,
    })
    const allocator = this.#createAllocator(persistence)
    this.allocator = allocator
    events.on('serverAssigned', ({ tickets: assigned }) =>
      allocator.browser.matched(assigned.flatMap(({ players }) => players.map(({ id }) => id))),
    )
    const lifecycle = new MatchLifecycle({ tickets, backfills, allocator, ended, events, cooldowns, random, placing })
    this.lifecycle = lifecycle
    this.beginPrivate = createBeginPrivate({ tickets, lifecycle })
    this.ticks = new Ticks({
      runtimes: () => this.runtimes.values(),
      tickets,
      backfills,
      cooldowns,
      rounds: createRounds({ runtimes: () => this.runtimes.values(), tickets, budgetMs: config.tickBudgetMs }),
      beginPrivate: this.beginPrivate,
      lifecycle,
      allocator,
      results,
      events,
      clock,
      stopwatch,
      tickMs: config.tickMs,
      failed: (error) => this.problem('tick', error),
      isClosed: () => this.#isClosed,
    })
    this.matching = createMatchCommands({
      lifecycle,
      allocator,
      ended,
      runtime: (queue) => this.runtimes.get(queue),
      cooldowns,
      events,
      clock,
    })
    this.backfilling = createBackfillCommands({ backfills, running: this.matching.running, clock })
    this.estimating = createEstimating({ tickets, runtimes: () => this.runtimes, clock })
  }

  problem(during: Activity, error: unknown, matchId?: string): void {
    this.events.emit('problem', { during, error, matchId })
  }

  /** Checks that the matchmaker is open. @throws {MatchmakerClosed} */
  readonly assertNotClosed = (): void => {
    if (this.#isClosed) throw new MatchmakerClosed('The matchmaker is closed.')
  }

  /** Returns the match of an earlier process in which the player plays, unless a ticket already names that match. */
  readonly playedBy = (playerId: string): PlayedMatch | undefined => {
    const { id: matchId, queue, assignment } = this.allocator.playedBy(playerId) ?? {}
    if (matchId === undefined || queue === undefined) return undefined
    const isKnown = this.tickets.ofPlayer(playerId).some(({ seat }) => seat?.match.matchId === matchId)
    return isKnown ? undefined : { matchId, queue, assignment }
  }

  readonly reconfigure: Matchmaker['reconfigure'] = (definitions, given) => {
    const { deployments, sources } = this.config
    const pools = given?.pools === undefined ? this.#pools : definePools(given.pools, sources)
    const queues = defineQueues(definitions, pools)
    if (deployments === undefined) assertNoService(queues, pools)
    this.runtimes = this.#inOperation(queues, this.runtimes)
    if (pools !== this.#pools) this.allocator.pools.reconfigure((this.#pools = pools))
    const refused = this.tickets.replaceQueues(this.runtimes, this.clock.now())
    this.backfills.replaceQueues(this.runtimes)
    return { refused: refused.map(({ record, queue, error }) => ({ ticket: ticketOf(record), queue, error })) }
  }

  /** Stops making matches. */
  async close(): Promise<void> {
    this.#isClosed = true
    await this.ticks.stop()
  }

  #inOperation(
    queues: readonly Queue[],
    before?: ReadonlyMap<string, QueueRuntime>,
  ): ReadonlyMap<string, QueueRuntime> {
    const arrived = (runtime: QueueRuntime) => this.ticks.arrived(runtime)
    const ruleFailed = (error: Error) => this.problem('rule', error)
    return new Map(
      queues.map((queue) => [queue.name, createQueueRuntime(queue, arrived, ruleFailed, before?.get(queue.name))]),
    )
  }

  #createAllocator({ serverLog = NO_SERVER_LOG, masterSecret, sparesUnknownServers }: Persistence): Allocator {
    const { config, clock, limits, cooldowns, resuming, ended } = this
    const { stopwatch, random, deployments } = config
    let ownSecret: string | undefined
    return new Allocator({
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
      sparesUnknown: sparesUnknownServers,
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
      on: createHostingOutcomes(this),
    })
  }
}

/** Returns the public methods, as functions that can be passed around individually. */
function matchmakerOf(parts: MatchmakerParts): Matchmaker {
  const { config, clock, events, results, cooldowns, tickets, ended, allocator, lifecycle, matching, ticks } = parts
  const { playedBy, assertNotClosed } = parts
  const { store } = config
  const runtimes = () => parts.runtimes
  const ticketing = createTicketCommands({ tickets, lifecycle, cooldowns, playedBy, clock, assertNotClosed })
  const close = createMatchmakerClose({
    tickets,
    lifecycle,
    allocator,
    store,
    results,
    keepsResults: parts.keepsResults,
    problem: (during, error) => parts.problem(during, error),
    clock,
  })
  const { estimateWait, estimateQueueWaits } = parts.estimating
  return {
    ...ticketing,
    playersLeft: matching.playersLeft,
    stopMatch: matching.stopMatch,
    ...createMatchCreation({
      tickets,
      runtimes,
      begin: () => {
        if (allocator.recovery.isDone()) parts.beginPrivate(clock.now())
      },
      random: config.random,
      assertNotClosed,
    }),
    ...createCooldownCommands({ cooldowns, events, clock }),
    ...createPauseCommands({ runtimes, pools: allocator.pools, events, clock }),
    ...parts.backfilling,
    ...createResultCommands(results),
    ...createServerCommands({ allocator, lifecycle, matching, ended }),
    browserTerms: () => config.browser,
    dateOf: (at) => dateOf(clock, at),
    ...createSeatCommands({
      browser: allocator.browser,
      cooldowns,
      findPlayer: ticketing.findPlayer,
      find: (serverId) => allocator.findServer(serverId),
      matching,
      clock,
      assertNotClosed,
    }),
    ...createHandover({ tickets, clock, assertNotClosed }),
    estimateWait,
    estimateQueueWaits,
    ...createQueueFacts(runtimes),
    explain: createExplaining({ tickets, clock, allocator }),
    reconfigure: parts.reconfigure,

    hint: (requestId) => allocator.hint(requestId),
    webhook: (request) => allocator.webhook(request),
    serverReady: (matchId, secret) => allocator.serverCalls.serverReady(matchId, secret),
    playerCame: (matchId, secret, playerId) => allocator.serverCalls.playerCame(matchId, secret, playerId),
    isServerSecret: (secret) => allocator.serverCalls.isServerSecret(secret),
    isSecretOf: (matchId, secret) => allocator.serverCalls.isSecretOf(matchId, secret),
    on: (event, listener) => events.on(event, listener),

    ready: (signal) => allocator.recovery.ready(signal),
    tick: () => ticks.tick(),
    start: () => ticks.start(),
    stop: () => ticks.stop(),

    inspect: () =>
      inspect({
        runtimes: runtimes().values(),
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
          runtimes: runtimes().values(),
          outside: tickets.outside(),
          matches: lifecycle.all(),
          allocator,
          now: () => clock.now(),
        },
        wanted,
      ),

    close: async (options = {}) => {
      const given = readCloseOptions(options, store)
      await parts.close()
      return close(given)
    },
  }
}

/**
 * Puts a matchmaker together from its parts.
 * @throws {InvalidInput} naming the option and the value.
 */
export function assemble(options: MatchmakerOptions, persistence: Persistence = {}): Assembly {
  const parts = new MatchmakerParts(options, persistence)
  const { tickets, allocator, lifecycle, resuming, estimating, assertNotClosed } = parts
  const { recovery } = allocator
  return {
    matchmaker: matchmakerOf(parts),
    loading: tickets.loading,
    recover: recovery.recover,
    assertReady: () => {
      if (recovery.isDone()) return
      assertNotClosed()
      if (!recovery.attempt()) throw notReady(recovery.isFailing())
    },
    loadBackfills: resuming.loadBackfills,
    tickets: () => tickets.all(),
    problem: (during, error) => parts.problem(during, error),
    expected: (matchId) => lifecycle.expected(matchId),
    learnedWaits: estimating.learnedWaits,
    abandon: () => {
      parts.results?.close()
      void parts.close()
      allocator.abandon()
    },
  }
}

/** Makes the error for a call before recovery is done. @param isFailing true if reading the store has failed. */
const notReady = (isFailing: boolean): Unavailable =>
  new Unavailable(
    isFailing
      ? 'The store cannot be opened, so the state before the restart is unknown. Muster tries again every second.'
      : 'The state before the restart is still being read from the store. Try again in a second.',
  )
