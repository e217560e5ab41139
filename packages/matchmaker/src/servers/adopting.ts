import type { Clock } from '@muster/core/clock'
import type { Allocations } from './allocations.js'
import type { Creating } from './creating.js'
import type { EndTimes } from './end-times.js'
import type { Governor } from './governor.js'
import type { OpenIntent } from './journal/journal.js'
import type { AllocatorListener } from './listener.js'
import { firstAttempt } from './placement-attempts.js'
import type { Allocation, Order } from './records/allocation.js'
import { inheritedAllocation } from './records/match-allocation.js'
import type { ServerLifecycle } from './server-lifecycle.js'
import type { ServerSecrets } from './server-secrets.js'
import type { Watcher } from './watching/watcher.js'

export interface AdoptingOptions {
  readonly allocations: Allocations
  readonly governor: Pick<Governor, 'sent'>
  readonly creating: Pick<Creating, 'resume'>
  readonly lifecycle: Pick<ServerLifecycle, 'end' | 'lose' | 'adopt'>
  readonly watcher: Pick<Watcher, 'settle'>
  readonly endTimes: Pick<EndTimes, 'expect'>
  readonly secrets: Pick<ServerSecrets, 'adopt'>
  readonly clock: Pick<Clock, 'now'>
  /** What the match asks for; undefined if this process does not have its tickets, or a ticket is gone. */
  readonly orderOf: (open: OpenIntent) => Order | undefined
  readonly on: Pick<AllocatorListener, 'ready'>
}

/**
 * Creates the function that takes over a match of an earlier process. A server on which people play is followed. The
 * deployment of any other match goes on where it was if this process has the match's tickets; otherwise it is found and
 * stopped.
 */
export function createAdopting(options: AdoptingOptions): (open: OpenIntent) => void {
  const { allocations, governor, creating, lifecycle, watcher, endTimes, secrets, clock, orderOf, on } = options

  const goOnPlaying = (allocation: Allocation, requestId: string, { lastsMs = Infinity, assignment }: OpenIntent) => {
    allocations.enter(allocation, 'running')
    allocation.lastsMs = lastsMs
    if (lastsMs < Infinity) endTimes.expect(allocation)
    allocation.assignment = assignment
    watcher.settle(requestId)
    if (allocation.order !== undefined && assignment !== undefined) on.ready(allocation, requestId, assignment)
    else allocations.rememberPlayers(allocation)
  }

  return (open) => {
    const { sentAt, lostAt, requestId, assigned, resumption } = open
    const now = clock.now()
    const order = orderOf(open)
    const allocation = inheritedAllocation(open, order)
    allocation.tries = resumption?.tries ?? [firstAttempt(order?.deploy.requireCachedLocations ?? false)]
    allocation.placements = resumption?.placements
    allocation.charged = requestId !== undefined || allocation.tries.length > 1
    if (resumption?.secret !== undefined) secrets.adopt(resumption.secret)
    if (!assigned && order === undefined) allocation.unwanted = 'restarted'
    allocations.add(allocation)
    if (sentAt !== undefined) governor.sent(allocation, Math.min(sentAt, now))

    if (requestId !== undefined) {
      lifecycle.adopt(allocation, requestId)
      // A clock that was set back must not prolong the time for which the server may run.
      allocation.startedAfter = Math.min(sentAt ?? now, now)
      if (assigned) goOnPlaying(allocation, requestId, open)
    } else if (sentAt !== undefined) {
      lifecycle.lose(allocation, lostAt)
    } else if (order === undefined) {
      lifecycle.end(allocation)
    } else {
      creating.resume(allocation)
    }
  }
}
