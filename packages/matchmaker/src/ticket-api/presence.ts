import type { Clock } from '@muster/core/clock'
import { createTicker } from '@muster/core/runtime'
import { Unavailable } from '../errors.js'
import type { Sighting } from '../tickets/presence.js'
import { hasEnded, type Ticket } from '../tickets/ticket.js'
import { isBackend, type TicketCaller } from './caller.js'
import type { TicketService } from './service.js'

/** Tells the matchmaker whose clients are there, in queues that ask for it. */
export interface PresenceReporter {
  /** The caller asks about a ticket of their own, now. A backend asks for all of its players. */
  seen(ticket: Ticket, caller: TicketCaller): void
  /**
   * The caller waits for changes of a ticket of their own, by a long poll or an event stream, until the returned
   * function is called; calling it again changes nothing.
   * @param end ends a stream. It is called after twice the time that a queue gives: a client that has vanished without
   *   a word leaves a connection that looks well for long, and one that is there begins another stream.
   */
  waits(ticket: Ticket, caller: TicketCaller, end?: () => void): () => void
}

export interface PresenceReporterOptions {
  readonly service: Pick<TicketService, 'presenceWithinMs' | 'notePresence'>
  readonly clock: Clock
  readonly onError: (error: unknown) => void
}

/** A client that waits. */
interface Waiting {
  readonly queues: readonly string[]
  readonly sighting: Sighting
  /** Epoch milliseconds at which the matchmaker is told again that the client is there. */
  nextAt: number
  /** When its stream is ended; undefined while no queue has asked. */
  endAt: number | undefined
  readonly end: (() => void) | undefined
}

const LOOK_MS = 1000

export function createPresenceReporter({ service, clock, onError }: PresenceReporterOptions): PresenceReporter {
  const waiting = new Set<Waiting>()
  /** How many of them wait for each queue. */
  const inQueue = new Map<string, number>()

  /** Milliseconds for which a client of these queues may be away; Infinity if none of them asks. */
  const withinMs = (queues: Iterable<string>): number => {
    let shortest = Infinity
    for (const queue of queues) shortest = Math.min(shortest, service.presenceWithinMs(queue) ?? Infinity)
    return shortest
  }
  const tell = async (sightings: readonly Sighting[]): Promise<void> => {
    try {
      await service.notePresence(sightings)
    } catch (error) {
      // While no process leads nobody is absent, and whoever leads next gives everybody the whole time.
      if (!(error instanceof Unavailable)) onError(error)
    }
  }

  const look = async () => {
    // Queues may be replaced while clients wait, so what these ask for is looked up each time.
    if (withinMs(inQueue.keys()) === Infinity) return
    const now = clock.now()
    const sightings: Sighting[] = []
    for (const one of waiting) {
      if (now < one.nextAt) continue
      const within = withinMs(one.queues)
      if (within === Infinity) continue
      one.endAt ??= now + 2 * within
      if (now >= one.endAt) one.end?.()
      one.nextAt = now + within / 2
      sightings.push(one.sighting)
    }
    if (sightings.length > 0) await tell(sightings)
  }
  const looking = createTicker({ clock, everyMs: LOOK_MS, tick: look, isNeeded: () => waiting.size > 0 })

  const sightingOf = ({ id, players }: Ticket, caller: TicketCaller): Sighting =>
    players.length === 1 || isBackend(caller) ? { ticketId: id } : { ticketId: id, playerId: caller.id }
  const asks = (queues: readonly string[]) => withinMs(queues) < Infinity

  return {
    seen: (ticket, caller) => {
      if (!hasEnded(ticket) && asks(ticket.queues)) void tell([sightingOf(ticket, caller)])
    },
    waits: (ticket, caller, end) => {
      const sighting = sightingOf(ticket, caller)
      const one: Waiting = { queues: ticket.queues, sighting, nextAt: clock.now(), endAt: undefined, end }
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
        if (asks(one.queues)) void tell([sighting])
      }
    },
  }
}
