import type { Clock } from '@muster/core/clock'
import { eventStream, Problem, type StreamEvent } from '@muster/core/http'
import { linkedSignal, whenKnown, type Awaitable } from '@muster/core/runtime'
import { isSettled, type FollowedUntil, type Ticket } from '../tickets/ticket.js'
import { isBackend, type TicketCaller } from './caller.js'
import { parseSeatId, seatOf, type Seat } from './seats.js'
import type { TicketService } from './service.js'
import { ticketView, type TicketView } from './views.js'
import { changeOrTimeout, type OpenWaits } from './open-waits.js'
import type { PresenceReporter } from './presence.js'

/** Reads tickets: at once, by long poll, or as a stream. */
export interface Reading {
  /**
   * The caller's ticket.
   * @throws {Problem} 404, also for tickets of other players, so that nobody learns which tickets exist.
   */
  seat(id: string, caller: TicketCaller): Awaitable<Seat>
  /** Reads a ticket without waiting. */
  read(seat: Seat, caller: TicketCaller): TicketView
  poll(seat: Seat, wait: PollWait): Promise<TicketView>
  stream(seat: Seat, wait: StreamWait): Response
}

export interface StreamWait {
  readonly caller: TicketCaller
  /** The version that the client knows. */
  readonly version: number | undefined
  readonly until: FollowedUntil | undefined
  readonly signal: AbortSignal
}

export interface PollWait extends StreamWait {
  readonly waitMs: number
}

export interface ReadingOptions {
  readonly waits: OpenWaits
  readonly presence: PresenceReporter
  readonly clock: Clock
}

export type Readable = Pick<TicketService, 'getTicket' | 'waitForChange' | 'estimateWait'>

const gone = () => new Problem(404, 'no-such-ticket', 'there is no such ticket, or it is not yours')

export function createReading(service: Readable, { waits, presence, clock }: ReadingOptions): Reading {
  const again = async ({ ticket, index }: Seat): Promise<Seat> => {
    const now = await service.getTicket(ticket.id)
    if (now === undefined) throw gone()
    return { ticket: now, index }
  }

  const view = (seat: Seat) => ticketView(seat, service)

  return {
    seat: (id, caller) => {
      const { ticketId, index } = parseSeatId(id)
      return whenKnown(service.getTicket(ticketId), (ticket) => {
        const seat = ticket && seatOf(ticket, index, isBackend(caller) ? undefined : caller.id)
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
      const over = linkedSignal(signal)
      const leave = waits.enter(caller, over.abort)
      const left = presence.waits(seat.ticket, caller)
      try {
        await changeOrTimeout(service, clock, { ticketId: seat.ticket.id, version, until, waitMs, signal: over.signal })
      } catch (error) {
        // Another wait of the player took the place of this one, which is answered as if its time were over.
        if (signal.aborted || !over.signal.aborted) throw error
      } finally {
        over.unlink()
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
    data: ticketView({ ...seat, ticket }, service),
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
