import type { Clock } from '@muster/core/clock'
import type { Inherited, OpenIntent, Order } from '@muster/servers'
import type { Match } from '../tickets/records.js'
import { mayWaitWhilePlaying } from '../tickets/admission.js'
import { hasEnded } from '../tickets/ticket.js'
import type { Tickets } from '../tickets/tickets.js'
import { remaining } from '../tickets/vacancies.js'
import type { Ledger } from '../tickets/ledger.js'
import type { Backfills } from './backfill/backfills.js'
import type { SavedBackfill } from './backfill/saved-backfill.js'
import type { Inheriting } from './inheriting.js'
import { playersOf } from './match.js'
import type { MatchLifecycle } from './match-lifecycle.js'
import { orderOf, teamsOf } from './order.js'
import type { FindPlacements } from './placing.js'

export interface ResumingOptions {
  readonly inheriting: Inheriting
  readonly lifecycle: () => Pick<MatchLifecycle, 'adopt' | 'find'>
  readonly backfills: Pick<Backfills, 'restore'>
  readonly ledger: Pick<Ledger, 'backfillChanged'> | undefined
  readonly tickets: Pick<
    Tickets,
    'find' | 'ofPlayer' | 'rejoin' | 'cancel' | 'putBack' | 'plays' | 'left' | 'matchOver'
  >
  readonly placing: (match: Match) => FindPlacements | undefined
  readonly clock: Pick<Clock, 'now'>
}

/** An open backfill as the ledger was told of it. */
export interface StoredBackfill {
  readonly backfillId: string
  readonly text: string
}

export interface Resuming extends Inherited {
  /** Keeps backfills until their matches are taken over. */
  loadBackfills(saved: readonly StoredBackfill[]): void
}

/**
 * Goes on with the matches of an earlier process. A match that runs keeps the tickets that are here. A match whose
 * server does not run yet goes on if all of its players are here; otherwise its tickets search again. So do those of
 * matches for which no server was to be created yet: players who had accepted are asked again.
 */
export function createResuming(options: ResumingOptions): Resuming {
  const { inheriting, lifecycle, backfills, ledger, tickets, placing, clock } = options
  let saved: readonly StoredBackfill[] = []

  const giveUp = (match: Match) => {
    match.phase = 'over'
    const now = clock.now()
    for (const record of match.seated) tickets.putBack(record, 'dissolved', false, now)
    tickets.matchOver(match, 'match-over', now)
  }

  /** Those who play there, by their tickets. */
  const goOnPlaying = (match: Match, playerIds: readonly string[]) => {
    const there = new Set(playerIds)
    const gone = match.placed.flatMap(({ ticket }) => ticket.players.flatMap(({ id }) => (there.has(id) ? [] : [id])))
    if (gone.length > 0) {
      match.placed = remaining(match.placed, new Set(gone))
      tickets.left(match, gone)
    }
    const known = match.placed.reduce((sum, { ticket }) => sum + ticket.players.length, 0)
    match.teamsUnknown = match.teams.length > 1 && known < there.size
  }

  const resumed = (match: Match, { assigned, dropped, queue, playerIds = [], resumption }: OpenIntent): boolean => {
    if (match.phase === 'over' || match.queue.name !== queue || dropped === true) return false
    match.expansionMs = resumption?.expansionMs ?? 0
    if (assigned || match.assignment !== undefined) {
      goOnPlaying(match, playerIds)
      return true
    }
    const here = new Set(playersOf(match.seated))
    return resumption !== undefined && playerIds.length > 0 && playerIds.every((id) => here.has(id))
  }

  const restore = ({ backfillId, text }: StoredBackfill) => {
    const backfill = JSON.parse(text) as SavedBackfill
    const match = lifecycle().find(backfill.matchId)
    if (match === undefined || match.backfill !== undefined) ledger?.backfillChanged(backfillId, undefined)
    else backfills.restore(backfill, match)
  }

  /** The last match that each ticket was in, by the journal. */
  const claims = new Map<string, string>()
  /** Players who play, by the journal. */
  let playing: readonly string[] = []

  /** Puts the match's tickets where the journal has them: it counts, whatever of their states was lost. */
  const rejoin = ({ matchId, queue, ticketIds, playerIds = [], resumption, dropped }: OpenIntent) => {
    if (dropped === true) return
    const now = clock.now()
    const there = new Set(playerIds)
    for (const [index, id] of ticketIds.entries()) {
      const record = tickets.find(id)
      if (record === undefined || claims.get(id) !== matchId || record.seat?.match.matchId === matchId) continue
      if (hasEnded(record) || !record.players.some((player) => there.has(player.id))) continue
      const team = resumption?.teams?.[resumption.teamOf?.[index] ?? 0]
      const match = inheriting.find(matchId, { queue, team, record }, now)
      if (match === undefined) continue
      inheriting.leave(record)
      const seat = tickets.rejoin(record, match, match.teams.findIndex(({ name }) => name === team), now)
      if (seat !== undefined) inheriting.join(match, seat)
    }
  }

  /** Whoever plays does not search, unless the queue lets players do both. */
  const endSearches = () => {
    const now = clock.now()
    for (const record of playing.flatMap((id) => tickets.ofPlayer(id)))
      if (record.status === 'SEARCHING' && !mayWaitWhilePlaying(record.runtimes))
        tickets.cancel(record, 'elsewhere', now)
    playing = []
    claims.clear()
  }

  return {
    expect: (all) => {
      const open = all.filter(({ dropped }) => dropped !== true)
      for (const { matchId, ticketIds } of open) for (const id of ticketIds) claims.set(id, matchId)
      playing = open.flatMap(({ assigned, playerIds = [] }) => (assigned ? playerIds : []))
    },

    assignmentOf: ({ matchId, dropped }) => (dropped === true ? undefined : inheriting.assignmentOf(matchId)),

    orderOf: (open): Order | undefined => {
      rejoin(open)
      const match = inheriting.take(open.matchId)
      if (match === undefined) return undefined
      for (const { ticket } of match.placed) tickets.plays(ticket.id)
      if (!resumed(match, open)) {
        giveUp(match)
        return undefined
      }
      lifecycle().adopt(match)
      return orderOf(match, {
        teamOf: teamsOf(match.seated),
        placements: placing(match),
        secret: open.resumption?.secret,
      })
    },

    done: () => {
      for (const match of inheriting.end()) {
        for (const { ticket } of match.placed) tickets.plays(ticket.id)
        giveUp(match)
      }
      endSearches()
      for (const one of saved) restore(one)
      saved = []
    },

    loadBackfills: (more) => {
      saved = [...saved, ...more]
    },
  }
}
