import { createAllocator } from './allocation/allocator.js'
import { viewOf, type Match, type MatchView } from './allocation/match.js'
import { MatchmakerClosed, TooLate, UnknownMatch, UnknownTicket } from './errors.js'
import { createEvents, type EventName, type Listener } from './events.js'
import { inspect, type Inspection } from './inspection.js'
import { configure, type MatchmakerOptions } from './options.js'
import { matchmakerTag } from './tags.js'
import { createTick } from './tick.js'
import { createLocating } from './tickets/locating.js'
import { ticketOf, type TicketRecord } from './tickets/record.js'
import type { ReturnReason, Ticket, TicketInput } from './tickets/ticket.js'
import { createTickets } from './tickets/tickets.js'
import { createWatcher } from './watching/watcher.js'

export interface CloseOptions {
  /** Also stop the servers on which people play. Default false: they go on, and nobody follows them any more. */
  readonly stopServers?: boolean | undefined
  /** Milliseconds to wait for the service to confirm the stops. Default 60,000. */
  readonly timeoutMs?: number | undefined
}

export interface Matchmaker {
  /**
   * Lets players wait for a match. With the id of an earlier ticket, of the same queue and players, that ticket.
   * @throws {InvalidTicket} naming the field; {UnknownQueue}; {PlayerBusy} naming the other ticket; {MatchmakerClosed}
   */
  createTicket(input: TicketInput): Ticket
  /** Undefined if there is no such ticket, or it ended more than `keepEndedMs` ago. */
  getTicket(id: string): Ticket | undefined
  /**
   * Cancels a ticket, and gives it as it is then; one that was cancelled before stays as it is. Where its match is
   * found already, the match dissolves: the others search again, with their waiting time kept, and the server is stopped.
   * @throws {UnknownTicket}; {TooLate} once the players know where to connect: see `stopMatch`
   */
  cancelTicket(id: string): Ticket
  /**
   * Ends a match and stops its server; resolves when the service has confirmed that. Players who were not told
   * where to connect yet search again.
   * @throws {UnknownMatch}; {MatchmakerClosed} if `close` gave up before the stop was confirmed
   */
  stopMatch(matchId: string): Promise<void>
  /** Something may have happened to a deployment, as a webhook says. Never believed, always looked up. */
  hint(requestId: string): void
  /** Gives a function that ends the subscription. A listener that fails disturbs nobody. */
  on<Name extends EventName>(name: Name, listener: Listener<Name>): () => void
  /** One round; `start` calls it. Resolves when the intents of its matches are in the journal. */
  tick(): Promise<void>
  /** Ticks every `tickMs` until `stop` or `close`. Starting twice is starting once. */
  start(): void
  /** Ticks no more until `start`; resolves when the last tick has ended. Tickets and servers stay as they are. */
  stop(): Promise<void>
  /** How things are: no addresses, no secrets. */
  inspect(): Inspection
  /**
   * Takes no more tickets, cancels those that have no server, and stops what was being deployed for them. Resolves,
   * when all stops are confirmed or the time is over, with the matches whose server may still be there: stop those by hand.
   */
  close(options?: CloseOptions): Promise<readonly MatchView[]>
}

const CLOSE_TIMEOUT_MS = 60_000
/** Milliseconds between two looks at what is left, when closing. */
const CLOSE_STEP_MS = 100

