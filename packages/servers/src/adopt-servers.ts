import type { Coordinates } from '@muster/core'
import type { Clock } from '@muster/core/clock'
import type { Allocations, AllocatorListener } from './allocations.js'
import type { DeploymentCreation } from './create-deployment.js'
import type { EndTimes } from './server-deadlines.js'
import type { Governor } from './server-limits.js'
import type { ServerRecord } from './store/index.js'
import { firstAttempt } from './retry-placement.js'
import type { HostedMatches } from './hosted-matches.js'
import type { ServerBrowser } from './browser/index.js'
import type { GameServers } from './game-servers/index.js'
import type { Pools } from './pools/index.js'
import { type Allocation, type Assignment, inheritedAllocation, isEnrolled, type Order } from './records/index.js'
import type { ServerLifecycle } from './server-lifecycle.js'
import type { Sources } from './sources/index.js'

/** Matches of an earlier process of which this one has the tickets. */
export interface Inherited {
  /** Called before the first of them, with all that are in the store. */
  expect(all: readonly ServerRecord[]): void
  /** Where players connect, by their tickets, even if the store lost it; undefined: none knows. Before `orderOf`. */
  assignmentOf(open: ServerRecord): Assignment | undefined
  /** The order of the match; undefined if the match cannot continue. Called once for each match in the store. */
  orderOf(open: ServerRecord): Order | undefined
  /** Called after the last of them. */
  done(): void
}

const nothing = () => undefined
export const NONE_INHERITED: Inherited = { expect: nothing, assignmentOf: nothing, orderOf: nothing, done: nothing }

interface AdoptingOptions {
  readonly allocations: Allocations
  readonly governor: Pick<Governor, 'sent'>
  readonly creating: Pick<DeploymentCreation, 'resume'>
  readonly lifecycle: Pick<ServerLifecycle, 'end' | 'lose' | 'adopt'>
  readonly sources: Pick<Sources, 'of'>
  readonly endTimes: Pick<EndTimes, 'expect'>
  readonly hosted: Pick<HostedMatches, 'adopt'>
  readonly pools: Pick<Pools, 'find' | 'orderOf' | 'adopted' | 'draining'>
  readonly browser: Pick<ServerBrowser, 'adopt'>
  readonly gameServers: Pick<GameServers, 'expect'>
  readonly clock: Pick<Clock, 'now'>
  readonly inherited: Pick<Inherited, 'assignmentOf' | 'orderOf'>
  readonly on: Pick<AllocatorListener, 'ready'>
}

/**
 * Creates the function that takes over a match of an earlier process. A server on which people play is followed. The
 * deployment of any other match continues where it was if this process has the match's tickets; otherwise it is found
 * and stopped.
 */
