import type { Clock } from '@muster/core/clock'
import { Problem } from '@muster/core/http'
import { linkedSignal, within } from '@muster/core/runtime'
import type { Ticket } from '../tickets/ticket.js'
import { isBackend, type TicketCaller } from './caller.js'
import type { TicketService } from './service.js'

export interface WaitLimits {
  /** Long polls and event streams that one player may have open. */
  readonly perCaller: number
  /** All that may be open. */
  readonly inAll: number
}

/** Counts the long polls and streams that are open: each holds a connection. */
export interface OpenWaits {
  /** @throws {Problem} 429 or 503. @returns how to end the wait; ending twice is ending once. */
  enter(caller: TicketCaller): () => void
  open(): number
}

export function createOpenWaits({ perCaller, inAll }: WaitLimits): OpenWaits {
  const byCaller = new Map<string, number>()
  let open = 0
  return {
    enter: (caller) => {
      const own = byCaller.get(caller.id) ?? 0
      if (own >= perCaller && !isBackend(caller)) {
        throw new Problem(429, 'too-many-waits', `a player may wait ${perCaller} times at once`, { retryAfterMs: 1000 })
      }
      if (open >= inAll)
        throw new Problem(503, 'busy', 'too many wait already: ask without waiting', { retryAfterMs: 5000 })
      open += 1
      byCaller.set(caller.id, own + 1)
      let left = false
      return () => {
        if (left) return
        left = true
        open -= 1
        const still = (byCaller.get(caller.id) ?? 1) - 1
        if (still === 0) byCaller.delete(caller.id)
        else byCaller.set(caller.id, still)
      }
    },
    open: () => open,
  }
}

export interface ChangeWait {
  readonly ticketId: string
  /** The version that the client knows. */
  readonly version: number
  readonly waitMs: number
  readonly signal: AbortSignal
}

/**
 * Resolves when the ticket has another version or has ended, or the time is over. Rejects with the reason of the signal
 * as soon as it is aborted.
 */
export async function changeOrTimeout(
  service: Pick<TicketService, 'waitForChange'>,
  clock: Clock,
  { ticketId, version, waitMs, signal }: ChangeWait,
): Promise<void> {
  signal.throwIfAborted()
  const over = linkedSignal(signal)
  const changed: Promise<Ticket> = service.waitForChange(ticketId, { version, signal: over.signal })
  try {
    await within(changed, waitMs, clock, signal)
  } finally {
    over.unlink()
    over.abort()
    // The wait is told that it is over, and nobody listens.
    changed.catch(() => {})
  }
}
