import { createTicker, type Ticker } from '@muster/core/runtime'
import { createAllocator } from './servers/allocator.js'
import type { Allocation } from './servers/records/allocation.js'
import { createBackfilling } from './commands/backfill-commands.js'
import { createBackfills } from './matches/backfill/backfills.js'
import { createClosing } from './commands/close.js'
import { MatchmakerClosed } from './errors.js'
import { createBeaconDirectory } from './beacons.js'
import { createEvents } from './events.js'
import { createHandover } from './commands/handover.js'
import { inspect } from './commands/inspection.js'
import type { Matchmaker } from './commands/matchmaker.js'
import { configure, defineQueues, type MatchmakerOptions } from './options.js'
import type { Queue } from './queues/queue.js'
import { createMatching } from './commands/match-commands.js'
import { createMatchLifecycle, type MatchLifecycle } from './matches/match-lifecycle.js'
import { createPlacing, placedOf } from './matches/placing.js'
import { createRounds } from './matches/rounds.js'
import { matchmakerTag } from './servers/records/tags.js'
import { createTick } from './matches/tick.js'
import { createExplaining } from './commands/explain-command.js'
import { createQueueRuntime } from './tickets/queue-runtime.js'
import type { QueueRuntime } from './tickets/records.js'
import { ticketOf } from './tickets/ticket-view.js'
import { createLocating } from './tickets/locating.js'
import { createTicketing } from './commands/ticket-commands.js'
import { createPlayerLimits } from './tickets/player-limits.js'
import { createTickets } from './tickets/tickets.js'

/**
 * Creates a matchmaker: it groups tickets into matches and gets a server for each match.
 * @throws {InvalidInput} naming the option and the value.
 */