export function createAdopting(options: AdoptingOptions): (open: ServerRecord) => void {
  const { allocations, governor, creating, lifecycle, sources, endTimes, hosted, pools, browser, gameServers } = options
  const { clock, inherited, on } = options

  const goOnPlaying = (allocation: Allocation, requestId: string, assignment: Assignment | undefined) => {
    allocations.enter(allocation, 'running')
    if (allocation.lastsMs < Infinity) endTimes.expect(allocation)
    allocation.assignment = assignment
    sources.of(allocation.source).settle(requestId)
    if (allocation.order !== undefined && assignment !== undefined) on.ready(allocation, requestId, assignment)
    allocations.rememberPlayers(allocation)
  }

  /** One that was being stopped is stopped. One never requested ends unless players started it: it is ordered anew. */
  const poolOrderOf = (open: ServerRecord) => {
    if (open.pool === undefined || open.dropped === true) return undefined
    if (isRequested(open)) return pools.orderOf(open.pool)
    return open.wanted?.start && pools.find(open.pool)?.orderAt(open.wanted.start.near)
  }

  /** A match on a server of a pool: that server was taken over before. */
  const adoptHosted = (open: ServerRecord, order: Order | undefined) => {
    const found = open.hostId === undefined ? undefined : allocations.find(open.hostId)
    const host = found?.unwanted === undefined ? found : undefined
    const allocation = inheritedAllocation(open, order)
    const assignment = open.assignment ?? inherited.assignmentOf(open)
    allocation.host = host
    allocation.left = open.left ?? allocation.left
    allocation.assignment = assignment
    if (order === undefined && (host === undefined || assignment === undefined)) allocation.unwanted = 'restarted'
    allocations.add(allocation)
    if (allocation.unwanted === undefined && assignment !== undefined && host?.requestId !== undefined) {
      allocation.requestId = host.requestId
      allocation.listensAt = Math.min(allocation.at, clock.now())
      allocations.enter(allocation, 'running')
      if (order !== undefined) on.ready(allocation, host.requestId, assignment)
      allocations.rememberPlayers(allocation)
    }
    hosted.adopt(allocation)
  }

  return (open) => {
    const { sentAt, lostAt, requestId, lastsMs, resumption } = open
    const now = clock.now()
    const assignment = open.assignment ?? inherited.assignmentOf(open)
    const assigned = open.assigned || assignment !== undefined
    const restored = open.pool === undefined ? inherited.orderOf(open) : poolOrderOf(open)
    if (open.hostId !== undefined || (restored?.pool !== undefined && !isRequested(open)))
      return adoptHosted(open, restored)
    // A match that has a deployment of its own keeps it, even if its queue names a pool now.
    const order = restored?.pool === undefined ? restored : { ...restored, pool: undefined }
    const allocation = inheritedAllocation(open, order)
    allocation.tries = resumption?.tries ?? [firstAttempt(order?.deploy.requireCachedLocations ?? false)]
    allocation.placements = resumption?.placements
    allocation.near = resumption?.near
    allocation.charged = requestId !== undefined || allocation.tries.length > 1
    if (order === undefined && !(assigned && requestId !== undefined)) allocation.unwanted = 'restarted'
    allocation.matchesServed = open.matchesServed ?? 0
    // Its players were charged by the earlier process.
    if (allocation.matchesServed > 0 || open.wanted !== undefined) allocation.causedBy = NOBODY_CHARGED
    allocation.isListed = open.isListed === true
    allocation.left = open.left ?? allocation.left
    allocations.add(allocation)
    if (open.pool !== undefined && allocation.unwanted === undefined) pools.adopted(allocation, open.at, nearOf(open))
    // A start whose server is being stopped gets another one.
    if (open.wanted !== undefined && (allocation.unwanted === undefined || open.wanted.start !== undefined))
      browser.adopt(allocation, open.wanted)
    if (open.draining === true) {
      allocation.drainAsked = true
      pools.draining(allocation)
    }
    if (sentAt !== undefined) governor.sent(allocation, Math.min(sentAt, now))

    if (requestId !== undefined) {
      lifecycle.adopt(allocation, requestId)
      // A clock that was set back must not prolong the time for which the server may run.
      allocation.startedAfter = Math.min(sentAt ?? now, now)
      const mostMs = assigned && !isEnrolled(allocation) ? order?.deploy.maxDurationMs : undefined
      allocation.lastsMs = lastsMs ?? mostMs ?? Infinity
      if (assigned) goOnPlaying(allocation, requestId, assignment)
      if (assigned && allocation.pool !== undefined) gameServers.expect(allocation)
    } else if (sentAt !== undefined) {
      lifecycle.lose(allocation, lostAt)
    } else if (order === undefined) {
      lifecycle.end(allocation)
    } else {
      creating.resume(allocation)
    }
  }
}

const NOBODY_CHARGED: readonly string[] = []

/** Whether a deployment of its own may exist. */
const isRequested = ({ sentAt, requestId }: ServerRecord) => sentAt !== undefined || requestId !== undefined

/** Where a server of a pool was to be, or is. */
function nearOf({ assignment, resumption, wanted }: ServerRecord): Coordinates | undefined {
  const { latitude, longitude } = assignment?.location ?? {}
  const at = latitude === undefined || longitude === undefined ? undefined : { latitude, longitude }
  return at ?? resumption?.tries.at(-1)?.at ?? resumption?.near ?? wanted?.start?.near
}
