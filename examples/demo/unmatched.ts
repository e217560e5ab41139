import type { Clock } from '@muster/core/clock'
import type { LongestWaiting, TicketExplanation } from '@muster/matchmaker'

/** Explains why tickets wait: a matchmaker, or a partition. */
export interface Explaining {
  longestWaiting(limit: number): LongestWaiting | Promise<LongestWaiting>
  explain(ticketId: string): TicketExplanation | Promise<TicketExplanation>
}

/** Collects why players find no match: what prevented a match shortly before the ticket expired. */
export interface Unmatched {
  /** Explains the tickets that will soon expire. */
  look(): Promise<void>
  /** The reason of each ticket, in words that follow a number of players, e.g. `had too few others left`. */
  readonly why: ReadonlyMap<string, string>
}

/** Milliseconds before its expiry at which a ticket is explained, and milliseconds between two calls of `look`. */
const BEFORE_END_MS = 2500
const GAP_MS = 300
/** Maximum number of tickets that one call explains. An explanation takes some tenths of a millisecond. */
const MOST = 60

export function createUnmatched(service: Explaining, expireMs: number, clock: Pick<Clock, 'now'>): Unmatched {
  const why = new Map<string, string>()
  let nextAt = 0
  return {
    why,
    look: async () => {
      const now = clock.now()
      if (now < nextAt) return
      nextAt = now + GAP_MS
      const { tickets } = await service.longestWaiting(MOST * 4)
      const late = tickets.filter(({ createdAt }) => now - createdAt >= expireMs - BEFORE_END_MS)
      const unexplained = late.filter(({ id }) => !why.has(id)).slice(0, MOST)
      // Errors are ignored: a ticket may have ended meanwhile, or another process may lead.
      await Promise.allSettled(unexplained.map(async ({ id }) => why.set(id, reasonIn(await service.explain(id)))))
    },
  }
}

function reasonIn({ waitingFor, queues }: Pick<TicketExplanation, 'waitingFor' | 'queues'>): string {
  const [first] = queues
  if (waitingFor === 'servers') return 'waited for a server'
  if (waitingFor === 'retry') return 'waited after a server that failed'
  if (first === undefined) return 'had a match that came to nothing'
  if (first.blocking?.startsWith('roles') === true) return 'lacked a tank or a healer'
  if (first.lacks > 0 && first.waiting < 20) return 'had too few others left'
  if (first.blocking === undefined) return 'were still searched for'
  return `were kept apart by the rule ${first.blocking}`
}

/**
 * Returns the number of players by reason, the most frequent first: `9 lacked a tank or a healer, 3 had too few others
 * left`.
 */
export function unmatchedText(byReason: Readonly<Record<string, number>>): string {
  return Object.entries(byReason)
    .toSorted(([, one], [, other]) => other - one)
    .map(([reason, players]) => `${players} ${reason}`)
    .join(', ')
}
