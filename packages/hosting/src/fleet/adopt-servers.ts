import type { Coordinates } from '@muster/core'
import type { Clock } from '@muster/core/clock'
import type { Fleet } from './fleet.js'
import type { DeploymentCreation } from './create-deployment.js'
import type { EndTimes } from './server-deadlines.js'
import type { Governor } from './server-limits.js'
import type { MatchRecord, ServerLogWriter, ServerRecord, StoredFleet } from '../store/index.js'
import { firstAttempt } from './retry-placement.js'
import type { HostedMatches } from './hosted-matches.js'
import type { ServerBrowser } from '../browser/index.js'
import type { GameServers } from '../game-servers/index.js'
import type { Pools } from '../pools/index.js'
import {
  type Assignment,
  HostedMatch,
  inheritedMatch,
  isEnrolled,
  newServerFor,
  type Order,
  Server,
} from '../records/index.js'
import type { ServerLifecycle } from './server-lifecycle.js'
import type { Sources } from '../sources/index.js'

/** Matches of an earlier process of which this one has the tickets. */
export interface Inherited {
  /** Called before the first of them, with all that are in the store. */
  expect(all: readonly MatchRecord[]): void
  /** Where players connect, by their tickets, even if the store lost it; undefined: none knows. Before `orderOf`. */
  assignmentOf(matchId: string): Assignment | undefined
  /** The order of the match; undefined if the match cannot continue. Called once for each match in the store. */
  orderOf(match: MatchRecord): Order | undefined
  /** Called after the last of them. */
  done(): void
}

const nothing = () => undefined
export const NONE_INHERITED: Inherited = { expect: nothing, assignmentOf: nothing, orderOf: nothing, done: nothing }

interface AdoptingOptions {
  readonly fleet: Pick<Fleet, 'add' | 'enter' | 'find'>
  readonly governor: Pick<Governor, 'sent'>
  readonly creating: Pick<DeploymentCreation, 'begin' | 'resume'>
  readonly lifecycle: Pick<ServerLifecycle, 'end' | 'lose' | 'adopt'>
  readonly sources: Pick<Sources, 'of'>
  readonly endTimes: Pick<EndTimes, 'expect'>
  readonly matches: Pick<HostedMatches, 'adopt' | 'goesOn'>
  readonly pools: Pick<Pools, 'find' | 'orderOf' | 'adopted' | 'draining'>
  readonly browser: Pick<ServerBrowser, 'adopt'>
  readonly gameServers: Pick<GameServers, 'expect'>
  readonly enrolling: { adopt(server: Server, assignment: Assignment): void }
  readonly writer: Pick<ServerLogWriter, 'note'>
  readonly clock: Pick<Clock, 'now'>
  readonly inherited: Pick<Inherited, 'expect' | 'assignmentOf' | 'orderOf'>
}

/**
 * Creates the function that takes over what an earlier process has recorded, a server or a match at each step. A server
 * on which people play is followed. Any other goes on where it was if this process has the tickets of its match, or its
 * pool; otherwise it is found and stopped.
 */
