import type { Coordinates } from '@muster/core'
import { deepFreeze } from '@muster/core/internal'
import type { AllocatorContext } from './allocator-context.js'
import type { Enrolling } from './enrolling.js'
import type { EndTimes } from './server-deadlines.js'
import type { SpendingLimiter } from './spending-limiter.js'
import type { MatchRecord, ServerRecord, StoredFleet } from '../store/index.js'
import { firstAttempt } from './retry-placement.js'
import type { HostedMatches } from './hosted-matches.js'
import type { ServerBrowser } from '../browser/index.js'
import type { GameServers } from '../game-servers/index.js'
import type { Pools } from '../pools/index.js'
import { type Assignment, HostedMatch, isEnrolled, type Order, Server } from '../records/index.js'
import type { ServerLifecycle } from './server-lifecycle.js'

/** Connects stored matches with the tickets that this process has. */
export interface RestoredMatches {
  /** Called with all stored matches, before the first one is taken over. */
  expect(all: readonly MatchRecord[]): void
  /** Returns the address that the match's tickets have. Undefined if unknown. Called before `orderOf`. */
  assignmentOf(matchId: string): Assignment | undefined
  /** Returns the order of a match. Undefined if its tickets cannot continue. Called once for each stored match. */
  orderOf(match: MatchRecord): Order | undefined
  done(): void
}

const nothing = () => undefined
export const NONE_INHERITED: RestoredMatches = {
  expect: nothing,
  assignmentOf: nothing,
  orderOf: nothing,
  done: nothing,
}

/** The parts of the allocator that take over servers and matches. */
interface RestoreParts {
  readonly context: AllocatorContext
  readonly spendingLimiter: SpendingLimiter
  readonly lifecycle: ServerLifecycle
  readonly endTimes: EndTimes
  readonly matches: HostedMatches
  readonly pools: Pools
  readonly browser: ServerBrowser
  readonly gameServers: GameServers
  readonly enrolling: Enrolling
}

/**
 * Returns the function that takes over the stored servers and matches, one at each step. A server with players
 * continues. Any other server continues if this process has the tickets of its match or still has its pool. Otherwise
 * it is stopped.
 */
