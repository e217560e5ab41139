import { scrub } from '@muster/core'
import type { Clock } from '@muster/core/clock'
import type { Events } from '../events.js'
import type { Allocation, AllocatorListener } from '@muster/servers'
import type { EndOfMatch } from './match.js'
import type { MatchLifecycle } from './match-lifecycle.js'
import { placedOf } from './placing.js'

export interface AllocationOutcomesOptions {
  readonly lifecycle: () => Pick<MatchLifecycle, 'find' | 'ready' | 'dissolve'>
  /** A server was created for these players. */
  readonly served: (playerIds: readonly string[]) => void
  readonly events: Events
  readonly clock: Pick<Clock, 'now'>
}

/** Creates the listener by which the outcomes of allocations reach matches, limits and events. */
export function createAllocationOutcomes({
  lifecycle,
  served,
  events,
  clock,
}: AllocationOutcomesOptions): AllocatorListener {
  const named = ({ matchId, queue }: Allocation) => ({ matchId, queue })
  const end = ({ matchId }: Allocation, why: EndOfMatch) => {
    const match = lifecycle().find(matchId)
    if (match !== undefined) lifecycle().dissolve(match, why, clock.now())
  }
  return {
    created: (allocation, requestId) => {
      // Creates repeated elsewhere for lack of capacity are not the players' doing, so only the first counts against
      // their limits. Servers created by an earlier process were counted there.
      if (allocation.order !== undefined && !allocation.charged) served(allocation.playerIds)
      events.emit('deploymentCreated', { ...named(allocation), requestId })
    },
    up: (allocation, requestId, unseenMs) =>
      events.emit('deploymentReady', {
        ...named(allocation),
        requestId,
        startMs: clock.now() - allocation.knownAt,
        unseenMs,
        placed: placedOf(allocation),
      }),
    ready: ({ matchId }, requestId, assignment) => lifecycle().ready(matchId, requestId, assignment, clock.now()),
    failed: (allocation, reason, counts) => end(allocation, { reason, counts }),
    faulty: (allocation, requestId, reason, detail) => {
      events.emit('deploymentFailed', { ...named(allocation), requestId, reason, detail: shortOf(detail) })
      // Its players are free at once, whenever the service confirms that the server is stopped.
      if (reason === 'crashed') end(allocation, { reason: 'stopped', stop: 'crashed' })
    },
    stopped: (allocation, requestId, reason) => {
      // Only the allocation's own server ends the match; stray servers with its tag do not.
      if (requestId === allocation.requestId) end(allocation, { reason: 'stopped', stop: reason })
      events.emit('deploymentStopped', { ...named(allocation), requestId, reason })
    },
    reaped: (requestId) => events.emit('deploymentReaped', { requestId }),
    problem: (during, error, allocation, requestId) =>
      events.emit('problem', { during, error, matchId: allocation?.matchId, requestId }),
  }
}

const LONGEST_DETAIL = 300

/** What the service says may hold anything. */
const shortOf = (detail: string | undefined) => detail && scrub(detail).replaceAll(/\s+/g, ' ').slice(0, LONGEST_DETAIL)
