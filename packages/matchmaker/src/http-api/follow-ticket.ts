import type { Clock } from '@muster/core/clock'
import { Problem } from '@muster/core/http'
import {
  eventStream,
  type StreamEvent,
  type Awaitable,
  createTicker,
  linkedSignal,
  whenKnown,
  within,
} from '@muster/core/internal'
import { Unavailable } from '../errors.js'
import { type PresenceReport, type FollowedUntil, hasEnded, isSettled, type Ticket } from '../tickets/index.js'
import { isBackend, ownOf, type PlayerCaller as TicketCaller, selfOf } from './callers.js'
import type { TicketView } from './schemas.js'
import type { TicketService } from './service.js'
import { parseSeatId, type Seat, seatOf, ticketView } from './ticket-views.js'

interface WaitLimits {
  /** Most long polls and event streams that one player may have open. */
  readonly perCaller: number
  /** Most long polls and event streams that may be open in total. */
  readonly inAll: number
}

/** The open long polls and event streams, each of which holds a connection. */
export interface OpenWaits {
  /**
   * Counts a wait that begins. A player who has too many open loses the oldest of them: its client may be gone, which
   * some servers do not tell.
   * @param end ends the wait, as its time would.
   * @returns a function that says that the wait is over; calling it again changes nothing.
   * @throws {Problem} 503 if all players together have too many open.
   */
  enter(caller: TicketCaller, end: () => void): () => void
  open(): number
}

export function createOpenWaits({ perCaller, inAll }: WaitLimits): OpenWaits {
  /** What ends each wait of a caller, the oldest first. */
  const byCaller = new Map<string, Set<() => void>>()
  let open = 0
  const forget = (id: string, own: Set<() => void>, end: () => void) => {
    if (!own.delete(end)) return
    open -= 1
    if (own.size === 0 && byCaller.get(id) === own) byCaller.delete(id)
  }
  return {
    enter: (caller, given) => {
      const { id } = caller
      const [oldest] = byCaller.get(id) ?? []
      if (oldest !== undefined && (byCaller.get(id)?.size ?? 0) >= perCaller && !isBackend(caller)) {
        forget(id, byCaller.get(id) as Set<() => void>, oldest)
        oldest()
      }
      if (open >= inAll)
        throw new Problem(503, 'busy', 'Too many requests are waiting. Ask without waiting.', { retryAfterMs: 5000 })
      const own = byCaller.get(id) ?? new Set()
      byCaller.set(id, own)
      const end = () => given()
      own.add(end)
      open += 1
      return () => forget(id, own, end)
    },
    open: () => open,
  }
}

/** Reads tickets: at once, by long poll, or as a stream. */
interface Reading {
  /**
   * The caller's ticket.
   * @throws {Problem} 404, also for tickets of other players, so that nobody learns which tickets exist.
   */
  seat(id: string, caller: TicketCaller): Awaitable<Seat>
  /** Reads a ticket without waiting. */
  read(seat: Seat, caller: TicketCaller): TicketView
  poll(seat: Seat, wait: StreamWait & { readonly waitMs: number }): Promise<TicketView>
  stream(seat: Seat, wait: StreamWait): Response
}

interface StreamWait {
  readonly caller: TicketCaller
  /** The version that the client knows. */
  readonly version: number | undefined
  readonly until: FollowedUntil | undefined
  readonly signal: AbortSignal
}

interface ReadingOptions {
  readonly waits: OpenWaits
  readonly presence: PresenceReporter
  readonly clock: Clock
}

type Readable = Pick<TicketService, 'getTicket' | 'waitForChange' | 'estimateWait' | 'joinToken' | 'dateOf'>

const gone = () => new Problem(404, 'no-such-ticket', 'There is no such ticket, or it is not yours.')

