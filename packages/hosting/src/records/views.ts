import type { Assignment, StopReason } from './assignment.js'
import type { Enrolled, MatchResumption, Order, Placement, PlayerWhoLeft, ServerResumption } from './order.js'
import { type HostedMatch, placementOf, type Server, type ServerPhase } from './server.js'
import { matchTag } from './tags.js'

/** Maximum number of remembered players who left a match, the latest ones (our choice). */
export const MOST_LEFT = 1000

/**
 * Returns the players who left a match, after its players have changed. @param gone players who leave now, at an epoch
 * millisecond
 */
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

/** Returns the data to resume a match. Undefined if its order is unknown. */
const resumptionOfMatch = ({ order, ticketIds }: HostedMatch): MatchResumption | undefined =>
  order && {
    expansionMs: order.expansionMs,
    teams: order.teams.map(({ name }) => name),
    teamOf: teamsIn(order, ticketIds),
  }

/** Returns the data to resume a server. Undefined if nothing more can be created for it. */
export const resumptionOfServer = ({ order, tries, placements, near }: Server): ServerResumption | undefined =>
  order && { tries, placements, ...(near !== undefined && { near }) }

function teamsIn({ tickets, teams, teamOf }: Order, ticketIds: readonly string[]): readonly number[] | undefined {
  if (teams.length === 1) return undefined
  // Tickets that have joined or left since the intent are at other indexes.
  const teamsById = new Map(tickets.map(({ id }, index) => [id, teamOf[index] ?? 0]))
  return ticketIds.map((id) => teamsById.get(id) ?? 0)
}

/** A read-only view of a match and its server, or of a server of a pool, for other modules. */
export interface AllocationView {
  /** Id of the match, or of the server of a pool. */
  readonly matchId: string
  /** Name of the queue, or of the pool. */
  readonly queue: string
  /** The tag of the deployment. */
  readonly tag: string
  readonly ticketIds: readonly string[]
  readonly playerIds: readonly string[]
  /** Epoch milliseconds. */
  readonly at: number
  /** For a server of a pool: the name of the pool. */
  readonly pool?: string | undefined
  /** For a server of a pool: the name of its source. Undefined: the deployment service. */
  readonly source?: string | undefined
  /** Set for a server that Muster has not started. */
  readonly enrolled?: Enrolled | undefined
  readonly phase: ServerPhase
  /**
   * Why the match or server is no longer wanted. The tickets have left the match by then, and its players may be in
   * another match. Undefined while it is wanted.
   */
  readonly stopReason?: StopReason | undefined
  readonly requestId: string | undefined
  readonly assignment: Assignment | undefined
  /** For a match on a server of a pool, which has no deployment of its own. */
  readonly hosted?: HostedView | undefined
  /** By the match's latency rule. Undefined without one, or for a deployment of an earlier process. Not for players. */
  readonly placement?: Placement | undefined
}

interface HostedView {
  /** Id of the server. Undefined while one is looked for. */
  readonly serverId: string | undefined
  /** True if the server already ran when the match took it. Undefined for a match of an earlier process. */
  readonly warm: boolean | undefined
}

/** Returns the common part of the views of a match and of a server. */
const viewOf = ({ id: matchId, queue, at, phase, requestId, assignment, stopReason }: HostedMatch | Server) => ({
  matchId,
  queue,
  at,
  phase,
  ...(stopReason !== undefined && { stopReason }),
  requestId,
  assignment,
})

/** Returns the view of a match. For a match with its own server, the view of both. */
export const matchViewOf = (match: HostedMatch): AllocationView => {
  const { id, ticketIds, playerIds, placement, ownServer, server, claim } = match
  return {
    ...viewOf(match),
    ticketIds,
    playerIds,
    placement,
    ...(ownServer === undefined
      ? { tag: matchTag(id), hosted: { serverId: server?.id, warm: claim?.isWarm } }
      : { tag: ownServer.tag }),
  }
}

export const poolServerViewOf = (server: Server): AllocationView => {
  const { tag, pool, source, enrolled } = server
  return {
    ...viewOf(server),
    tag,
    ticketIds: [],
    playerIds: [],
    ...(pool !== undefined && { pool }),
    ...(source !== undefined && { source, enrolled }),
    placement: placementOf(server),
  }
}

/**
 * Returns the entry that is written before the search for a server.
 * @param resumes see `ServerLog`
 */
export const matchIntent = (match: HostedMatch, resumes: boolean) => ({
  kind: 'match' as const,
  matchId: match.id,
  queue: match.queue,
  ticketIds: match.ticketIds,
  playerIds: match.playerIds,
  at: match.at,
  ...(match.server !== undefined && { serverId: match.server.id }),
  ...(resumes && { resumption: resumptionOfMatch(match) }),
})

/**
 * Returns the entry that is written before the create of a server.
 * @param resumes see `ServerLog`. Default false: nothing can be created for the server yet, or any more
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

/** Returns the entries for the ends of matches. A match whose end was returned before is left out. */
export function matchEndEntries(matches: Iterable<HostedMatch>) {
  const open = [...matches].filter(({ isClosed }) => !isClosed)
  for (const match of open) match.isClosed = true
  return open.map(({ id: matchId }) => ({ kind: 'over' as const, matchId }))
}

/** Returns the entry with the players of a match, and those who left it. */
export const playersEntry = ({ id: matchId, playerIds, left }: HostedMatch) => ({
  kind: 'players' as const,
  matchId,
  playerIds,
  ...(left.length > 0 && { left }),
})
