import type { OperationId } from '../api/api.js'
import { createNumberQueue, type NumberQueue } from '../scheduler/number-queue.js'
import { createRateSearch } from '../scheduler/rate-search.js'
import { createScheduler, type Scheduler, type SchedulerOptions } from '../scheduler/scheduler.js'
import { createTokens } from '../scheduler/tokens.js'

/**
 * Queues of operations without a documented limit, each from its first 429 on: so one operation's pause never stops
 * another.
 */
export interface LearnedQueues {
  get(id: OperationId): Scheduler | undefined
  /** The queue of an operation that was refused. */
  refused(id: OperationId): Scheduler
  /** An operation was answered, and not by 429. */
  accepted(id: OperationId): void
  entries(): Iterable<readonly [OperationId, Scheduler]>
}

/** As all documented limits have. */
const WINDOW_MS = 1000

export function createLearnedQueues(
  options: Pick<SchedulerOptions, 'clock' | 'maxInFlight' | 'maxPauseMs'>,
  jitterMs: number,
): LearnedQueues {
  const { clock } = options
  const queues = new Map<OperationId, Scheduler>()
  /** When each operation without a queue was accepted in the window before now. */
  const accepted = new Map<OperationId, NumberQueue>()

  const recently = (id: OperationId): NumberQueue => {
    const times = accepted.get(id) ?? createNumberQueue()
    accepted.set(id, times)
    for (let first = times.first(); first !== undefined && first + WINDOW_MS <= clock.now(); first = times.first())
      times.shift()
    return times
  }

  return {
    get: (id) => queues.get(id),
    refused: (id) => {
      const known = queues.get(id)
      if (known !== undefined) return known
      const rate = createRateSearch(recently(id).size(), WINDOW_MS)
      const queue = createScheduler({ ...options, limiter: createTokens({ rate, windowMs: WINDOW_MS, jitterMs }) })
      queues.set(id, queue)
      accepted.delete(id)
      return queue
    },
    accepted: (id) => {
      const queue = queues.get(id)
      if (queue === undefined) recently(id).push(clock.now())
      else queue.accepted()
    },
    entries: () => queues,
  }
}
