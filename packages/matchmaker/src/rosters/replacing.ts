import type { Allocator } from '../allocation/allocator.js'
import type { Backfills } from '../backfill/backfills.js'
import type { BackfillRecord } from '../backfill/record.js'
import { presentIn, vacated, type Placed, type Vacancies } from '../backfill/vacancies.js'
import { InvalidBackfill } from '../errors.js'
import type { Roster } from './roster.js'

/** Others in place of those who left a match. */
export interface Replacing {
  /**
   * Looks for others in place of those who went, where the queue wants that. False if it does not, if nobody is
   * left whom they could join, or if its rules cannot tell who would fit.
   */
  replace(roster: Roster, gone: readonly Placed[], now: number): boolean
  /** What is open has changed; one that its queue cannot serve any more is cancelled. */
  refresh(backfill: BackfillRecord, vacancies: Vacancies, ticketIds?: readonly string[]): void
  /** Whoever looks after the server after a crash should know who plays on it. Gives them. */
  tellPlayers(roster: Roster, change: (playerIds: readonly string[]) => readonly string[]): readonly string[] | undefined
}

export interface ReplacingOptions {
  readonly backfills: Backfills
  readonly allocator: Pick<Allocator, 'find' | 'setPlayers'>
}

/** In a running match, whoever was about to come is always replaced. */
const isWanted = ({ phase, queue }: Roster): boolean =>
  phase === 'running' || (phase === 'deploying' ? queue.replaceLeavers : queue.acceptance?.replace === true)

/** Whoever goes on declining must not keep the others waiting for longer than their queue lets them. */
const isOverdue = ({ phase, queue, seated }: Roster, now: number): boolean =>
  (phase === 'asking' || phase === 'due') && seated.some(({ createdAt }) => now - createdAt >= queue.expireAfterMs)

export function createReplacing({ backfills, allocator }: ReplacingOptions): Replacing {
  return {
    replace: (roster, gone, now) => {
      if (!isWanted(roster) || isOverdue(roster, now)) return false
      if (roster.placed.length === 0) return roster.phase === 'running'
      const { backfill, teams } = roster
      const vacancies = vacated(backfill ?? { rooms: teams.map(() => 0), present: presentIn(teams, roster.placed) }, gone)
      try {
        if (backfill === undefined) backfills.open(roster, vacancies)
        else backfills.change(backfill, vacancies)
      } catch (error) {
        if (error instanceof InvalidBackfill) return roster.phase === 'running'
        throw error
      }
      if (roster.phase === 'due') roster.phase = 'asking'
      if (roster.phase === 'asking') roster.fullBy = Math.min(roster.fullBy, now + (roster.queue.acceptance?.withinMs ?? 0))
      return true
    },

    refresh: (backfill, vacancies, ticketIds) => {
      try {
        backfills.change(backfill, vacancies, ticketIds)
      } catch (error) {
        if (!(error instanceof InvalidBackfill)) throw error
        backfills.cancel(backfill)
      }
    },

    tellPlayers: ({ matchId }, change) => {
      const match = allocator.find(matchId)
      if (match === undefined) return undefined
      const playerIds = change(match.playerIds)
      allocator.setPlayers(match, playerIds)
      return playerIds
    },
  }
}
