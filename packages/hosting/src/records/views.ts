import type { Assignment, StopReason } from './assignment.js'
import type { Intent, Order, Placement, PlayerWhoLeft, Resumption } from './order.js'
import { type HostedMatch, placementOf, type Server, type ServerPhase } from './server.js'
import { matchTag } from './tags.js'

/** Most of those who left a match that are remembered (our choice): the latest ones. */
export const MOST_LEFT = 1000

/** Those who left a match, once its players are others. @param gone players who leave now, at an epoch millisecond */
export function leftAfter(
  before: readonly PlayerWhoLeft[],
  {
    playerIds,
    gone,
    at,
  }: { readonly playerIds: readonly string[]; readonly gone: readonly string[]; readonly at: number },
): readonly PlayerWhoLeft[] {
  if (gone.length === 0 && before.length === 0) return before
  const present = new Set([...playerIds, ...gone])
  const others = before.filter(({ playerId }) => !present.has(playerId))
  return [...others, ...gone.map((playerId) => ({ playerId, at }))].slice(-MOST_LEFT)
}

/** Undefined for a match whose order is not known. */
export const resumptionOf = ({ order, ticketIds, ownServer }: HostedMatch): Resumption | undefined =>
  order && {
    expansionMs: order.expansionMs,
    tries: ownServer?.tries ?? [],
    placements: ownServer?.placements,
    teams: order.teams.map(({ name }) => name),
    teamOf: teamsIn(order, ticketIds),
  }

/** What a later process needs to go on with a server of a pool. */
export const resumptionOfServer = ({ bornFor, order, tries, placements, near }: Server): Resumption | undefined =>
  bornFor !== undefined
    ? resumptionOf(bornFor)
    : order && { expansionMs: 0, tries, placements, ...(near !== undefined && { near }), teams: [] }

function teamsIn({ tickets, teams, teamOf }: Order, ticketIds: readonly string[]): readonly number[] | undefined {
  if (teams.length === 1) return undefined
  // Tickets that have joined or left since the intent are at other places.
  const teamsById = new Map(tickets.map(({ id }, index) => [id, teamOf[index] ?? 0]))
  return ticketIds.map((id) => teamsById.get(id) ?? 0)
}

/** A read-only view of a match and its server, or of a server of a pool, for other modules. */
export interface AllocationView extends Intent {
  readonly playerIds: readonly string[]
  readonly phase: ServerPhase
  /**
   * Why the server is not wanted any more. Its tickets have left the match by then, and its players may be in another.
   * Undefined while it is wanted.
   */
  readonly stopReason?: StopReason | undefined
  readonly requestId: string | undefined
  readonly assignment: Assignment | undefined
  /** Of a match that is served on a server of a pool, and has no deployment of its own. */
  readonly hosted?: HostedView | undefined
  /** By the match's latency rule; undefined without one, or for a deployment of an earlier process. Not for players. */
  readonly placement?: Placement | undefined
}

interface HostedView {
  /** Id of the server; undefined while one is looked for. */
  readonly serverId: string | undefined
  /** Whether it ran already when the match took it; undefined for a match of an earlier process. */
  readonly warm: boolean | undefined
}

/** Of a match with its own server, that is the view of both. */
export const matchViewOf = (match: HostedMatch): AllocationView => {
  const { id: matchId, queue, ticketIds, playerIds, at, phase, requestId, assignment, ownServer, unwanted } = match
  const hosted = { serverId: match.server?.id, warm: match.claim?.isWarm }
  return {
    matchId,
    queue,
    tag: ownServer?.tag ?? matchTag(matchId),
    ticketIds,
    playerIds,
    at,
    phase,
    ...(unwanted !== undefined && { stopReason: unwanted }),
    requestId,
    assignment,
    ...(ownServer === undefined && { hosted }),
    placement: ownServer && placementOf(ownServer),
  }
}

export const poolServerViewOf = (server: Server): AllocationView => {
  const { id: matchId, queue, tag, at, phase, requestId, assignment, pool, source, enrolled, unwanted } = server
  return {
    matchId,
    queue,
    tag,
    ticketIds: [],
    playerIds: [],
    at,
    phase,
    ...(unwanted !== undefined && { stopReason: unwanted }),
    requestId,
    assignment,
    ...(pool !== undefined && { pool }),
    ...(source !== undefined && { source, enrolled }),
    placement: placementOf(server),
  }
}

/** The entry that precedes the search for a server of a pool. */
export const matchIntent = ({ id: matchId, queue, ticketIds, playerIds, at }: HostedMatch) => ({
  kind: 'intent' as const,
  matchId,
  queue,
  tag: matchTag(matchId),
  ticketIds,
  playerIds,
  at,
})

/** The entry that precedes the create of a server. That of a match alone is the entry of both. */
export const serverIntent = ({ id: matchId, queue, tag, bornFor, at, pool, build, source, enrolled }: Server) => ({
  kind: 'intent' as const,
  matchId,
  queue,
  tag,
  ticketIds: bornFor?.ticketIds ?? [],
  playerIds: bornFor?.playerIds ?? [],
  at,
  ...(pool === undefined ? {} : { pool, build }),
  ...(source === undefined ? {} : { source }),
  ...(enrolled === undefined ? {} : { enrolled }),
})

/** The entry of who is in a match, and who left it. */
export const playersEntry = ({ id: matchId, playerIds, left }: HostedMatch) => ({
  kind: 'players' as const,
  matchId,
  playerIds,
  ...(left.length > 0 && { left }),
})