/** Brings tickets together and gets a server for each match. @throws {InvalidInput} naming the option and the value. */
export function createMatchmaker(options: MatchmakerOptions): Matchmaker {
  const { queues, clock, random, name, tickMs, deployments: service, listLagMs, ...config } = configure(options)
  const ownTag = matchmakerTag(name)
  const events = createEvents()
  const closing = new AbortController()

  const tickets = createTickets({
    queues: new Map(queues.map((queue) => [queue.name, queue])),
    locatePlayers: createLocating(config.locate, (error) => events.emit('problem', { during: 'locate', error })),
    locateTimeoutMs: config.locateTimeoutMs,
    keepEndedMs: config.keepEndedMs,
    events,
    clock,
    random,
  })
  const watcher = createWatcher({
    service,
    tag: ownTag,
    clock,
    listLagMs,
    readsPerLook: config.readsPerTick,
    report: (sighting) => allocator.sighted(sighting),
    stranger: (entry) => allocator.listed(entry),
    problem: (during, error, requestId) => events.emit('problem', { during, error, requestId }),
  })

  const named = ({ matchId, queue }: Match) => ({ matchId, queue })
  /** The tickets of a match that have no server yet. */
  const waitingFor = ({ matchId, ticketIds }: Match): TicketRecord[] =>
    ticketIds
      .flatMap((id) => tickets.find(id) ?? [])
      .filter((ticket) => ticket.status === 'MATCH_FOUND' && ticket.matchId === matchId)
  const putBack = (match: Match, reason: ReturnReason, counts: boolean) => {
    for (const record of waitingFor(match)) tickets.putBack(record, reason, counts, clock.now())
  }

  const allocator = createAllocator({
    service,
    journal: config.journal,
    watcher,
    clock,
    random,
    ownTag,
    bound: { maxServers: config.maxServers, maxStarting: config.maxStarting },
    listLagMs,
    on: {
      created: (match, requestId) => events.emit('deploymentCreated', { ...named(match), requestId }),
      ready: (match, requestId, assignment) => {
        const records = waitingFor(match)
        tickets.assign(records, assignment, clock.now())
        events.emit('assigned', { ...named(match), requestId, assignment, tickets: records.map(ticketOf) })
      },
      failed: putBack,
      stopped: (match, requestId, reason) => events.emit('deploymentStopped', { ...named(match), requestId, reason }),
      problem: (during, error, match, requestId) => events.emit('problem', { during, error, matchId: match?.matchId, requestId }),
    },
  })
  const tick = createTick({ queues, tickets, allocator, watcher, events, clock, random, closing: closing.signal })

  /** The loop that `start` began, and what ends it. */
  let running: { readonly ending: AbortController; readonly ended: Promise<void> } | undefined
  const run = async (signal: AbortSignal): Promise<void> => {
    while (!signal.aborted) {
      await tick().catch((error: unknown) => events.emit('problem', { during: 'tick', error }))
      await clock.sleep(tickMs, signal).catch(() => {})
    }
  }
  const stop = async (): Promise<void> => {
    const loop = running
    running = undefined
    loop?.ending.abort()
    await loop?.ended
  }

  /** First the server, so that whoever hears of the tickets finds the match gone. */
  const dissolve = (match: Match, reason: 'dissolved' | 'stopped') => {
    allocator.drop(match, reason)
    putBack(match, reason, false)
  }

  return {
    createTicket: (input) => {
      if (closing.signal.aborted) throw new MatchmakerClosed('the matchmaker is closed')
      return ticketOf(tickets.create(input))
    },

    getTicket: (id) => {
      const record = tickets.find(id)
      return record === undefined ? undefined : ticketOf(record)
    },

    cancelTicket: (id) => {
      const record = tickets.find(id)
      if (record === undefined) throw new UnknownTicket(`there is no ticket ${JSON.stringify(id)}`)
      if (record.status === 'HOST_ASSIGNED') throw new TooLate(id, record.matchId ?? '')
      const match = record.status === 'MATCH_FOUND' ? allocator.find(record.matchId ?? '') : undefined
      tickets.cancel(record, 'cancelled', clock.now())
      if (match !== undefined) dissolve(match, 'dissolved')
      return ticketOf(record)
    },

    stopMatch: async (matchId) => {
      const match = allocator.find(matchId)
      if (match === undefined) throw new UnknownMatch(`there is no match ${JSON.stringify(matchId)}`)
      const ended = allocator.whenEnded(match)
      dissolve(match, 'stopped')
      await ended
    },

    hint: (requestId) => watcher.hint(requestId),
    on: (event, listener) => events.on(event, listener),
    tick,

    start: () => {
      if (running !== undefined || closing.signal.aborted) return
      const ending = new AbortController()
      running = { ending, ended: run(ending.signal) }
    },
    stop,

    inspect: () => inspect({ queues, tickets: tickets.all(), matches: allocator.matches(), allocator, now: clock.now() }),

    close: async ({ stopServers = false, timeoutMs = CLOSE_TIMEOUT_MS } = {}) => {
      closing.abort()
      const deadline = clock.now() + timeoutMs
      await stop()
      tickets.cancelSearching('closed', clock.now())
      const dropped = Array.from(allocator.matches()).filter((match) => stopServers || match.phase !== 'running')
      for (const match of dropped) {
        allocator.drop(match, 'closed')
        for (const record of waitingFor(match)) tickets.cancel(record, 'closed', clock.now())
      }
      allocator.giveUpSooner()
      const left = () => dropped.filter((match) => allocator.find(match.matchId) === match)
      while ((left().length > 0 || allocator.stopsPending > 0) && clock.now() < deadline) {
        allocator.advance(clock.now())
        await clock.sleep(CLOSE_STEP_MS)
      }
      watcher.close()
      await allocator.close()
      return left().map(viewOf)
    },
  }
}
