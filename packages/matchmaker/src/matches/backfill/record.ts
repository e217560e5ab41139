import type { Slot } from '../../kernel/model.js'
import type { Match } from '../match.js'
import type { RuleTicket } from '../../queues/rules/facts.js'
import type { QueueRuntime } from '../../tickets/queue-runtime.js'
import type { Backfill, BackfillStatus } from '../../tickets/backfill.js'

/** A backfill as the matchmaker keeps it. Only `createBackfills` changes it. */
export interface BackfillRecord {
  readonly id: string
  readonly match: Match
  /** Epoch milliseconds: rules relax with its waiting time, too, from where they were when the match was found. */
  readonly createdAt: number
  readonly priority: number
  version: number
  status: BackfillStatus
  /** For each team of the match, how many more players it takes. */
  rooms: readonly number[]
  /** For each team, who is in it. */
  present: readonly (readonly RuleTicket[])[]
  /** Ids of those that came through it. */
  readonly tickets: string[]
  /** While it is open: where it waits. */
  waiting: { readonly runtime: QueueRuntime; readonly slot: Slot } | undefined
}

/** What may be seen of it. */
export const backfillOf = (record: BackfillRecord): Backfill => ({
  id: record.id,
  version: record.version,
  matchId: record.match.matchId,
  queue: record.match.queue.name,
  status: record.status,
  createdAt: record.createdAt,
  teams: record.match.teams.map(({ name }, team) => ({
    name,
    slots: record.rooms[team] ?? 0,
    players: (record.present[team] ?? []).flatMap(({ players }) => players.map(({ id }) => id)),
  })),
  tickets: [...record.tickets],
})
