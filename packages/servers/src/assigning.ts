import type { Clock } from '@muster/core/clock'
import type { Allocations } from './allocations.js'
import type { Notes } from './journal/notes.js'
import type { AllocatorListener } from './listener.js'
import type { Allocation } from './records/allocation.js'

export interface AssigningOptions {
  readonly allocations: Pick<Allocations, 'enter'>
  readonly notes: Pick<Notes, 'note'>
  readonly clock: Pick<Clock, 'now'>
  readonly on: Pick<AllocatorListener, 'ready'>
}

/**
 * Creates the function that sends players to a server which listens. The journal first: after a crash, a server that
 * players know of must not be taken for one that nobody needs. As long as it cannot be written, players are not told;
 * see `createTimeouts` for how long.
 */
export function createAssigning({ allocations, notes, clock, on }: AssigningOptions): (allocation: Allocation) => void {
  return (allocation) => {
    const { matchId, requestId, assignment, order } = allocation
    if (requestId === undefined || assignment === undefined) return
    const now = clock.now()
    allocation.listensAt = now
    if (order?.deploy.maxDurationMs !== undefined) {
      allocation.lastsMs = now - allocation.startedAfter + order.deploy.maxDurationMs
      allocation.endsAt = now + order.deploy.maxDurationMs
    }
    const lastsMs = Number.isFinite(allocation.lastsMs) ? allocation.lastsMs : undefined
    const noted = notes.note({ kind: 'assigned', matchId, lastsMs, assignment })
    const tell = () => {
      // The match may have been dropped meanwhile, even by the journal, which may know that a ticket was cancelled.
      if (allocation.phase !== 'warming') return
      allocations.enter(allocation, 'running')
      allocation.joinBy = clock.now() + (order?.deploy.joinWithinMs ?? Infinity)
      on.ready(allocation, requestId, assignment)
    }
    if (noted === undefined) tell()
    else void noted.then(tell)
  }
}
