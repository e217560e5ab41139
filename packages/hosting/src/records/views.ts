import type { Assignment, StopReason } from './assignment.js'
import type { Enrolled, MatchResumption, Order, Placement, PlayerWhoLeft, ServerResumption } from './order.js'
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
const resumptionOfMatch = ({ order, ticketIds }: HostedMatch): MatchResumption | undefined =>
  order && {
    expansionMs: order.expansionMs,
    teams: order.teams.map(({ name }) => name),
    teamOf: teamsIn(order, ticketIds),
  }

/** Undefined for a server of which nothing more can be created. */
export const resumptionOfServer = ({ order, tries, placements, near }: Server): ServerResumption | undefined =>
  order && { tries, placements, ...(near !== undefined && { near }) }

function teamsIn({ tickets, teams, teamOf }: Order, ticketIds: readonly string[]): readonly number[] | undefined {
  if (teams.length === 1) return undefined
  // Tickets that have joined or left since the intent are at other places.
  const teamsById = new Map(tickets.map(({ id }, index) => [id, teamOf[index] ?? 0]))
  return ticketIds.map((id) => teamsById.get(id) ?? 0)
}

/** A read-only view of a match and its server, or of a server of a pool, for other modules. */
export interface AllocationView {
  /** Id of the match, or of the server of a pool. */
  readonly matchId: string
  /** Name of the queue, or of the pool. */
  readonly queue: string
  /** The tag of its deployment. */
  readonly tag: string
  readonly ticketIds: readonly string[]
  readonly playerIds: readonly string[]
  /** Epoch milliseconds. */
  readonly at: number
  /** Of a server of a pool: the name of the pool. */
  readonly pool?: string | undefined
  /** Of a server of a pool: the name of its source; undefined: the deployment service. */
  readonly source?: string | undefined
  /** Of a server that Muster has not started. */
  readonly enrolled?: Enrolled | undefined
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

/**
 * The entry that precedes the search for a server.
 * @param resumes see `ServerLog`
 */
export const matchIntent = (match: HostedMatch, resumes: boolean) => ({
  kind: 'match' as const,
  matchId: match.id,
  queue: match.queue,
  ticketIds: match.ticketIds,
  playerIds: match.playerIds,
  at: match.at,
  ...(match.ownServer !== undefined && { serverId: match.ownServer.id }),
  ...(resumes && { resumption: resumptionOfMatch(match) }),
})

/**
 * The entry that precedes the create of a server.
 * @param resumes see `ServerLog`. Default: false, for one of which nothing is to be created yet, or any more
 */
export function serverIntent(server: Server, resumes = false) {
  const { id: serverId, queue, tag, bornFor, at, pool, build, source, enrolled } = server
  return {
    kind: 'server' as const,
    serverId,
    queue,
    tag,
    at,
    ...(pool !== undefined && { pool, build }),
    ...(source !== undefined && { source }),
    ...(enrolled !== undefined && { enrolled }),
    ...(bornFor !== undefined && { bornFor: bornFor.id }),
    ...(resumes && { resumption: resumptionOfServer(server) }),
  }
}

/** The entries of the end of matches, of each once. */
export function overEntries(matches: Iterable<HostedMatch>) {
  const open = [...matches].filter(({ isClosed }) => !isClosed)
  for (const match of open) match.isClosed = true
  return open.map(({ id: matchId }) => ({ kind: 'over' as const, matchId }))
}

/** The entry of who is in a match, and who left it. */
export const playersEntry = ({ id: matchId, playerIds, left }: HostedMatch) => ({
  kind: 'players' as const,
  matchId,
  playerIds,
  ...(left.length > 0 && { left }),
})
