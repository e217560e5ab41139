import { limits } from '../api/limits.js'
import type { RateLimit } from '../operation.js'
import { createBucket } from '../scheduler/bucket.js'
import { createScheduler, type Scheduler, type SchedulerState, type Slot } from '../scheduler/scheduler.js'
import { signalOf } from './cancellation.js'
import type { ClientConfig } from './config.js'
import { InvalidInput } from './errors.js'
import type { EventSink } from './events.js'
import { enterPhase } from './progress.js'
import { factsOf, type Request } from './request.js'

/** One queue for each rate limit. */
export interface Queues {
  /** The third hop: runs the job when it is the request's turn and the limit allows. */
  run<T>(request: Request, job: (slot: Slot) => Promise<T>): Promise<T>
  /** A 429 was seen: pauses the request's queue. Gives the milliseconds until it goes on. */
  throttled(request: Request, retryAfterMs: number | undefined): number
  /** By name of the limit; operations without a documented one are in `other`. */
  state(): Readonly<Record<string, SchedulerState>>
}

const other = 'other'

/** @throws {InvalidInput} when the share leaves less than one request of a limit. */
export function createQueues(config: ClientConfig, events: EventSink): Queues {
  const { clock, maxInFlight, maxRetryAfterMs } = config
  const queues = new Map<string, Scheduler>()
  for (const [key, limit] of Object.entries(config.limits)) {
    const name = key === other ? other : limits[key as keyof typeof limits].name
    const limiter = limit === undefined ? undefined : limiterOf({ name, ...limit }, config)
    queues.set(name, createScheduler({ clock, maxInFlight, maxPauseMs: maxRetryAfterMs, limiter }))
  }
  const nameOf = (request: Request) => request.operation.limit?.name ?? other
  const queueOf = (request: Request) => queues.get(nameOf(request)) as Scheduler

  return {
    run: (request, job) => {
      const { progress, cancellation } = request
      if (progress.attempt > 1) enterPhase(progress, 'queued', clock.now())
      const begin = (slot: Slot) => {
        // A call that was cancelled while it waited is dropped here, if not before: unsent, it costs nothing.
        if (cancellation.cancelled) return Promise.reject(cancellation.reason)
        enterPhase(progress, 'inFlight', clock.now())
        return job(slot)
      }
      const queue = queueOf(request)
      // A request that comes back after a failure goes before its equals, which all came later.
      const priority = progress.attempt > 1 ? request.priority + 0.5 : request.priority
      return queue.run(begin, { priority, signal: startsAtOnce(queue.state, maxInFlight) ? undefined : signalOf(cancellation) })
    },
    throttled: (request, retryAfterMs) => {
      const queue = queueOf(request)
      queue.throttled(retryAfterMs)
      const pauseMs = Math.max(0, (queue.state.pausedUntil ?? 0) - clock.now())
      events.emit('throttled', { ...factsOf(request), attempt: request.progress.attempt, limit: nameOf(request), retryAfterMs, pauseMs })
      return pauseMs
    },
    state: () => Object.fromEntries([...queues].map(([name, queue]) => [name, queue.state])),
  }
}

/** Who need not wait needs no signal to be taken out of the queue by, and signals are dear. */
const startsAtOnce = ({ queued, inFlight, tokens, pausedUntil }: SchedulerState, maxInFlight: number) =>
  queued === 0 && inFlight < maxInFlight && tokens >= 1 && pausedUntil === undefined

function limiterOf(limit: RateLimit, { limiter, share, burst, jitterMs }: ClientConfig) {
  if (limiter !== undefined) return limiter(limit)
  try {
    // A burst above a small limit means the limit.
    return createBucket({ ...limit, share, jitterMs, burst: burst === undefined ? undefined : Math.min(burst, limit.limit) })
  } catch (cause) {
    const why = cause instanceof Error ? cause.message : String(cause)
    throw new InvalidInput(`option limits, limit '${limit.name}': ${why}`, { field: 'limits', cause })
  }
}
