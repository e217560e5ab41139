import type { Allocator } from '../servers/allocator.js'
import type { Backfills } from './backfill/backfills.js'
import type { BackfillRecord, Match } from '../tickets/records.js'
import { presentIn, vacated, type Placed, type Vacancies } from '../tickets/vacancies.js'
import { InvalidBackfill } from '../errors.js'

/** Others in place of those who left a match. */
export interface Replacing {
  /**
   * Looks for others in place of those who went, where the queue wants that. False if it does not, if nobody is
   * left whom they could join, or if its rules cannot tell who would fit.
   */
  replace(match: Match, gone: readonly Placed[], now: number): boolean
  /** What is open has changed; one that its queue cannot serve any more is cancelled. */
  refresh(backfill: BackfillRecord, vacancies: Vacancies, ticketIds?: readonly string[]): void
  /** Whoever looks after the server after a crash should know who plays on it. Gives them. */
  tellPlayers(match: Match, change: (playerIds: readonly string[]) => readonly string[]): readonly string[] | undefined
}

export interface ReplacingOptions {
  readonly backfills: Backfills
  readonly allocator: Pick<Allocator, 'find' | 'setPlayers'>
}

/** In a running match, whoever was about to come is always replaced. */
const isWanted = ({ phase, queue }: Match): boolean =>
  phase === 'running' || (phase === 'deploying' ? queue.replaceLeavers : queue.acceptance?.replace === true)

/** Whoever goes on declining must not keep the others waiting for longer than their queue lets them. */
const isOverdue = ({ phase, queue, seated }: Match, now: number): boolean =>
  (phase === 'asking' || phase === 'due') && seated.some(({ createdAt }) => now - createdAt >= queue.expireAfterMs)

export function createReplacing({ backfills, allocator }: ReplacingOptions): Replacing {
  return {
    replace: (match, gone, now) => {
      if (!isWanted(match) || isOverdue(match, now)) return false
      if (match.placed.length === 0) return match.phase === 'running'
      const { backfill, teams } = match
      const vacancies = vacated(backfill ?? { rooms: teams.map(() => 0), present: presentIn(teams, match.placed) }, gone)
      try {
        if (backfill === undefined) backfills.open(match, vacancies)
        else backfills.change(backfill, vacancies)
      } catch (error) {
        if (error instanceof InvalidBackfill) return match.phase === 'running'
        throw error
      }
      if (match.phase === 'due') match.phase = 'asking'
      if (match.phase === 'asking') match.fullBy = Math.min(match.fullBy, now + (match.queue.acceptance?.withinMs ?? 0))
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
      const allocation = allocator.find(matchId)
      if (allocation === undefined) return undefined
      const playerIds = change(allocation.playerIds)
      allocator.setPlayers(allocation, playerIds)
      return playerIds
    },
  }
}