export function createServerRestore(
  parts: RestoreParts,
  inherited: RestoredMatches,
): (stored: StoredFleet) => Generator<void> {
  const { spendingLimiter, lifecycle, endTimes, matches, pools, browser, gameServers, enrolling } = parts
  const { fleet, sources, writer, clock } = parts.context

  /**
   * Returns the order of a stored server of a pool. Undefined if the server must end: its pool is gone, it was being
   * stopped, or its create was not sent and no player waits for it.
   */
  const poolOrderOf = (pool: string, open: ServerRecord) => {
    if (open.dropped === true) return undefined
    if (isRequested(open)) return pools.orderOf(pool)
    return open.wanted?.start && pools.find(pool)?.orderAt(open.wanted.start.near)
  }

  /** Takes over a match without its own server. The servers of pools are taken over before. */
  const adoptMatch = (open: MatchRecord, announced: Assignment | undefined, order: Order | undefined) => {
    const server = open.serverId === undefined ? undefined : fleet.find(open.serverId)
    const taken = server?.stopReason === undefined ? server : undefined
    const playingSince = open.playingSince ?? (announced && open.at)
    const match = new HostedMatch(open, order)
    matches.adopt(match, {
      server: taken,
      assignment: taken?.assignment ?? announced,
      playingSince,
      lastsMs: open.lastsMs,
    })
  }

  const goOnPlaying = (server: Server, requestId: string, assignment: Assignment | undefined) => {
    if (server.lastsMs < Infinity) endTimes.expect(server)
    server.assignment = deepFreeze(assignment)
    sources.of(server.source).settle(requestId)
    for (const match of server.bound) matches.resumePlay(match, server, { assignment })
  }

  const adoptServer = (server: Server, open: ServerRecord, assignment: Assignment | undefined) => {
    const { sentAt, lostAt, requestId, lastsMs, resumption, wanted } = open
    const { order, enrolled } = server
    const now = clock.now()
    const isUp = open.isUp || assignment !== undefined
    server.isListed = open.isListed === true
    server.tries = deepFreeze(resumption?.tries) ?? [firstAttempt(order?.deploy.requireCachedLocations ?? false)]
    server.placements = deepFreeze(resumption?.placements)
    server.near = resumption?.near
    server.charged = requestId !== undefined || server.tries.length > 1
    if (order === undefined && !(isUp && requestId !== undefined)) server.requestStop('restarted')
    // Earlier versions did not store the address of an enrolled server, so it cannot be used and must end.
    if (!isUp && enrolled !== undefined && enrolled.at === undefined) server.requestStop('restarted')
    fleet.add(server)
    if (server.pool !== undefined && server.isWanted) pools.adopted(server, open.at, nearOf(open))
    // If the server must end, waiting players get another server.
    if (wanted !== undefined && (server.isWanted || wanted.start !== undefined)) browser.starts.adopt(server, wanted)
    if (open.draining === true) {
      server.drainAsked = true
      pools.draining(server)
    }
    if (sentAt !== undefined) spendingLimiter.sent(server, Math.min(sentAt, now))
    lifecycle.resume(server, { sentAt, lostAt, requestId, isUp })
    if (requestId === undefined) return
    // If the clock was set back meanwhile, the server must not run longer.
    server.startedAfter = Math.min(sentAt ?? open.at, now)
    const mostMs = isUp && !isEnrolled(server) ? order?.deploy.maxDurationMs : undefined
    server.lastsMs = lastsMs ?? mostMs ?? Infinity
    if (isUp) goOnPlaying(server, requestId, assignment)
    else if (enrolled?.at !== undefined && server.stopReason === undefined) {
      gameServers.expect(server)
      enrolling.adopt(server, enrolled.at)
    }
  }

  const adoptPoolServer = (pool: string, open: ServerRecord) => {
    const server = new Server(open, poolOrderOf(pool, open))
    server.matchesServed = open.matchesServed ?? 0
    // The players who use the server were already charged before the restart.
    if (server.matchesServed > 0 || open.wanted !== undefined) server.chargedPlayers = NOBODY_CHARGED
    adoptServer(server, open, open.assignment)
    if (server.isWanted && server.phase === 'running') gameServers.expect(server)
  }

  /** Takes over a server of a single match with its match, even if the match's queue now names a pool. */
  const adoptOwnServer = (matchId: string, open: ServerRecord, ofMatch: MatchRecord | undefined) => {
    if (ofMatch === undefined) {
      // The match is over. Stop its server, if there is one.
      const { queue, at } = open
      const over = new HostedMatch({ matchId, queue, at, ticketIds: [], playerIds: [] }, undefined)
      return adoptServer(new Server(open, undefined, over), { ...open, isUp: false }, undefined)
    }
    const announced = inherited.assignmentOf(matchId)
    const restored = inherited.orderOf(ofMatch)
    if (restored?.pool !== undefined && !isRequested(open)) {
      void writer.note({ kind: 'gone', serverId: open.serverId })
      return adoptMatch(ofMatch, announced, restored)
    }
    adoptServer(new Server(open, restored, new HostedMatch(ofMatch, restored)), open, open.assignment ?? announced)
  }

  return function* (stored) {
    inherited.expect(stored.matches)
    const left = new Map(stored.matches.map((match) => [match.matchId, match]))
    for (const open of stored.servers) {
      const { pool, serverId, bornFor = serverId } = open
      if (pool !== undefined) adoptPoolServer(pool, open)
      else {
        adoptOwnServer(bornFor, open, left.get(bornFor))
        left.delete(bornFor)
      }
      yield
    }
    for (const open of left.values()) {
      adoptMatch(open, inherited.assignmentOf(open.matchId), inherited.orderOf(open))
      yield
    }
  }
}

const NOBODY_CHARGED: readonly string[] = []

/** True if the server may exist, because its create was sent. */
const isRequested = ({ sentAt, requestId }: ServerRecord) => sentAt !== undefined || requestId !== undefined

/** Returns the location of a server of a pool: the actual one if known, otherwise the requested one. */
function nearOf({ assignment, enrolled, resumption, wanted }: ServerRecord): Coordinates | undefined {
  const { latitude, longitude } = (assignment ?? enrolled?.at)?.location ?? {}
  const at = latitude === undefined || longitude === undefined ? undefined : { latitude, longitude }
  return at ?? resumption?.tries.at(-1)?.at ?? resumption?.near ?? wanted?.start?.near
}
