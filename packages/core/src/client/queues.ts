import { messageOf } from '../redact.js'
import type { OperationId } from '../api/api.js'
import { limits } from '../api/documented-limits.js'
import type { RateLimit } from '../operation.js'
import {
  type BoundChange,
  createRateSearch,
  createRefusals,
  type RateSearch,
  type Refusals,
  type Limiter,
  Scheduler,
  type SchedulerOptions,
  type SchedulerState,
  type CallSlot,
  createBucket,
  createTokens,
} from '../rate-limit/index.js'
import type { EventSink } from './call-events.js'
import type { ClientConfig } from './config.js'
import { InvalidInput, type RateLimited } from './errors.js'
import { enterPhase, factsOf, type HoldUp, laneOf, otherChanges, otherReads, type Request } from './request.js'
import { permitExpired } from './send.js'

/**
 * Queues of operations without a documented limit. An operation gets its own queue once its 429s look like those of a
 * limit. Its pauses then do not stop other operations.
 */
interface LearnedQueues {
  get(id: OperationId): Scheduler | undefined
  /**
   * Records a 429. If the 429s show a limit of the operation, returns the operation's queue, which is created if
   * needed. Returns undefined for a stray 429, which concerns only its own call.
   */
  refused(id: OperationId): Scheduler | undefined
  /** Records that an operation got a response other than 429. */
  accepted(id: OperationId): void
  entries(): Iterable<readonly [OperationId, Scheduler]>
}

/** The window of all documented limits. */
const WINDOW_MS = 1000

