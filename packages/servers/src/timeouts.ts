import type { Allocation } from './records/allocation.js'
import type { ReturnReason } from './records/reasons.js'
import type { Allocations } from './allocations.js'

/**
 * Milliseconds for which tickets wait until a deployment created without capacity is stopped; then they return to the
 * queue.
 */
const RETRY_PATIENCE_MS = 10_000
/** Milliseconds for which players wait until the journal has recorded their server; then they return to the queue. */
const JOURNAL_PATIENCE_MS = 30_000
/**
 * Milliseconds between two looks at how long matches have lasted: there may be many, and it does not matter to them.
 */
const ENDS_GAP_MS = 1000

export interface TimeoutsOptions {
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
      } else if (phase === 'warming' && now - listensAt >= JOURNAL_PATIENCE_MS) {
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
