import { NotFound } from '@muster/core'
import type { Clock } from '@muster/core/clock'
import type { Allocations } from './allocations.js'
import type { Allocation } from './records/allocation.js'
import { ageOf } from './records/deployment-age.js'
import { priorities, type DeploymentService } from './records/deployment-service.js'

/**
 * Finds out when the servers of an earlier process must be stopped. The clock of that process may have been wrong, so
 * the age of a deployment is taken from the service. A server keeps running until its age is known.
 */
export interface EndTimes {
  /** Adds an allocation whose `lastsMs` is known and whose `endsAt` has to be found out. */
  expect(allocation: Allocation): void
  /** Asks the service about the next allocation, unless a request is already under way. */
  advance(now: number): void
}

export interface EndTimesOptions {
  readonly service: Pick<DeploymentService, 'get'>
  readonly allocations: Pick<Allocations, 'find'>
  readonly clock: Pick<Clock, 'now'>
  readonly problem: (error: unknown, allocation: Allocation) => void
}

const TIMEOUT_MS = 10_000
/** Milliseconds until the service is asked again about an allocation whose age it did not tell. */
const RETRY_MS = 5000

export function createEndTimes({ service, allocations, clock, problem }: EndTimesOptions): EndTimes {
  /** Allocations whose end is unknown, with the epoch milliseconds before which the service is not asked about them. */
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
      // A deployment of unknown age counts as new: a server that runs too long is better than one stopped during play.
      allocation.endsAt = now + allocation.lastsMs - (ageOf(deployment, now) ?? 0)
      unknown.delete(allocation)
    } catch (error) {
      unknown.set(allocation, clock.now() + RETRY_MS)
      // A deployment that is gone is no problem here: the watcher reports its end.
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
