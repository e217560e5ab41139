import type { Backfill } from './backfill.js'
import type { BackfillRecord } from './records.js'

/** The public view of a backfill. */
export const backfillOf = (record: BackfillRecord): Backfill => ({
  id: record.id,
  version: record.version,
  matchId: record.match.matchId,
  queue: record.match.queue.name,
  status: record.status,
  createdAt: Math.floor(record.createdAt),
  teams: record.match.teams.map(({ name }, team) => ({
    name,
    slots: record.rooms[team] ?? 0,
    players: (record.present[team] ?? []).flatMap(({ players }) => players.map(({ id }) => id)),
  })),
  tickets: [...record.tickets],
})
