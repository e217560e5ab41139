import type { Clock } from '@muster/core/clock'
import type { LongestWaiting, TicketExplanation } from '@muster/matchmaker'

/** What tells why tickets wait: a matchmaker, or a partition. */
export interface Explaining {
  longestWaiting(limit: number): LongestWaiting | Promise<LongestWaiting>
  explain(ticketId: string): TicketExplanation | Promise<TicketExplanation>
}

/** Why players found no match: of each ticket, what was in the way shortly before its time was over. */
export interface Unmatched {
  /** Looks at those whose time is nearly over. */
  look(): Promise<void>
  /** By ticket, in words that follow a number of players, e.g. `had too few others left`. */
  readonly why: ReadonlyMap<string, string>
}

/** Milliseconds before its end at which a ticket is asked about, and between two looks. */
const BEFORE_END_MS = 2500
const GAP_MS = 300
/** Tickets of one look: an explanation takes some tenths of a millisecond. */
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
      // A ticket may have ended meanwhile, and another process may lead by now.
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

/** Players by why, most first: `9 lacked a tank or a healer, 3 had too few others left`. */
export function unmatchedText(byReason: Readonly<Record<string, number>>): string {
  return Object.entries(byReason)
    .toSorted(([, one], [, other]) => other - one)
    .map(([reason, players]) => `${players} ${reason}`)
    .join(', ')
}
