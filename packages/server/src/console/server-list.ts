import type { PoolRow, ServerList, ServerRow } from '@muster/console/internal'
import type { Inspection } from '@muster/matchmaker'
import { type AllocationView, ENROLLED } from '@muster/matchmaker/internal'
import type { ConsoleSpending, Processes } from './options.js'
import { keyRows, sourceRows } from './server-sources.js'
import { type InspectedServer, mayDrain, placeName } from './stories/index.js'

/** Maximum number of servers in a response, and of matches of each server (our choice). */
const MOST_SERVERS = 1000
const MOST_MATCHES = 8

/**
 * Lists all servers that exist or may exist, by location, the oldest first. The cost of a server is counted from its
 * create, which is the most that the service bills. A match on a server of a pool is listed with that server.
 * @param now epoch milliseconds
 */
export function serverList(
  { matches, servers, pools, enrolments }: Pick<Inspection, 'matches' | 'servers' | 'pools' | 'enrolments'>,
  spending: ConsoleSpending,
  now: number,
  processes?: Processes,
): ServerList {
  const { pricePerMinute, currency = '' } = spending
  const registered = new Map(servers.map((server) => [server.id, server]))
  const guests = guestsByServer(matches)
  const context = { pricePerMinute, now, processes }
  const there = matches.filter(({ hosted }) => hosted === undefined)
  const rows = there
    .map((server) => rowOf(server, registered.get(server.matchId), guests.get(server.matchId) ?? [], context))
    .toSorted(byPlaceThenAge)
  return {
    at: Math.floor(now),
    total: rows.length,
    players: rows.reduce((sum, { players }) => sum + players, 0),
    cost: pricePerMinute === undefined ? null : rows.reduce((sum, { cost }) => sum + (cost ?? 0), 0),
    currency,
    pools: pools.map((pool) => poolRow(pool, pricePerMinute)),
    sources: sourceRows(rows),
    keys: keyRows(enrolments, there),
    servers: rows.slice(0, MOST_SERVERS),
  }
}

/** Returns the matches on servers of pools, by the server's id. */
export function guestsByServer(matches: readonly AllocationView[]): ReadonlyMap<string, readonly AllocationView[]> {
  const guests = new Map<string, AllocationView[]>()
  for (const match of matches) {
    const { serverId } = match.hosted ?? {}
    if (serverId === undefined) continue
    const those = guests.get(serverId)
    if (those === undefined) guests.set(serverId, [match])
    else those.push(match)
  }
  return guests
}

interface RowContext {
  readonly pricePerMinute: number | undefined
  readonly now: number
  readonly processes: Processes | undefined
}

function rowOf(
  server: AllocationView,
  registered: InspectedServer | undefined,
  guests: readonly AllocationView[],
  { pricePerMinute, now, processes }: RowContext,
): ServerRow {
  const { matchId: id, pool, source, enrolled, queue, requestId, assignment, at } = server
  const served = pool === undefined ? [server] : guests
  return {
    id,
    requestId: requestId ?? null,
    pool: pool ?? null,
    source: source ?? null,
    queue: pool === undefined ? queue : (guests[0]?.queue ?? null),
    matches: served.slice(0, MOST_MATCHES).map(({ matchId }) => matchId),
    listing: listingOf(registered),
    state: stateOf(server, registered),
    draining: registered?.draining ?? null,
    mayDrain: mayDrain(server, registered),
    isProcess: requestId !== undefined && processes?.has(requestId) === true,
    place: placeName(assignment?.location) ?? registered?.place ?? null,
    host: enrolled?.name ?? assignment?.fqdn ?? null,
    players: served.reduce((sum, { playerIds }) => sum + playerIds.length, registered?.listing?.seats.taken ?? 0),
    since: Math.floor(at),
    // An enrolled server does not belong to the service, so it has no cost.
    cost:
      pricePerMinute === undefined ? null : source === ENROLLED ? 0 : (Math.max(0, now - at) / 60_000) * pricePerMinute,
  }
}

function listingOf(registered: InspectedServer | undefined): ServerRow['listing'] {
  if (registered?.listing === undefined) return null
  const { name, seats } = registered.listing
  return { name, seats: seats.total, taken: seats.taken, held: seats.held }
}

/** Returns a server's state. The game server's own report is more precise than the state of its deployment. */
function stateOf({ phase, pool }: AllocationView, registered: InspectedServer | undefined): string {
  if (registered === undefined || phase === 'stopping') return phase
  if (registered.state === 'IDLE' && pool !== undefined) return 'warm'
  return registered.state.toLowerCase()
}

const poolRow = (one: Inspection['pools'][number], pricePerMinute: number | undefined): PoolRow => ({
  pool: one.pool,
  place: one.place,
  wanted: one.wanted,
  starting: one.starting,
  warm: one.idle,
  playing: one.playing,
  draining: one.draining,
  asked: one.asked,
  hits: one.hits,
  expectedHit: one.expectedHit ?? null,
  cameLastHour: one.cameLastHour,
  expectedPerHour: one.ratePerHour,
  idleHours: one.idleHours,
  idleCost: pricePerMinute === undefined ? null : one.idleHours * 60 * pricePerMinute,
})

/** Sorts servers by location, then by age. Servers of unknown location come last. */
const byPlaceThenAge = (one: ServerRow, other: ServerRow): number => {
  if (one.place === other.place) return one.since - other.since
  if (one.place === null) return 1
  if (other.place === null) return -1
  return one.place < other.place ? -1 : 1
}
