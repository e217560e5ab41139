import type { Slot } from '../kernel/model.js'
import type { Roster } from '../rosters/roster.js'
import type { RuleTicket } from '../rules/facts.js'
import type { Lane } from '../tickets/lane.js'
import type { Backfill, BackfillStatus } from './backfill.js'

/** A backfill as the matchmaker keeps it. Only `createBackfills` changes it. */
export interface BackfillRecord {
  readonly id: string
  readonly roster: Roster
  /** Epoch milliseconds: rules relax with its waiting time, too, from where they were when the match was found. */
  readonly createdAt: number
  readonly priority: number
  version: number
  status: BackfillStatus
  /** For each team of the roster, how many more players it takes. */
  rooms: readonly number[]
  /** For each team, who is in it. */
  present: readonly (readonly RuleTicket[])[]
  /** Ids of those that came through it. */
  readonly tickets: string[]
  /** While it is open: where it waits. */
  waiting: { readonly lane: Lane; readonly slot: Slot } | undefined
}

/** What may be seen of it. */
export const backfillOf = (record: BackfillRecord): Backfill => ({
  id: record.id,
  version: record.version,
  matchId: record.roster.matchId,
  queue: record.roster.queue.name,
  status: record.status,
  createdAt: record.createdAt,
  teams: record.roster.teams.map(({ name }, team) => ({
    name,
    slots: record.rooms[team] ?? 0,
    players: (record.present[team] ?? []).flatMap(({ players }) => players.map(({ id }) => id)),
  })),
  tickets: [...record.tickets],
})
