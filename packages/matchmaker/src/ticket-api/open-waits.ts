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
        throw new Problem(503, 'busy', 'too many wait already: ask without waiting', { retryAfterMs: 5000 })
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
