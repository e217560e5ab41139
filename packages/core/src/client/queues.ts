import { limits } from '../api/limits.js'
import type { RateLimit } from '../operation.js'
import { createBucket } from '../scheduler/bucket.js'
import type { BoundChange } from '../scheduler/count-bound.js'
import { createScheduler, type Scheduler, type SchedulerState, type Slot } from '../scheduler/scheduler.js'
import { signalOf } from './cancellation.js'
import type { ClientConfig } from './config.js'
import { InvalidInput, type RateLimited } from './errors.js'
import type { EventSink } from './events.js'
import { laneOf, otherChanges, otherReads } from './lane.js'
import { createLearnedQueues } from './learned-queues.js'
import { enterPhase, type HoldUp } from './progress.js'
import { factsOf, type Request } from './request.js'

/** One queue for each rate limit. */
export interface Queues {
  /** The third hop: runs the job when it is the request's turn and the limit allows. */
  run<T>(request: Request, job: (slot: Slot) => Promise<T>): Promise<T>
  /** A 429 was seen: pauses the request's queue. Gives the milliseconds until it goes on. */
  throttled(request: Request, refusal: RateLimited, retryAfterMs: number | undefined): number
  /** An answer other than 429 was seen. */
  accepted(request: Request): void
  /**
   * By name of the limit; operations without a documented one are in `other` (reads) and `other changes`, and one that
   * was refused all the same is besides in a queue of its own, by its name.
   */
  state(): Readonly<Record<string, SchedulerState>>
}

/** Thrown by a request that waited until its operation got a queue of its own. */
const elsewhere = new Error('another queue')

/** @throws {InvalidInput} when the share leaves less than one request of a limit. */
export function createQueues(config: ClientConfig, events: EventSink): Queues {
  const { clock, maxRetryAfterMs, jitterMs } = config
  // What has no connection would only wait for one, and not by its priority.
  const maxInFlight =
    config.dispatcher === undefined ? Math.min(config.maxInFlight, config.connections) : config.maxInFlight
  const common = { clock, maxInFlight, maxPauseMs: maxRetryAfterMs }
  const queues = new Map<string, Scheduler>()
  for (const [key, limit] of Object.entries(config.limits)) {
    const name = key === 'other' ? otherReads : limits[key as keyof typeof limits].name
    const paced = (countedWithinMs: number, because: BoundChange) =>
      events.emit('paced', { limit: name, countedWithinMs, because })
    const limiter = limit === undefined ? undefined : limiterOf({ name, ...limit }, config, paced)
    queues.set(name, createScheduler({ ...common, limiter }))
    // One limit for both, if any.
    if (name === otherReads) queues.set(otherChanges, createScheduler({ ...common, limiter }))
  }
  const learned = createLearnedQueues(common, jitterMs)
  const queueOf = ({ operation }: Request) => queues.get(laneOf(operation)) as Scheduler
  /** The queue that a refusal concerns. */
  const nameOf = ({ operation, id }: Request) => operation.limit?.name ?? id
  const holdUps = new Map<string, HoldUp>()
  const holdUpOf = (request: Request): HoldUp => {
    const name = nameOf(request)
    const known = holdUps.get(name)
    if (known !== undefined) return known
    const holdUp = { refusal: undefined }
    holdUps.set(name, holdUp)
    return holdUp
  }

  const run = <T>(request: Request, job: (slot: Slot) => Promise<T>): Promise<T> => {
    const { progress, cancellation, id } = request
    const queue = queueOf(request)
    const own = learned.get(id)
    // A request that comes back after a failure goes before its equals, which all came later.
    const priority = progress.attempt > 1 ? request.priority + 0.5 : request.priority
    const begin = (slot: Slot) => {
      // A call that was cancelled while it waited is dropped here, if not before: unsent, it costs nothing.
      if (cancellation.cancelled) return Promise.reject(cancellation.reason)
      if (own !== learned.get(id)) return Promise.reject(elsewhere)
      enterPhase(progress, 'inFlight', clock.now())
      return job(slot)
    }
    const start = (also?: Slot) => {
      const options = { priority, signal: startsAtOnce(queue.state, maxInFlight) ? undefined : signalOf(cancellation) }
      return queue.run((slot) => begin(also === undefined ? slot : both(slot, also)), options)
    }
    return own === undefined ? start() : own.run(start, { priority, signal: signalOf(cancellation) })
  }

  return {
    run: (request, job) => {
      const { progress, operation } = request
      if (progress.attempt > 1) enterPhase(progress, 'queued', clock.now())
      progress.holdUp = holdUpOf(request)
      const outcome = run(request, job)
      if (operation.limit !== undefined) return outcome
      return outcome.catch((error: unknown) => (error === elsewhere ? run(request, job) : Promise.reject(error)))
    },
    throttled: (request, refusal, retryAfterMs) => {
      const queue = request.operation.limit === undefined ? learned.refused(request.id) : queueOf(request)
      queue.throttled(retryAfterMs, request.progress.since)
      holdUpOf(request).refusal = refusal
      const pauseMs = Math.max(0, (queue.state.pausedUntil ?? 0) - clock.now())
      events.emit('throttled', {
        ...factsOf(request),
        attempt: request.progress.attempt,
        limit: nameOf(request),
        retryAfterMs,
        pauseMs,
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

const both = (one: Slot, other: Slot): Slot => ({
  written: (fresh) => {
    one.written(fresh)
    other.written(fresh)
  },
  answered: () => {
    one.answered()
    other.answered()
  },
})

/** Who need not wait needs no signal to be taken out of the queue by, and signals are dear. */
const startsAtOnce = ({ queued, inFlight, tokens, pausedUntil }: SchedulerState, maxInFlight: number) =>
  queued === 0 && inFlight < maxInFlight && tokens >= 1 && pausedUntil === undefined

type Paced = (countedWithinMs: number, because: BoundChange) => void

function limiterOf(limit: RateLimit, { limiter, share, burst, jitterMs }: ClientConfig, boundChanged: Paced) {
  if (limiter !== undefined) return limiter(limit)
  try {
    // A burst above a small limit means the limit.
    return createBucket({
      ...limit,
      share,
      jitterMs,
      boundChanged,
      burst: burst === undefined ? undefined : Math.min(burst, limit.limit),
    })
  } catch (cause) {
    const why = cause instanceof Error ? cause.message : String(cause)
    throw new InvalidInput(`option limits, limit '${limit.name}': ${why}`, { field: 'limits', cause })
  }
}
