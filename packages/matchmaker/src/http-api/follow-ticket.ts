import type { Clock } from '@muster/core/clock'
import { Problem } from '@muster/core/http'
import {
  eventStream,
  type StreamEvent,
  type Awaitable,
  createTicker,
  linkedSignal,
  type OpenWaits,
  whenKnown,
  within,
} from '@muster/core/internal'
import { Unavailable } from '../errors.js'
import { type PresenceReport, type FollowedUntil, hasEnded, isSettled, type Ticket } from '../tickets/index.js'
import { isBackend, ownOf, type PlayerCaller as TicketCaller, selfOf } from './callers.js'
import type { TicketView } from './schemas.js'
import type { TicketService } from '../commands.js'
import { parseSeatId, type PlayerTicket, seatOf, ticketView } from './ticket-views.js'

/** Reads tickets: immediately, by long poll, or as a stream. */
interface TicketReader {
  /**
   * Returns the caller's seat in the ticket.
   * @throws {Problem} 404, including for tickets of other players, so that callers cannot find out which tickets exist.
   */
  seat(id: string, caller: TicketCaller): Awaitable<PlayerTicket>
  /** Reads a ticket without waiting. */
  read(seat: PlayerTicket, caller: TicketCaller): TicketView
  poll(seat: PlayerTicket, wait: StreamWait & { readonly waitMs: number }): Promise<TicketView>
  stream(seat: PlayerTicket, wait: StreamWait): Response
}

interface StreamWait {
  readonly caller: TicketCaller
  /** The version that the client knows. */
  readonly version: number | undefined
  readonly until: FollowedUntil | undefined
  readonly signal: AbortSignal
}

interface TicketReaderOptions {
  readonly waits: OpenWaits<TicketCaller>
  readonly presence: PresenceReporter
  readonly clock: Clock
}

type Readable = Pick<TicketService, 'getTicket' | 'waitForChange' | 'estimateWait' | 'joinToken' | 'dateOf'>

const gone = () => new Problem(404, 'no-such-ticket', 'There is no such ticket, or it is not yours.')

export function createTicketReader(service: Readable, { waits, presence, clock }: TicketReaderOptions): TicketReader {
  const again = async ({ ticket, index }: PlayerTicket): Promise<PlayerTicket> => {
    const now = await service.getTicket(ticket.id)
    if (now === undefined) throw gone()
    return { ticket: now, index }
  }

  const view = (seat: PlayerTicket) => ticketView(seat, service, service)

  return {
    seat: (id, caller) => {
      const { ticketId, index } = parseSeatId(id)
      return whenKnown(service.getTicket(ticketId), (ticket) => {
        const seat = ticket && seatOf(ticket, index, selfOf(caller))
        if (seat === undefined) throw gone()
        return seat
      })
    },

    read: (seat, caller) => {
      presence.noteRead(seat.ticket, caller)
      return view(seat)
    },

    poll: async (seat, { caller, version = seat.ticket.version, until, waitMs, signal }) => {
      presence.noteRead(seat.ticket, caller)
      if (waitMs === 0 || version !== seat.ticket.version || isSettled(seat.ticket, until)) return view(seat)
      signal.throwIfAborted()
      const over = linkedSignal(signal)
      const leave = waits.enter(waiterOf(seat, caller), over.abort)
      const left = presence.waits(seat.ticket, caller)
      const changed = service.waitForChange(seat.ticket.id, { version, until, signal: over.signal })
      try {
        await within(changed, waitMs, clock, over.signal)
      } catch (error) {
        // A newer wait of the player replaced this wait, which is therefore answered like a timeout.
        if (signal.aborted || !over.signal.aborted) throw error
      } finally {
        over.unlink()
        over.abort()
        // The wait was aborted. This handler prevents an unhandled rejection.
        changed.catch(() => {})
        leave()
        left()
      }
      return view(await again(seat))
    },

    stream: (seat, { caller, version, until, signal }) => {
      // 204 tells a browser's `EventSource` not to reconnect.
      if (isSettled(seat.ticket, until) && version === seat.ticket.version) return new Response(null, { status: 204 })
      presence.noteRead(seat.ticket, caller)
      let endStream = () => {}
      const leave = waits.enter(waiterOf(seat, caller), () => endStream())
      return eventStream(
        (closed, end) => {
          endStream = end
          const left = presence.waits(seat.ticket, caller, end)
          const over = () => {
            leave()
            left()
          }
          closed.addEventListener('abort', over, { once: true })
          return follow(service, seat, { version, until, signal: closed }, over)
        },
        { clock, signal },
      )
    },
  }
}

/**
 * Returns the caller under which the waits for a ticket are counted. Players who share a token are one caller for each
 * network. Their waits are counted by player instead, so that many players of one network can wait at a time.
 */
const waiterOf = ({ ticket, index }: PlayerTicket, caller: TicketCaller): TicketCaller =>
  caller.shared === undefined ? caller : { ...caller, id: `shared ${ticket.players[index]?.id}` }

