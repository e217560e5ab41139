import type { OperationId } from '../api/api.js'
import { createNumberQueue, type NumberQueue } from '../scheduler/number-queue.js'
import { createRateSearch } from '../scheduler/rate-search.js'
import { createScheduler, type Scheduler, type SchedulerOptions } from '../scheduler/scheduler.js'
import { createTokens } from '../scheduler/tokens.js'

/**
 * Queues of operations without a documented limit. Each operation gets its own queue at its first 429, so that its
 * pauses do not stop other operations.
 */
export interface LearnedQueues {
  get(id: OperationId): Scheduler | undefined
  /** The queue of an operation that was refused, created if needed. */
  refused(id: OperationId): Scheduler
  /** Notes that an operation was answered other than by 429. */
  accepted(id: OperationId): void
  entries(): Iterable<readonly [OperationId, Scheduler]>
}

/** The window of all documented limits. */
const WINDOW_MS = 1000

export function createLearnedQueues(
  options: Pick<SchedulerOptions, 'clock' | 'maxInFlight' | 'maxPauseMs'>,
  jitterMs: number,
): LearnedQueues {
  const { clock } = options
  const queues = new Map<OperationId, Scheduler>()
  /** For each operation without a queue: when its calls of the last window were accepted. */
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
