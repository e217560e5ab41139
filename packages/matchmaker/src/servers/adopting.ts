import type { Allocations } from './allocations.js'
import type { EndTimes } from './end-times.js'
import type { OpenIntent } from './journal/journal.js'
import { newAllocation } from './records/allocation.js'
import type { ServerLifecycle } from './server-lifecycle.js'
import type { Watcher } from './watching/watcher.js'

export interface AdoptingOptions {
  readonly allocations: Allocations
  readonly lifecycle: Pick<ServerLifecycle, 'end' | 'lose' | 'exists'>
  readonly watcher: Pick<Watcher, 'settle'>
  readonly endTimes: Pick<EndTimes, 'expect'>
}

/**
 * Creates the function that takes over a match of an earlier process. A server on which people play is followed; any
 * other is found and stopped.
 */
export const createAdopting =
  ({ allocations, lifecycle, watcher, endTimes }: AdoptingOptions) =>
  ({ sentAt, lostAt, requestId, assigned, lastsMs = Infinity, assignment, ...intent }: OpenIntent): void => {
    const allocation = newAllocation(intent)
    allocations.add(allocation)
    if (!assigned) allocation.unwanted = 'restarted'
    if (requestId === undefined)
      return sentAt === undefined ? lifecycle.end(allocation) : lifecycle.lose(allocation, lostAt)
    lifecycle.exists(allocation, requestId)
    if (!assigned) return
    allocations.enter(allocation, 'running')
    allocation.lastsMs = lastsMs
    if (lastsMs < Infinity) endTimes.expect(allocation)
    allocation.assignment = assignment
    watcher.settle(requestId)
  }
