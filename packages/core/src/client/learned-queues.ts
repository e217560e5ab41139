import type { OperationId } from '../api/api.js'
import { createNumberQueue, type NumberQueue } from '../scheduler/number-queue.js'
import { createRateSearch, type RateSearch } from '../scheduler/rate-search.js'
import { createRefusals, type Refusals } from '../scheduler/refusals.js'
import { createScheduler, type Scheduler, type SchedulerOptions } from '../scheduler/scheduler.js'
import { createTokens } from '../scheduler/tokens.js'

/**
 * Queues of operations without a documented limit. Each operation gets its own queue once its 429s are those of a
 * limit, so that its pauses do not stop other operations.
 */
export interface LearnedQueues {
  get(id: OperationId): Scheduler | undefined
  /**
   * Notes a 429. Returns the operation's queue, created if needed, if the operation is limited; undefined for a stray
   * 429, which concerns its own call alone.
   */
  refused(id: OperationId): Scheduler | undefined
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
  const rates = new Map<OperationId, RateSearch>()
  const judges = new Map<OperationId, { readonly refusals: Refusals; readonly rate: number | undefined }>()
  /** For each operation without a queue: when its calls of the last window were accepted. */
  const accepted = new Map<OperationId, NumberQueue>()

  const recently = (id: OperationId): NumberQueue => {
    const times = accepted.get(id) ?? createNumberQueue()
    accepted.set(id, times)
    for (let first = times.first(); first !== undefined && first + WINDOW_MS <= clock.now(); first = times.first())
      times.shift()
    return times
  }

  /** What answers say of the present rate. */
  const judge = (id: OperationId): Refusals => {
    const rate = rates.get(id)?.at(clock.now())
    const known = judges.get(id)
    const { refusals } = known ?? { refusals: createRefusals() }
    if (known?.rate !== rate) refusals.restart()
    if (known === undefined || known.rate !== rate) judges.set(id, { refusals, rate })
    return refusals
  }

  return {
    get: (id) => queues.get(id),
    refused: (id) => {
      const isProbing = rates.get(id)?.isProbing() ?? false
      if (!judge(id).refused(clock.now(), isProbing)) return undefined
      const known = queues.get(id)
      if (known !== undefined) return known
      const rate = createRateSearch(recently(id).size(), WINDOW_MS)
      const queue = createScheduler({ ...options, limiter: createTokens({ rate, windowMs: WINDOW_MS, jitterMs }) })
      queues.set(id, queue)
      rates.set(id, rate)
      accepted.delete(id)
      return queue
    },
    accepted: (id) => {
      judge(id).accepted(clock.now())
      const queue = queues.get(id)
      if (queue === undefined) recently(id).push(clock.now())
      else queue.accepted()
    },
    entries: () => queues,
  }
}