export function createReading(service: Readable, { waits, presence, clock }: ReadingOptions): Reading {
  const again = async ({ ticket, index }: Seat): Promise<Seat> => {
    const now = await service.getTicket(ticket.id)
    if (now === undefined) throw gone()
    return { ticket: now, index }
  }

  const view = (seat: Seat) => ticketView(seat, service, service)

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
      presence.seen(seat.ticket, caller)
      return view(seat)
    },

    poll: async (seat, { caller, version = seat.ticket.version, until, waitMs, signal }) => {
      presence.seen(seat.ticket, caller)
      if (waitMs === 0 || version !== seat.ticket.version || isSettled(seat.ticket, until)) return view(seat)
      signal.throwIfAborted()
      const over = linkedSignal(signal)
      const leave = waits.enter(caller, over.abort)
      const left = presence.waits(seat.ticket, caller)
      const changed = service.waitForChange(seat.ticket.id, { version, until, signal: over.signal })
      try {
        await within(changed, waitMs, clock, over.signal)
      } catch (error) {
        // Another wait of the player took the place of this one, which is answered as if its time were over.
        if (signal.aborted || !over.signal.aborted) throw error
      } finally {
        over.unlink()
        over.abort()
        // The wait was aborted, so nobody listens to its rejection.
        changed.catch(() => {})
        leave()
        left()
      }
      return view(await again(seat))
    },

    stream: (seat, { caller, version, until, signal }) => {
      // 204 tells a browser's `EventSource` not to reconnect.
      if (isSettled(seat.ticket, until) && version === seat.ticket.version) return new Response(null, { status: 204 })
      presence.seen(seat.ticket, caller)
      let endStream = () => {}
      const leave = waits.enter(caller, () => endStream())
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

async function* follow(
  service: Readable,
  seat: Seat,
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

/** Reports presence: tells the matchmaker whose clients are connected, in queues with `presence`. */
export interface PresenceReporter {
  /** The caller reads a ticket of their own, now. A backend reads for all of its players. */
  seen(ticket: Ticket, caller: TicketCaller): void
  /**
   * The caller waits for changes of a ticket of their own, by a long poll or an event stream, until the returned
   * function is called; calling it again changes nothing.
   * @param end ends a stream. It is called after twice the time that a queue gives: a client that has vanished without
   *   a word leaves a connection that looks well for long, and one that is there begins another stream.
   */
  waits(ticket: Ticket, caller: TicketCaller, end?: () => void): () => void
}

interface PresenceReporterOptions {
  readonly service: Pick<TicketService, 'presenceWithinMs' | 'notePresence'>
  readonly clock: Clock
  readonly onError: (error: unknown) => void
}

/** A client that waits. */
interface Waiting {
  readonly queues: readonly string[]
  readonly report: PresenceReport
  /** Epoch milliseconds of the next presence report to the matchmaker. */
  nextAt: number
  /** When its stream is ended; undefined while no queue has `presence`. */
  endAt: number | undefined
  readonly end: (() => void) | undefined
}

const LOOK_MS = 1000

export function createPresenceReporter({ service, clock, onError }: PresenceReporterOptions): PresenceReporter {
  const waiting = new Set<Waiting>()
  /** How many of them wait for each queue. */
  const inQueue = new Map<string, number>()

  /** Milliseconds for which a client of these queues may be away; Infinity if none of them has `presence`. */
  const withinMs = (queues: Iterable<string>): number => {
    let shortest = Infinity
    for (const queue of queues) shortest = Math.min(shortest, service.presenceWithinMs(queue) ?? Infinity)
    return shortest
  }
  const tell = async (reports: readonly PresenceReport[]): Promise<void> => {
    try {
      await service.notePresence(reports)
    } catch (error) {
      // While no process leads nobody is absent, and the next leader gives every client the whole time again.
      if (!(error instanceof Unavailable)) onError(error)
    }
  }

  const look = async () => {
    // Queues may be replaced while clients wait, so what these ask for is looked up each time.
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
  const looking = createTicker({ clock, everyMs: LOOK_MS, tick: look, isNeeded: () => waiting.size > 0 })

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
    seen: (ticket, caller) => {
      if (!hasEnded(ticket) && havePresence(ticket.queues)) void tell([reportOf(ticket, caller)])
    },
    waits: (ticket, caller, end) => {
      const report = reportOf(ticket, caller)
      const one: Waiting = { queues: ticket.queues, report, nextAt: clock.now(), endAt: undefined, end }
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