export function createMatchmaker(options: MatchmakerOptions): Matchmaker {
  const config = configure(options)
  const { clock, random, stopwatch, keepEndedMs } = config
  const events = createEvents()
  let isClosed = false

  /** Tickets have arrived in a queue that makes matches at arrival: tickets added in one call count as one arrival. */
  const arrived = (runtime: QueueRuntime) => {
    if (running === undefined) return
    queueMicrotask(
      () => void tick.arrived(runtime).catch((error: unknown) => events.emit('problem', { during: 'tick', error })),
    )
  }
  const ruleFailed = (error: Error) => events.emit('problem', { during: 'rule', error })
  const inOperation = (queues: readonly Queue[]): ReadonlyMap<string, QueueRuntime> =>
    new Map(queues.map((queue) => [queue.name, createQueueRuntime(queue, arrived, ruleFailed)]))
  let runtimes = inOperation(config.queues)

  const limits = createPlayerLimits(config)
  const tickets = createTickets({
    runtimes,
    locatePlayers: createLocating(config.locate, (error) => events.emit('problem', { during: 'locate', error })),
    limits,
    locateTimeoutMs: config.locateTimeoutMs,
    keepEndedMs,
    events,
    clock,
    random,
  })
  const backfills = createBackfills({ runtimes, keepEndedMs, events, clock, random })

  const named = ({ matchId, queue }: Allocation) => ({ matchId, queue })
  const end = ({ matchId }: Allocation, why: Parameters<MatchLifecycle['dissolve']>[1]) => {
    const match = lifecycle.find(matchId)
    if (match !== undefined) lifecycle.dissolve(match, why, clock.now())
  }
  const allocator = createAllocator({
    service: config.deployments,
    locations: config.locations,
    journal: config.journal,
    clock,
    random,
    ownTag: matchmakerTag(config.name),
    bound: config,
    maxCreatesInFlight: config.maxCreatesInFlight,
    readsPerSecond: config.readsPerSecond,
    listLagMs: config.listLagMs,
    reapAfterMs: config.reapAfterMs,
    webhookUrl: config.webhookUrl,
    on: {
      created: (allocation, requestId) => {
        // Creates repeated elsewhere for lack of capacity are not the players' doing, so only the first counts against
        // their limits. Servers created by an earlier process were counted there.
        if (allocation.order !== undefined && allocation.tries.length === 1)
          limits.served(allocation.playerIds, clock.now())
        events.emit('deploymentCreated', { ...named(allocation), requestId })
      },
      up: (allocation, requestId, unseenMs) =>
        events.emit('deploymentReady', {
          ...named(allocation),
          requestId,
          startMs: clock.now() - allocation.knownAt,
          unseenMs,
          placed: placedOf(allocation),
        }),
      ready: ({ matchId }, requestId, assignment) => lifecycle.ready(matchId, requestId, assignment, clock.now()),
      failed: (allocation, reason, counts) => end(allocation, { reason, counts }),
      stopped: (allocation, requestId, reason) => {
        // Only the allocation's own server ends the match; stray servers with its tag do not.
        if (requestId === allocation.requestId) end(allocation, { reason: 'stopped' })
        events.emit('deploymentStopped', { ...named(allocation), requestId, reason })
      },
      reaped: (requestId) => events.emit('deploymentReaped', { requestId }),
      problem: (during, error, allocation, requestId) =>
        events.emit('problem', { during, error, matchId: allocation?.matchId, requestId }),
    },
  })
  const placing = createPlacing({
    beacons:
      config.beacons &&
      createBeaconDirectory(config.beacons, clock, (error) => events.emit('problem', { during: 'beacons', error })),
    unplaced: ({ matchId }, error) => events.emit('problem', { during: 'beacons', error, matchId }),
  })
  const lifecycle = createMatchLifecycle({ tickets, backfills, allocator, events, random, placing })
  const rounds = createRounds({ runtimes: () => runtimes.values(), tickets, budgetMs: config.tickBudgetMs })
  const tick = createTick({
    tickets,
    backfills,
    rounds,
    lifecycle,
    allocator,
    events,
    clock,
    stopwatch,
    isClosed: () => isClosed,
  })

  const refuseIfClosed = () => {
    if (isClosed) throw new MatchmakerClosed('the matchmaker is closed')
  }
  const ticketing = createTicketing({ tickets, lifecycle, clock, refuseIfClosed })
  const { running: runningMatch, ...matching } = createMatching({
    lifecycle,
    allocator,
    runtime: (queue) => runtimes.get(queue),
    events,
    clock,
  })
  const handover = createHandover({ tickets, clock, refuseIfClosed })
  const close = createClosing({ tickets, lifecycle, allocator, clock })

  /** The ticker between `start` and `stop`; undefined otherwise. */
  let running: Ticker | undefined
  const tickOnce = () => tick.all().catch((error: unknown) => events.emit('problem', { during: 'tick', error }))
  const stop = async (): Promise<void> => {
    const ticker = running
    running = undefined
    await ticker?.stop()
  }

  return {
    ...ticketing,
    ...matching,
    ...createBackfilling({ backfills, running: runningMatch, clock }),
    ...handover,
    playerMayState: (queue) => runtimes.get(queue)?.playerMayState,
    queueNames: () => [...runtimes.keys()],
    explain: createExplaining({ tickets, clock, held: allocator.held, find: allocator.find }),

    reconfigure: (definitions) => {
      runtimes = inOperation(defineQueues(definitions))
      const refused = tickets.moveTo(runtimes, clock.now())
      backfills.moveTo(runtimes)
      return { refused: refused.map(({ record, queue, error }) => ({ ticket: ticketOf(record), queue, error })) }
    },

    hint: (requestId) => allocator.hint(requestId),
    webhook: (request) => allocator.webhook(request),
    serverReady: (matchId, secret) => allocator.serverReady(matchId, secret),
    isServerSecret: (secret) => allocator.isServerSecret(secret),
    on: (event, listener) => events.on(event, listener),
    tick: tick.all,

    start: () => {
      if (running !== undefined || isClosed) return
      running = createTicker({ clock, everyMs: config.tickMs, tick: tickOnce, atOnce: true, isNeeded: () => true })
      running.wake()
    },
    stop,

    inspect: () =>
      inspect({
        runtimes: runtimes.values(),
        tickets: tickets.all(),
        matches: lifecycle.all(),
        allocator,
        now: clock.now(),
      }),

    close: async (given) => {
      isClosed = true
      await stop()
      return close(given)
    },
  }
}