function createLearnedQueues(
  options: Pick<SchedulerOptions, 'clock' | 'maxInFlight' | 'maxPauseMs'>,
  jitterMs: number,
): LearnedQueues {
  const { clock } = options
  const queues = new Map<OperationId, Scheduler>()
  const rates = new Map<OperationId, RateSearch>()
  const judges = new Map<OperationId, { readonly refusals: Refusals; readonly rate: number | undefined }>()
  /** For each operation without its own queue: the times at which its calls of the last window were accepted. */
  const accepted = new Map<OperationId, number[]>()

  const recently = (id: OperationId): number[] => {
    const times = accepted.get(id)?.filter((at) => at + WINDOW_MS > clock.now()) ?? []
    accepted.set(id, times)
    return times
  }

  /** Returns the counts that tell 429s of a limit from stray ones. They restart when the operation's rate changes. */
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
      const rate = createRateSearch(recently(id).length, WINDOW_MS)
      const queue = new Scheduler({ ...options, limiter: createTokens({ rate, windowMs: WINDOW_MS, jitterMs }) })
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

/** The queues: one for each rate limit. */
export interface Queues {
  /** The third hop: runs the job at the request's turn, when the limit allows. */
  run<T>(request: Request, job: (slot: CallSlot) => Promise<T>): Promise<T>
  /**
   * Records a 429. Pauses the request's queue, and returns the milliseconds until the queue continues. Returns
   * undefined for a stray 429, which does not look like a rate limit: then only the request waits.
   */
  throttled(request: Request, refusal: RateLimited, retryAfterMs: number | undefined): number | undefined
  /** Records a response other than 429. */
  accepted(request: Request): void
  /**
   * Returns the states by name of the limit. Operations without a documented limit are in `other` (reads) and `other
   * changes`. If such an operation got a 429, it may also have its own queue, under the operation's name.
   */
  state(): Readonly<Record<string, SchedulerState>>
}

/** Rejects a request that still waits in the common queue when its operation gets its own queue. */
const movedToOwnQueue = new Error('the request left the common queue, because its operation got a queue of its own')

/** Creates the queues. @throws {InvalidInput} if the share leaves less than one request of a limit. */
export function createQueues(config: ClientConfig, events: EventSink): Queues {
  const { clock, maxRetryAfterMs, jitterMs } = config
  // Priorities do not apply to calls that wait for a connection. So calls wait in the queue, until a connection is
  // free.
  const maxInFlight =
    config.dispatcher === undefined ? Math.min(config.maxInFlight, config.connections) : config.maxInFlight
  const common = { clock, maxInFlight, maxPauseMs: maxRetryAfterMs }
  const queues = new Map<string, Scheduler>()
  const limiters = new Map<string, Limiter>()
  for (const [key, limit] of Object.entries(config.limits)) {
    const name = key === 'other' ? otherReads : limits[key as keyof typeof limits].name
    const paced = (countedWithinMs: number, because: BoundChange) =>
      events.emit('paced', { limit: name, countedWithinMs, because })
    const limiter = limit === undefined ? undefined : limiterOf({ name, ...limit }, config, paced)
    queues.set(name, new Scheduler({ ...common, limiter }))
    // Reads and changes share one limit, if there is any.
    if (name === otherReads) queues.set(otherChanges, new Scheduler({ ...common, limiter }))
    if (limiter !== undefined) limiters.set(name, limiter)
  }
  const learned = createLearnedQueues(common, jitterMs)
  const queueOf = ({ operation }: Request) => queues.get(laneOf(operation)) as Scheduler
  /** Returns the name of the queue that a refusal concerns. */
  const nameOf = ({ operation, id }: Request) => operation.limit?.name ?? id
  const holdUps = new Map<string, HoldUp>()
  const holdUpOf = (request: Request): HoldUp => {
    const name = nameOf(request)
    const known = holdUps.get(name)
    if (known !== undefined) return known
    const limiter = limiters.get(request.operation.limit?.name ?? otherReads)
    const holdUp = { refusal: undefined, obstacle: () => limiter?.obstacle?.() }
    holdUps.set(name, holdUp)
    return holdUp
  }

  const runOnce = <T>(request: Request, job: (slot: CallSlot) => Promise<T>, isRepeated: boolean): Promise<T> => {
    const { progress, cancellation, id } = request
    const queue = queueOf(request)
    const own = learned.get(id)
    // A repeated request goes before other requests of its priority, because these came later.
    const priority = isRepeated ? request.priority + 0.5 : request.priority
    const { signal } = cancellation
    const begin = async (slot: CallSlot): Promise<T> => {
      if (own !== learned.get(id)) throw movedToOwnQueue
      enterPhase(progress, 'inFlight', clock.now())
      return job(slot)
    }
    if (own === undefined) return queue.run(begin, { priority, signal })
    const beginBoth = (first: CallSlot) => queue.run((slot) => begin(both(first, slot)), { priority, signal })
    return own.run(beginBoth, { priority, signal })
  }

  return {
    run: async (request, job) => {
      const { progress } = request
      let isRepeated = progress.attempt > 1
      if (isRepeated) enterPhase(progress, 'queued', clock.now())
      progress.holdUp = holdUpOf(request)
      for (;;) {
        try {
          return await runOnce(request, job, isRepeated)
        } catch (error) {
          // The request was not sent, because it moves to its own queue or its limiter's permit expired. So it waits
          // again.
          if (error !== movedToOwnQueue && error !== permitExpired) throw error
          if (error === movedToOwnQueue) continue
          progress.lastError ??= error
          enterPhase(progress, 'queued', clock.now())
          isRepeated = true
        }
      }
    },
    throttled: (request, refusal, retryAfterMs) => {
      const queue = request.operation.limit === undefined ? learned.refused(request.id) : queueOf(request)
      queue?.throttled(retryAfterMs, request.progress.since)
      holdUpOf(request).refusal = refusal
      const pauseMs = queue && Math.max(0, (queue.state.pausedUntil ?? 0) - clock.now())
      events.emit('throttled', {
        ...factsOf(request),
        attempt: request.progress.attempt,
        limit: nameOf(request),
        retryAfterMs,
        pauseMs: pauseMs ?? 0,
      })
      return pauseMs
    },
    accepted: (request) => {
      if (request.progress.holdUp !== undefined) request.progress.holdUp.refusal = undefined
      if (request.operation.limit === undefined) learned.accepted(request.id)
      else queueOf(request).accepted()
    },
    state: () => Object.fromEntries([...queues, ...learned.entries()].map(([name, queue]) => [name, queue.state])),
  }
}

const both = (one: CallSlot, other: CallSlot): CallSlot => ({
  mayWrite: () => one.mayWrite?.() !== false && other.mayWrite?.() !== false,
  written: (fresh) => {
    one.written(fresh)
    other.written(fresh)
  },
  answered: () => {
    one.answered()
    other.answered()
  },
})

type Paced = (countedWithinMs: number, because: BoundChange) => void

function limiterOf(limit: RateLimit, { limiter, share, burst, jitterMs }: ClientConfig, boundChanged: Paced) {
  if (limiter !== undefined) return limiter(limit)
  try {
    // A burst above this limit is reduced to the limit.
    return createBucket({
      ...limit,
      share,
      jitterMs,
      boundChanged,
      burst: burst === undefined ? undefined : Math.min(burst, limit.limit),
    })
  } catch (cause) {
    const why = messageOf(cause)
    throw new InvalidInput(`option limits, limit '${limit.name}': ${why}`, { field: 'limits', cause })
  }
}
