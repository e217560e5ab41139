import type { Allocator } from '@muster/servers'
import type { Backfills } from './backfill/backfills.js'
import type { BackfillRecord, Match } from '../tickets/records.js'
import { presentIn, vacated, type Placed, type Vacancies } from '../tickets/vacancies.js'
import { InvalidBackfill } from '../errors.js'

/** Looks for players in place of those who left a match. */
export interface Replacing {
  /**
   * Opens a backfill for those who left, if the queue replaces leavers. Returns false if it does not, if nobody is left
   * in the match, or if the rules cannot tell who would fit.
   */
  replace(match: Match, gone: readonly Placed[], now: number): boolean
  /** Updates the open backfill; cancels it if its queue cannot serve it any more. */
  refresh(backfill: BackfillRecord, vacancies: Vacancies, ticketIds?: readonly string[]): void
  /**
   * Writes to the journal who plays on the server, for a process that takes over after a crash. Returns the players.
   */
  tellPlayers(match: Match, change: (playerIds: readonly string[]) => readonly string[]): readonly string[] | undefined
}

export interface ReplacingOptions {
  readonly backfills: Backfills
  readonly allocator: Pick<Allocator, 'find' | 'setPlayers'>
}

/** In a running match, a ticket that was about to join is always replaced. */
const isWanted = ({ phase, queue }: Match): boolean =>
  phase === 'running' || (phase === 'deploying' ? queue.replaceLeavers : queue.acceptance?.replace === true)

/** Repeated declines must not keep the others waiting for longer than their queue allows. */
const isOverdue = ({ phase, queue, seated }: Match, now: number): boolean =>
  (phase === 'asking' || phase === 'due') && seated.some(({ createdAt }) => now - createdAt >= queue.expireAfterMs)

export function createReplacing({ backfills, allocator }: ReplacingOptions): Replacing {
  return {
    replace: (match, gone, now) => {
      if (!isWanted(match) || isOverdue(match, now)) return false
      if (match.placed.length === 0) return match.phase === 'running'
      const { backfill, teams } = match
      const vacancies = vacated(
        backfill ?? { rooms: teams.map(() => 0), present: presentIn(teams, match.placed) },
        gone,
      )
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
