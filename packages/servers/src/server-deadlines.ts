import type { Clock } from '@muster/core/clock'
import type { Allocations } from './allocations.js'
import type { Allocation, ReturnReason } from './records/index.js'
import type { Sources } from './sources/index.js'

/** Milliseconds for which tickets wait for the stop of a deployment without capacity; then they search again. */
const RETRY_PATIENCE_MS = 10_000
/** Milliseconds for which players wait until the store has recorded their server; then they return to the queue. */
const STORE_PATIENCE_MS = 30_000
/** Milliseconds between two looks at how long matches have lasted: there may be many, and none of them cares. */
const ENDS_GAP_MS = 1000

interface TimeoutsOptions {
  readonly allocations: Allocations
  /** Returns the match's tickets to the queue. @param counts whether the deployment was at fault. */
  readonly fail: (allocation: Allocation, reason: ReturnReason, counts: boolean) => void
  readonly stop: (allocation: Allocation, requestId: string) => void
}

/** Creates the function that ends what exceeds its time: matches without players, and matches that last too long. */
export function createTimeouts({ allocations, fail, stop }: TimeoutsOptions) {
  let nextEndsAt = 0

  const endStarting = (now: number) => {
    for (const allocation of allocations.starting()) {
      const { phase, requestId, knownAt, listensAt, order } = allocation
      if (requestId === undefined || order === undefined) continue
      if (phase === 'starting' && now - knownAt >= order.deploy.readyTimeoutMs) {
        fail(allocation, 'too-slow', true)
        stop(allocation, requestId)
      } else if (phase === 'warming' && now - listensAt >= STORE_PATIENCE_MS) {
        fail(allocation, 'unavailable', false)
        stop(allocation, requestId)
      } else if (phase === 'retrying' && now - knownAt >= RETRY_PATIENCE_MS) {
        fail(allocation, 'no-capacity', true)
      }
    }
  }

  const endRunning = (now: number) => {
    for (const allocation of allocations.served()) {
      const { phase, requestId, endsAt, joinBy } = allocation
      if (phase !== 'running' || requestId === undefined || now < Math.min(endsAt, joinBy)) continue
      allocation.unwanted ??= now < endsAt ? 'nobody-joined' : 'max-duration'
      stop(allocation, requestId)
    }
  }

  return (now: number): void => {
    endStarting(now)
    if (now < nextEndsAt) return
    nextEndsAt = now + ENDS_GAP_MS
    endRunning(now)
  }
}

/**
 * Reads from the service what is not known of running servers: when those of an earlier process must be stopped, and
 * where those of pools run. The clock of that process may have been wrong, so the age of a deployment is taken from the
 * service. A server keeps running until its age is known.
 */
export type EndTimes = ReturnType<typeof createEndTimes>

interface EndTimesOptions {
  readonly sources: Pick<Sources, 'of'>
  readonly allocations: Pick<Allocations, 'find'>
  readonly clock: Pick<Clock, 'now'>
  /** It is known now where a server of a pool runs. */
  readonly located: (allocation: Allocation) => void
  readonly problem: (error: unknown, allocation: Allocation) => void
}

const isUnlocated = ({ pool, isLocated, assignment }: Allocation) =>
  pool !== undefined && !isLocated && assignment?.location === undefined

/** Milliseconds until the status of an allocation is read again whose age the service did not report. */
const RETRY_MS = 5000

export function createEndTimes({ sources, allocations, clock, located, problem }: EndTimesOptions) {
  /** Allocations of which something is unknown, with the epoch milliseconds before which their status is not read. */
  const unknown = new Map<Allocation, number>()
  let isAsking = false

  const ask = async (allocation: Allocation, requestId: string): Promise<void> => {
    isAsking = true
    try {
      const facts = await sources.of(allocation.source).look(requestId)
      // One that is gone is asked for again until the source tells of its end.
      if (facts === undefined) return void unknown.set(allocation, clock.now() + RETRY_MS)
      const { ageMs = 0, location } = facts
      // A server of unknown age counts as new: one that runs too long is better than one stopped during play.
      if (allocation.endsAt === Infinity) allocation.endsAt = clock.now() + allocation.lastsMs - ageMs
      allocation.isLocated = true
      const { assignment } = allocation
      if (assignment !== undefined && location !== undefined) {
        allocation.assignment = { ...assignment, location }
        located(allocation)
      }
      unknown.delete(allocation)
    } catch (error) {
      unknown.set(allocation, clock.now() + RETRY_MS)
      problem(error, allocation)
    } finally {
      isAsking = false
    }
  }

  return {
    /** Adds an allocation whose `lastsMs` is known and whose `endsAt` has to be found out. */
    expect: (allocation: Allocation) => void unknown.set(allocation, 0),
    /** Adds a server of a pool unless it is known where it runs. */
    locate: (allocation: Allocation) => {
      if (isUnlocated(allocation)) unknown.set(allocation, 0)
    },
    /** Requests the status of the next allocation, unless a request is already in flight. */
    advance: (now: number) => {
      if (isAsking) return
      for (const [allocation, askAt] of unknown) {
        const { matchId, phase, requestId } = allocation
        const isKnown = !isUnlocated(allocation) && (allocation.endsAt < Infinity || allocation.lastsMs === Infinity)
        if (isKnown || phase === 'stopping' || allocations.find(matchId) !== allocation) unknown.delete(allocation)
        else if (phase === 'running' && requestId !== undefined && askAt <= now) return void ask(allocation, requestId)
      }
    },
  }
}