export function createAdopting(options: AdoptingOptions): (stored: StoredFleet) => Generator<void> {
  const { fleet, governor, creating, lifecycle, sources, endTimes, matches, pools, browser, gameServers } = options
  const { enrolling, writer, clock, inherited } = options

  /** One that was being stopped is stopped. One never requested ends unless players started it: it is ordered anew. */
  const poolOrderOf = (pool: string, open: ServerRecord) => {
    if (open.dropped === true) return undefined
    if (isRequested(open)) return pools.orderOf(pool)
    return open.wanted?.start && pools.find(pool)?.orderAt(open.wanted.start.near)
  }

  const inheritedFrom = (open: MatchRecord, order: Order | undefined) => {
    const match = inheritedMatch(open, order)
    match.left = open.left ?? match.left
    return match
  }

  /** A match without a server of its own: that of its pool was taken over before. */
  const adoptMatch = (open: MatchRecord, told: Assignment | undefined, order: Order | undefined) => {
    const server = open.serverId === undefined ? undefined : fleet.find(open.serverId)
    const taken = server?.bornFor === undefined && server?.unwanted === undefined ? server : undefined
    const playingSince = open.playingSince ?? (told && open.at)
    const match = inheritedFrom(open, order)
    // Its queue has no pool any more.
    if (order !== undefined && order.pool === undefined && taken === undefined && playingSince === undefined)
      return void creating.begin(newServerFor(match, order))
    matches.adopt(match, {
      server: taken,
      assignment: taken?.assignment ?? told,
      playingSince,
      lastsMs: open.lastsMs,
    })
  }

  const addToPool = (server: Server, open: ServerRecord) => {
    if (server.unwanted === undefined) pools.adopted(server, open.at, nearOf(open))
    // A start whose server is being stopped gets another one.
    if (open.wanted !== undefined && (server.unwanted === undefined || open.wanted.start !== undefined))
      browser.adopt(server, open.wanted)
  }

  const goOnPlaying = (server: Server, requestId: string, assignment: Assignment | undefined) => {
    fleet.enter(server, 'running')
    if (server.lastsMs < Infinity) endTimes.expect(server)
    server.assignment = assignment
    sources.of(server.source).settle(requestId)
    if (server.bornFor === undefined) gameServers.expect(server)
    else matches.goesOn(server.bornFor)
  }

  const adoptServer = (server: Server, open: ServerRecord, assignment: Assignment | undefined) => {
    const { sentAt, lostAt, requestId, lastsMs, resumption } = open
    const { order, enrolled } = server
    const now = clock.now()
    const isUp = open.isUp || assignment !== undefined
    server.tries = resumption?.tries ?? [firstAttempt(order?.deploy.requireCachedLocations ?? false)]
    server.placements = resumption?.placements
    server.near = resumption?.near
    server.charged = requestId !== undefined || server.tries.length > 1
    if (order === undefined && !(isUp && requestId !== undefined)) server.unwant('restarted')
    // Where it is was not stored by earlier versions.
    if (!isUp && enrolled !== undefined && enrolled.at === undefined) server.unwant('restarted')
    fleet.add(server)
    if (server.pool !== undefined) addToPool(server, open)
    if (open.draining === true) {
      server.drainAsked = true
      pools.draining(server)
    }
    if (sentAt !== undefined) governor.sent(server, Math.min(sentAt, now))

    if (requestId !== undefined) {
      lifecycle.adopt(server, requestId)
      // A clock that was set back must not prolong the time for which the server may run.
      server.startedAfter = Math.min(sentAt ?? now, now)
      const mostMs = isUp && !isEnrolled(server) ? order?.deploy.maxDurationMs : undefined
      server.lastsMs = lastsMs ?? mostMs ?? Infinity
      if (isUp) goOnPlaying(server, requestId, assignment)
      else if (enrolled?.at !== undefined && server.unwanted === undefined) {
        gameServers.expect(server)
        enrolling.adopt(server, enrolled.at)
      }
    } else if (sentAt !== undefined) {
      lifecycle.lose(server, lostAt)
    } else if (order === undefined) {
      lifecycle.end(server)
    } else {
      creating.resume(server)
    }
  }

  const adoptPoolServer = (pool: string, open: ServerRecord) => {
    const server = new Server(open, poolOrderOf(pool, open))
    server.matchesServed = open.matchesServed ?? 0
    // Its players were charged by the earlier process.
    if (server.matchesServed > 0 || open.wanted !== undefined) server.causedBy = NOBODY_CHARGED
    server.isListed = open.isListed === true
    adoptServer(server, open, open.assignment)
  }

  /** The server of a match alone, and that match: it is kept even if the queue of that names a pool now. */
  const adoptOwnServer = (matchId: string, open: ServerRecord, ofMatch: MatchRecord | undefined) => {
    if (ofMatch === undefined) {
      // The match is over: its server is left, and known by its id until it is gone.
      const { queue, at } = open
      const over = new HostedMatch({ matchId, queue, at, ticketIds: [], playerIds: [] }, undefined)
      return adoptServer(new Server(open, undefined, over), { ...open, isUp: false }, undefined)
    }
    const told = inherited.assignmentOf(matchId)
    const restored = inherited.orderOf(ofMatch)
    if (restored?.pool !== undefined && !isRequested(open)) {
      void writer.note({ kind: 'gone', serverId: open.serverId })
      return adoptMatch(ofMatch, told, restored)
    }
    const order = restored?.pool === undefined ? restored : { ...restored, pool: undefined }
    adoptServer(new Server(open, order, inheritedFrom(ofMatch, order)), open, open.assignment ?? told)
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

/** Whether its deployment may exist. */
const isRequested = ({ sentAt, requestId }: ServerRecord) => sentAt !== undefined || requestId !== undefined

/** Where a server of a pool was to be, or is. */
function nearOf({ assignment, enrolled, resumption, wanted }: ServerRecord): Coordinates | undefined {
  const { latitude, longitude } = (assignment ?? enrolled?.at)?.location ?? {}
  const at = latitude === undefined || longitude === undefined ? undefined : { latitude, longitude }
  return at ?? resumption?.tries.at(-1)?.at ?? resumption?.near ?? wanted?.start?.near
}
