import type { Clock } from '@muster/core/clock'
import { BackfillExists, InvalidBackfill, StaleBackfill, UnknownBackfill } from '../errors.js'
import type { Matchmaker } from './matchmaker.js'
import type { BackfillRecord, Match } from '../tickets/records.js'
import { backfillOf } from '../tickets/backfill-view.js'
import { readBackfillChange, readBackfillInput, vacanciesOf } from '../matches/backfill/backfill-input.js'
import type { Backfills } from '../matches/backfill/backfills.js'
import { presentIn } from '../tickets/vacancies.js'

export interface Backfilling {
  readonly backfills: Backfills
  /** Finds a match whose server runs. @throws {UnknownMatch}; {NotRunning} */
  readonly running: (matchId: string) => Match
  readonly clock: Clock
}

/** Creates the commands of a game server about the backfill of its match. */
export function createBackfilling({
  backfills,
  running,
  clock,
}: Backfilling): Pick<Matchmaker, 'createBackfill' | 'getBackfill' | 'updateBackfill' | 'cancelBackfill'> {
  const known = (id: string): BackfillRecord => {
    const record = backfills.find(id)
    if (record === undefined) throw new UnknownBackfill(`there is no backfill ${JSON.stringify(id)}`)
    return record
  }

  return {
    createBackfill: (given) => {
      const { id, matchId, teams, priority } = readBackfillInput(given)
      const before = id === undefined ? undefined : backfills.find(id)
      if (before?.match.matchId === matchId) return backfillOf(before)
      if (before !== undefined) {
        throw new InvalidBackfill(`backfill: id: is that of a backfill of another match, got ${JSON.stringify(id)}`, {
          field: 'id',
        })
      }
      const match = running(matchId)
      if (match.backfill !== undefined) throw new BackfillExists(matchId, match.backfill.id)
      const vacancies = vacanciesOf(teams, {
        teams: match.teams,
        present: presentIn(match.teams, match.placed),
        mayBeMore: match.teamsUnknown,
        now: clock.now(),
      })
      if (vacancies.rooms.every((room) => room === 0)) {
        throw new InvalidBackfill(
          'backfill: teams: no team takes anyone: players who are gone are to be reported by playersLeft',
          { field: 'teams' },
        )
      }
      return backfillOf(backfills.open(match, vacancies, { id, priority }))
    },

    getBackfill: (id) => {
      const record = backfills.find(id)
      return record && backfillOf(record)
    },

    updateBackfill: (id, given) => {
      const { version, teams } = readBackfillChange(given)
      const record = known(id)
      if (record.version !== version || record.status !== 'OPEN') throw new StaleBackfill(id, record.version)
      const { match, present } = record
      const options = { teams: match.teams, present, mayBeMore: match.teamsUnknown, now: clock.now() }
      backfills.change(record, vacanciesOf(teams, options))
      return backfillOf(record)
    },

    cancelBackfill: (id) => {
      const record = known(id)
      backfills.cancel(record)
      return backfillOf(record)
    },
  }
}
