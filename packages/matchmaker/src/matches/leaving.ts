import type { Acceptances } from './acceptances.js'
import { deserted, remaining } from '../tickets/vacancies.js'
import type { Match, TicketRecord } from '../tickets/records.js'
import { type EndOfMatch, placed, playersOf, waitingFor } from './match.js'
import type { CancelReason } from '../tickets/ticket.js'
import type { Tickets } from '../tickets/tickets.js'
import type { Replacing } from './replacing.js'

/** Removes tickets and players from a match, and replaces them or dissolves the match. */
export interface Leaving {
  /** Removes tickets that have no server yet. Others are looked for in their place, or the match dissolves. */
  together(match: Match, records: readonly TicketRecord[], reason: CancelReason, now: number): void
  /** Removes players. Before the server runs, their tickets are cancelled. */
  players(match: Match, playerIds: readonly string[], now: number): void
}

export interface LeavingOptions {
  readonly tickets: Pick<Tickets, 'cancel' | 'left'>
  readonly acceptances: Pick<Acceptances, 'forget'>
  readonly replacing: Replacing
  readonly dissolve: (match: Match, why: EndOfMatch, now: number) => void
}

export function createLeaving({ tickets, acceptances, replacing, dissolve }: LeavingOptions): Leaving {
  const together: Leaving['together'] = (match, records, reason, now) => {
    if (records.length === 0) return
    const gone = placed(records)
    match.seated = match.seated.filter((record) => !records.includes(record))
    match.placed = match.placed.filter(({ ticket }) => !gone.some((one) => one.ticket === ticket))
    for (const record of records) acceptances.forget(record)
    for (const record of records) tickets.cancel(record, reason, now)
    if (match.phase === 'over') return
    if (!replacing.replace(match, gone, now)) {
      const unaccepted = reason === 'declined' || reason === 'not-accepted'
      return dissolve(match, { reason: unaccepted ? 'not-accepted' : 'dissolved' }, now)
    }
    const left = replacing.tellPlayers(match, (all) => without(all, new Set(playersOf(records))))
    // The others left while this ticket was about to join.
    if (match.phase === 'running' && left?.length === 0) dissolve(match, { reason: 'dissolved', stop: 'left' }, now)
  }

  const desert = (match: Match, gone: ReadonlySet<string>) => {
    tickets.left(match, [...gone])
    replacing.tellPlayers(match, (all) => without(all, gone))
    match.placed = remaining(match.placed, gone)
    if (match.backfill !== undefined) replacing.refresh(match.backfill, deserted(match.backfill, gone))
  }

  return {
    together,
    players: (match, playerIds, now) => {
      const gone = new Set(playerIds)
      if (match.phase === 'running') return desert(match, gone)
      const leaving = waitingFor(match).filter(({ players }) => players.some(({ id }) => gone.has(id)))
      together(match, leaving, 'cancelled', now)
    },
  }
}

const without = (all: readonly string[], gone: ReadonlySet<string>) => all.filter((id) => !gone.has(id))
