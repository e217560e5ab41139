import type { Assignment, StopReason } from './assignment.js'
import type { Enrolled, MatchResumption, Order, Placement, PlayerWhoLeft, ServerResumption } from './order.js'
import { type HostedMatch, placementOf, type Server, type ServerPhase } from './server.js'
import { serverTag } from './tags.js'

/** Maximum number of remembered players who left a match (our choice). The latest are kept. */
export const MOST_LEFT = 1000

/** Returns the players who have left a match. @param gone those who leave now. @param at now, in epoch milliseconds */
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

/** Returns the data with which a match is continued after a restart. Undefined if its order is unknown. */
const resumptionOfMatch = ({ order, ticketIds }: HostedMatch): MatchResumption | undefined =>
  order && {
    expansionMs: order.expansionMs,
    teams: order.teams.map(({ name }) => name),
    teamOf: teamsIn(order, ticketIds),
  }

/** Returns the data with which a server's create is continued after a restart. Undefined if its order is unknown. */
export const resumptionOfServer = ({ order, tries, placements, near }: Server): ServerResumption | undefined =>
  order && { tries, placements, ...(near !== undefined && { near }) }

function teamsIn({ tickets, teams, teamOf }: Order, ticketIds: readonly string[]): readonly number[] | undefined {
  if (teams.length === 1) return undefined
  // `teamOf` belongs to the order's tickets. Since then, tickets may have joined or left the match.
  const teamsById = new Map(tickets.map(({ id }, index) => [id, teamOf[index] ?? 0]))
  return ticketIds.map((id) => teamsById.get(id) ?? 0)
}

/** A read-only view of a match with its server, or of a server of a pool. */
export interface AllocationView {
  /** Id of the match, or of the server. */
  readonly matchId: string
  /** Name of the queue, or of the pool. */
  readonly queue: string
  /** The tag of the deployment. For a match on a server of a pool, no deployment has this tag. */
  readonly tag: string
  readonly ticketIds: readonly string[]
  readonly playerIds: readonly string[]
  /** When the match was found or the server was ordered, in epoch milliseconds. */
  readonly at: number
  /** Name of the pool. Only for a server of a pool. */
  readonly pool?: string | undefined
  /** Name of the server's source. Undefined: the deployment service. Only for a server of a pool. */
  readonly source?: string | undefined
  /** The server's enrolment. Set only for a server that Muster has not started. */
  readonly enrolled?: Enrolled | undefined
  readonly phase: ServerPhase
  /**
   * Why the match or server must end. The tickets have left the match by then, and its players may be in another
   * match. Undefined while it is wanted.
   */
  readonly stopReason?: StopReason | undefined
  readonly requestId: string | undefined
  readonly assignment: Assignment | undefined
  /** The server of the match. Only for a match without its own server. */
  readonly hosted?: HostedView | undefined
  /** The location that a latency rule chose. Undefined if no rule chose one. It must not be shown to players. */
  readonly placement?: Placement | undefined
}

interface HostedView {
  /** Id of the server. Undefined while the match waits for one. */
  readonly serverId: string | undefined
  /** True if the server already ran when the match claimed it. Undefined after a restart. */
  readonly warm: boolean | undefined
}

/** Returns what the views of matches and of servers have in common. */
const viewOf = ({ id: matchId, queue, at, phase, requestId, assignment, stopReason }: HostedMatch | Server) => ({
  matchId,
  queue,
  at,
  phase,
  ...(stopReason !== undefined && { stopReason }),
  requestId,
  assignment,
})

/** Returns the view of a match, together with its own server. */
export const matchViewOf = (match: HostedMatch): AllocationView => {
  const { id, ticketIds, playerIds, placement, ownServer, server, claim } = match
  return {
    ...viewOf(match),
    ticketIds: [...ticketIds],
    playerIds: [...playerIds],
    placement,
    ...(ownServer === undefined
      ? { tag: serverTag(id), hosted: { serverId: server?.id, warm: claim?.isWarm } }
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
 * Returns the entry that is stored before a server is looked for.
 * @param resumes see `ServerLog.resumes`
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
 * Returns the entry that is stored before a server is created.
 * @param resumes see `ServerLog.resumes`. Default false
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

/** Returns the entries for the ends of matches. Each match's entry is returned only once. */
export function matchEndEntries(matches: Iterable<HostedMatch>) {
  const open = [...matches].filter(({ isClosed }) => !isClosed)
  for (const match of open) match.isClosed = true
  return open.map(({ id: matchId }) => ({ kind: 'over' as const, matchId }))
}

/** Returns the entry for changed players of a match. */
export const playersEntry = ({ id: matchId, playerIds, left }: HostedMatch) => ({
  kind: 'players' as const,
  matchId,
  playerIds,
  ...(left.length > 0 && { left }),
})
