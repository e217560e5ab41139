import type { Acceptances } from '../acceptance/acceptances.js'
import { deserted, remaining } from '../backfill/vacancies.js'
import type { TicketRecord } from '../tickets/record.js'
import type { CancelReason } from '../tickets/ticket.js'
import type { Tickets } from '../tickets/tickets.js'
import type { MatchLives } from './match-lives.js'
import type { Replacing } from './replacing.js'
import { placed, playersOf, waitingFor, type Roster } from './roster.js'

/** Who leaves a match before it is over, and what becomes of it. */
export interface Leaving {
  /** Tickets without a server leave for good: others are looked for in their place, or the match dissolves. */
  together(roster: Roster, records: readonly TicketRecord[], reason: CancelReason, now: number): void
  /** Players do not play any more. Before the server runs they take their tickets along, as if these were cancelled. */
  players(roster: Roster, playerIds: readonly string[], now: number): void
}

export interface LeavingOptions {
  readonly tickets: Pick<Tickets, 'cancel'>
  readonly acceptances: Pick<Acceptances, 'forget'>
  readonly replacing: Replacing
  readonly dissolve: MatchLives['dissolve']
}

export function createLeaving({ tickets, acceptances, replacing, dissolve }: LeavingOptions): Leaving {
  const together: Leaving['together'] = (roster, records, reason, now) => {
    if (records.length === 0) return
    const gone = placed(records)
    roster.seated = roster.seated.filter((record) => !records.includes(record))
    roster.placed = roster.placed.filter(({ ticket }) => !gone.some((one) => one.ticket === ticket))
    for (const record of records) acceptances.forget(record)
    for (const record of records) tickets.cancel(record, reason, now)
    if (roster.phase === 'over') return
    if (!replacing.replace(roster, gone, now)) {
      const unaccepted = reason === 'declined' || reason === 'not-accepted'
      return dissolve(roster, { reason: unaccepted ? 'not-accepted' : 'dissolved' }, now)
    }
    const left = replacing.tellPlayers(roster, (all) => without(all, new Set(playersOf(records))))
    // The others left while this one was about to come.
    if (roster.phase === 'running' && left?.length === 0) dissolve(roster, { reason: 'dissolved', stop: 'left' }, now)
  }

  const desert = (roster: Roster, gone: ReadonlySet<string>) => {
    replacing.tellPlayers(roster, (all) => without(all, gone))
    roster.placed = remaining(roster.placed, gone)
    if (roster.backfill !== undefined) replacing.refresh(roster.backfill, deserted(roster.backfill, gone))
  }

  return {
    together,
    players: (roster, playerIds, now) => {
      const gone = new Set(playerIds)
      if (roster.phase === 'running') return desert(roster, gone)
      const leaving = waitingFor(roster).filter(({ players }) => players.some(({ id }) => gone.has(id)))
      together(roster, leaving, 'cancelled', now)
    },
  }
}

const without = (all: readonly string[], gone: ReadonlySet<string>) => all.filter((id) => !gone.has(id))
