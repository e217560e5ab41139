import { createAllocator } from './allocation/allocator.js'
import type { Match } from './allocation/match.js'
import { createBackfilling } from './backfill/backfilling.js'
import { createBackfills } from './backfill/backfills.js'
import { createClosing } from './closing.js'
import { MatchmakerClosed } from './errors.js'
import { createEvents } from './events.js'
import { createHandover } from './handover/handover.js'
import { inspect } from './inspection.js'
import type { Matchmaker } from './matchmaker.js'
import { configure, defineQueues, type MatchmakerOptions } from './options.js'
import type { Queue } from './queues/queue.js'
import { createMatching } from './rosters/matching.js'
import { createMatchLives, type MatchLives } from './rosters/match-lives.js'
import { createRounds } from './rounds.js'
import { matchmakerTag } from './tags.js'
import { createTick } from './tick.js'
import { createExplaining } from './tickets/explaining.js'
import { createLane, type Lane } from './tickets/lane.js'
import { createLocating } from './tickets/locating.js'
import { ticketOf } from './tickets/record.js'
import { createTicketing } from './tickets/ticketing.js'
import { createTickets } from './tickets/tickets.js'

/** Brings tickets together and gets a server for each match. @throws {InvalidInput} naming the option and the value. */
export function createMatchmaker(options: MatchmakerOptions): Matchmaker {
  const config = configure(options)
  const { clock, random, stopwatch, keepEndedMs } = config
  const events = createEvents()
  let isClosed = false

  /** Tickets came into a queue that makes matches at arrival: all that come in one go are one arrival. */
  const arrived = (lane: Lane) => {
    if (running === undefined) return
    queueMicrotask(() => void tick.arrived(lane).catch((error: unknown) => events.emit('problem', { during: 'tick', error })))
  }
  const ruleFailed = (error: Error) => events.emit('problem', { during: 'rule', error })
  const inOperation = (queues: readonly Queue[]): ReadonlyMap<string, Lane> =>
    new Map(queues.map((queue) => [queue.name, createLane(queue, arrived, ruleFailed)]))
  let lanes = inOperation(config.queues)

  const tickets = createTickets({
    lanes,
    locatePlayers: createLocating(config.locate, (error) => events.emit('problem', { during: 'locate', error })),
    locateTimeoutMs: config.locateTimeoutMs,
    keepEndedMs,
    events,
    clock,
    random,
  })
  const backfills = createBackfills({ lanes, keepEndedMs, events, clock, random })

  const named = ({ matchId, queue }: Match) => ({ matchId, queue })
  const end = ({ matchId }: Match, why: Parameters<MatchLives['dissolve']>[1]) => {
    const roster = lives.find(matchId)
    if (roster !== undefined) lives.dissolve(roster, why, clock.now())
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
      created: (match, requestId) => events.emit('deploymentCreated', { ...named(match), requestId }),
      up: (match, requestId, unseenMs) =>
        events.emit('deploymentReady', { ...named(match), requestId, startMs: clock.now() - match.knownAt, unseenMs }),
      ready: ({ matchId }, requestId, assignment) => lives.ready(matchId, requestId, assignment, clock.now()),
      failed: (match, reason, counts) => end(match, { reason, counts }),
      stopped: (match, requestId, reason) => {
        // Its own server; others with its tag do not matter to it.
        if (requestId === match.requestId) end(match, { reason: 'stopped' })
        events.emit('deploymentStopped', { ...named(match), requestId, reason })
      },
      reaped: (requestId) => events.emit('deploymentReaped', { requestId }),
      problem: (during, error, match, requestId) => events.emit('problem', { during, error, matchId: match?.matchId, requestId }),
    },
  })
  const lives = createMatchLives({ tickets, backfills, allocator, events, random })
  const rounds = createRounds({ lanes: () => lanes.values(), tickets, budgetMs: config.tickBudgetMs })
  const tick = createTick({ tickets, backfills, rounds, lives, allocator, events, clock, stopwatch, isClosed: () => isClosed })

  const refuseIfClosed = () => {
    if (isClosed) throw new MatchmakerClosed('the matchmaker is closed')
  }
  const ticketing = createTicketing({ tickets, lives, clock, refuseIfClosed })
  const { running: runningMatch, ...matching } = createMatching({
    lives,
    allocator,
    lane: (queue) => lanes.get(queue),
    events,
    clock,
  })
  const handover = createHandover({ tickets, clock, refuseIfClosed })
  const close = createClosing({ tickets, lives, allocator, clock })

  /** The loop that `start` began, and what ends it. */
  let running: { readonly ending: AbortController; readonly ended: Promise<void> } | undefined
  const run = async (signal: AbortSignal): Promise<void> => {
    while (!signal.aborted) {
      await tick.all().catch((error: unknown) => events.emit('problem', { during: 'tick', error }))
      await clock.sleep(config.tickMs, signal).catch(() => {})
    }
  }
  const stop = async (): Promise<void> => {
    const loop = running
    running = undefined
    loop?.ending.abort()
    await loop?.ended
  }

  return {
    ...ticketing,
    ...matching,
    ...createBackfilling({ backfills, running: runningMatch, clock }),
    ...handover,
    explain: createExplaining({ tickets, clock }),

    reconfigure: (definitions) => {
      lanes = inOperation(defineQueues(definitions))
      const refused = tickets.moveTo(lanes, clock.now())
      backfills.moveTo(lanes)
      return { refused: refused.map(({ record, queue, error }) => ({ ticket: ticketOf(record), queue, error })) }
    },

    hint: (requestId) => allocator.hint(requestId),
    webhook: (request) => allocator.webhook(request),
    serverReady: (matchId, secret) => allocator.serverReady(matchId, secret),
    on: (event, listener) => events.on(event, listener),
    tick: tick.all,

    start: () => {
      if (running !== undefined || isClosed) return
      const ending = new AbortController()
      running = { ending, ended: run(ending.signal) }
    },
    stop,

    inspect: () => inspect({ lanes: lanes.values(), tickets: tickets.all(), rosters: lives.all(), allocator, now: clock.now() }),

    close: async (given) => {
      isClosed = true
      await stop()
      return close(given)
    },
  }
}