async function* follow(
  service: Readable,
  seat: PlayerTicket,
  { version: known, until, signal }: Omit<StreamWait, 'caller'>,
  over: () => void,
): AsyncGenerator<StreamEvent> {
  const event = (ticket: Ticket): StreamEvent => ({
    id: String(ticket.version),
    event: 'ticket',
    data: ticketView({ ...seat, ticket }, service, service),
  })
  try {
    let { ticket } = seat
    if (ticket.version !== known) yield event(ticket)
    while (!isSettled(ticket, until)) {
      ticket = await service.waitForChange(ticket.id, { version: ticket.version, until, signal })
      yield event(ticket)
    }
  } finally {
    over()
  }
}

/** Reports presence: which clients are connected, in queues with `presence`. */
export interface PresenceReporter {
  /** Reports that the caller reads one of their tickets now. A backend reads for all of its players. */
  noteRead(ticket: Ticket, caller: TicketCaller): void
  /**
   * Reports that the caller waits for changes of one of their tickets, by a long poll or an event stream. The returned
   * function ends the report; calling it again changes nothing.
   * @param end ends a stream. Called after twice the queue's presence time, because the connection of a vanished client
   *   can look open for long. A client that is present reconnects.
   */
  waits(ticket: Ticket, caller: TicketCaller, end?: () => void): () => void
}

interface PresenceReporterOptions {
  readonly service: Pick<TicketService, 'presenceWithinMs' | 'notePresence'>
  readonly clock: Clock
  readonly onError: (error: unknown) => void
}

/** A waiting client. */
interface WaitingClient {
  readonly queues: readonly string[]
  readonly report: PresenceReport
  /** Epoch milliseconds of the next presence report to the matchmaker. */
  nextAt: number
  /** Epoch milliseconds at which its stream ends; undefined while no queue has `presence`. */
  endAt: number | undefined
  readonly end: (() => void) | undefined
}

const LOOK_MS = 1000

export function createPresenceReporter({ service, clock, onError }: PresenceReporterOptions): PresenceReporter {
  const waiting = new Set<WaitingClient>()
  /** Number of waiting clients by queue. */
  const inQueue = new Map<string, number>()

  /** Returns the milliseconds that a client of these queues may be away; Infinity if none of them has `presence`. */
  const withinMs = (queues: Iterable<string>): number => {
    let shortest = Infinity
    for (const queue of queues) shortest = Math.min(shortest, service.presenceWithinMs(queue) ?? Infinity)
    return shortest
  }
  const tell = async (reports: readonly PresenceReport[]): Promise<void> => {
    try {
      await service.notePresence(reports)
    } catch (error) {
      // Ignore a missing leader: meanwhile nobody counts as absent, and the next leader starts every client's time
      // anew.
      if (!(error instanceof Unavailable)) onError(error)
    }
  }

  const reportPresences = async () => {
    // A reload may have replaced the queues while clients wait, so look their settings up each time.
    if (withinMs(inQueue.keys()) === Infinity) return
    const now = clock.now()
    const reports: PresenceReport[] = []
    for (const one of waiting) {
      if (now < one.nextAt) continue
      const awayMs = withinMs(one.queues)
      if (awayMs === Infinity) continue
      one.endAt ??= now + 2 * awayMs
      if (now >= one.endAt) one.end?.()
      one.nextAt = now + awayMs / 2
      reports.push(one.report)
    }
    if (reports.length > 0) await tell(reports)
  }
  const looking = createTicker({ clock, everyMs: LOOK_MS, tick: reportPresences, isNeeded: () => waiting.size > 0 })

  const reportOf = ({ id, players }: Ticket, caller: TicketCaller): PresenceReport =>
    players.length === 1 || isBackend(caller)
      ? { ticketId: id }
      : {
          ticketId: id,
          playerId: ownOf(
            caller,
            players.map((player) => player.id),
          ),
        }
  const havePresence = (queues: readonly string[]) => withinMs(queues) < Infinity

  return {
    noteRead: (ticket, caller) => {
      if (!hasEnded(ticket) && havePresence(ticket.queues)) void tell([reportOf(ticket, caller)])
    },
    waits: (ticket, caller, end) => {
      const report = reportOf(ticket, caller)
      const one: WaitingClient = { queues: ticket.queues, report, nextAt: clock.now(), endAt: undefined, end }
      waiting.add(one)
      for (const queue of one.queues) inQueue.set(queue, (inQueue.get(queue) ?? 0) + 1)
      looking.wake()
      return () => {
        if (!waiting.delete(one)) return
        for (const queue of one.queues) {
          const others = (inQueue.get(queue) ?? 1) - 1
          if (others === 0) inQueue.delete(queue)
          else inQueue.set(queue, others)
        }
        if (havePresence(one.queues)) void tell([report])
      }
    },
  }
}
