import type { Clock } from '@muster/core/clock'
import { Problem } from '@muster/core/http'
import { linkedSignal, within } from '@muster/core/runtime'
import type { FollowedUntil, Ticket } from '../tickets/ticket.js'
import { isBackend, type TicketCaller } from './caller.js'
import type { TicketService } from './service.js'

export interface WaitLimits {
  /** Most long polls and event streams that one player may have open. */
  readonly perCaller: number
  /** Most long polls and event streams that may be open in total. */
  readonly inAll: number
}

/** Counts the open long polls and event streams, each of which holds a connection. */
export interface OpenWaits {
  /**
   * Counts a wait that begins.
   * @returns a function that ends the wait; calling it again changes nothing.
   * @throws {Problem} 429 if the player has too many open, 503 if all players together have.
   */
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
  readonly until: FollowedUntil | undefined
  readonly waitMs: number
  readonly signal: AbortSignal
}

/**
 * Resolves when the ticket has another version or has ended, or when the time is over. Rejects with the signal's reason
 * as soon as the signal is aborted.
 */
export async function changeOrTimeout(
  service: Pick<TicketService, 'waitForChange'>,
  clock: Clock,
  { ticketId, version, until, waitMs, signal }: ChangeWait,
): Promise<void> {
  signal.throwIfAborted()
  const over = linkedSignal(signal)
  const changed: Promise<Ticket> = service.waitForChange(ticketId, { version, until, signal: over.signal })
  try {
    await within(changed, waitMs, clock, signal)
  } finally {
    over.unlink()
    over.abort()
    // The wait was aborted, so nobody listens to its rejection.
    changed.catch(() => {})
  }
}
