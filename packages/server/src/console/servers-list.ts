import type { ServerList, ServerRow } from '@muster/console/wire'
import type { AllocationView } from '@muster/matchmaker'
import type { ConsoleSpending } from './options.js'
import { placeName } from './stories/record-events.js'

/** Servers that one answer lists (our choice). */
const MOST_SERVERS = 1000

/**
 * All servers that exist or may exist, by place, oldest first in each. What a server has cost is counted from when its
 * match asked for it, which is what the service bills at most.
 * @param now epoch milliseconds
 */
export function serverList(matches: readonly AllocationView[], spending: ConsoleSpending, now: number): ServerList {
  const { pricePerMinute, currency = '' } = spending
  const rows = matches.map((match): ServerRow => {
    const { matchId, queue, phase, requestId, assignment, playerIds, at } = match
    const lastedMs = Math.max(0, now - at)
    return {
      matchId,
      requestId: requestId ?? null,
      queue,
      phase,
      place: placeName(assignment?.location) ?? null,
      host: assignment?.fqdn ?? null,
      players: playerIds.length,
      since: Math.floor(at),
      cost: pricePerMinute === undefined ? null : (lastedMs / 60_000) * pricePerMinute,
    }
  })
  rows.sort(byPlaceThenAge)
  return {
    at: Math.floor(now),
    total: rows.length,
    players: rows.reduce((sum, { players }) => sum + players, 0),
    cost: pricePerMinute === undefined ? null : rows.reduce((sum, { cost }) => sum + (cost ?? 0), 0),
    currency,
    servers: rows.slice(0, MOST_SERVERS),
  }
}

/** Servers whose place is not known yet come last. */
const byPlaceThenAge = (one: ServerRow, other: ServerRow): number => {
  if (one.place === other.place) return one.since - other.since
  if (one.place === null) return 1
  if (other.place === null) return -1
  return one.place < other.place ? -1 : 1
}
