import { NotFound } from '@muster/core'
import type { Clock } from '@muster/core/clock'
import type { Allocations } from './allocations.js'
import type { Allocation } from './records/allocation.js'
import { ageOf } from './records/deployment-age.js'
import { priorities, type DeploymentService } from './records/deployment-service.js'

/**
 * Finds out when servers of an earlier process are to end: that process may have had another time of day, so it is the
 * service that says how old they are. Until it has, they go on.
 */
export interface EndTimes {
  /** Its `lastsMs` is known, and its `endsAt` is wanted. */
  expect(allocation: Allocation): void
  /** Asks about the next one, unless one is being asked about. */
  advance(now: number): void
}

export interface EndTimesOptions {
  readonly service: Pick<DeploymentService, 'get'>
  readonly allocations: Pick<Allocations, 'find'>
  readonly clock: Pick<Clock, 'now'>
  readonly problem: (error: unknown, allocation: Allocation) => void
}

const TIMEOUT_MS = 10_000
/** Milliseconds until it is asked again about one of which the service told nothing. */
const RETRY_MS = 5000

export function createEndTimes({ service, allocations, clock, problem }: EndTimesOptions): EndTimes {
  /** Those of which it is not known yet, and from when on they may be asked about: epoch milliseconds. */
  const unknown = new Map<Allocation, number>()
  let isAsking = false

  const ask = async (allocation: Allocation, requestId: string): Promise<void> => {
    isAsking = true
    try {
      const deployment = await service.get(
        { request_id: requestId },
        { timeoutMs: TIMEOUT_MS, priority: priorities.routine },
      )
      const now = clock.now()
      // One of unknown age begins anew: better too long than stopped under its players.
      allocation.endsAt = now + allocation.lastsMs - (ageOf(deployment, now) ?? 0)
      unknown.delete(allocation)
    } catch (error) {
      unknown.set(allocation, clock.now() + RETRY_MS)
      // Whoever follows it finds out that it is gone.
      if (!(error instanceof NotFound)) problem(error, allocation)
    } finally {
      isAsking = false
    }
  }

  return {
    expect: (allocation) => void unknown.set(allocation, 0),
    advance: (now) => {
      if (isAsking) return
      for (const [allocation, askAt] of unknown) {
        const { matchId, phase, requestId } = allocation
        if (phase === 'stopping' || allocations.find(matchId) !== allocation) unknown.delete(allocation)
        else if (phase === 'running' && requestId !== undefined && askAt <= now) return void ask(allocation, requestId)
      }
    },
  }
}
