import PQueue from 'p-queue'
import type { Clock } from '../clock.js'
import { createAlarm } from './alarm.js'
import { CallQueue } from './call-queue.js'
import type { Limiter, Permit } from './limiter.js'

export interface SchedulerOptions {
  readonly clock: Clock
  /** Says when the next call may start; see `createBucket`. Without one, only `maxInFlight` holds calls back. */
  readonly limiter?: Limiter | undefined
  /** How many calls may be under way at once. Default 256. */
  readonly maxInFlight?: number | undefined
  /** How long a 429 without Retry-After pauses the queue, in milliseconds. Default 1000, the window of all documented limits. */
  readonly pauseMs?: number | undefined
  /** The longest pause a Retry-After can ask for, in milliseconds. Default 60,000. */
  readonly maxPauseMs?: number | undefined
}

/** Given to a job when it starts, to say what the limiter must know about its request. What is said twice counts once. */
export interface Slot {
  /** The request was written to the socket, after connecting: not when it was put in line for a connection. */
  written(): void
  /** The first of the answer arrived. A job that fulfils says it by that; saying it before the body is read frees the next start sooner. */
  answered(): void
}

export interface RunOptions {
  /** Higher goes first, also before all who wait already; equals go in the order of their calls. Default 0. */
  readonly priority?: number | undefined
  /** One signal per call. Aborting rejects the call at once with the signal's reason, in the queue (at no cost) or under way. */
  readonly signal?: AbortSignal | undefined
}

export interface SchedulerState {
  /** Calls that wait. */
  readonly queued: number
  /** Calls under way. */
  readonly inFlight: number
  /** Starts that are free now, as far as known. Infinity without a limiter. */
  readonly tokens: number
  /** Starts per window: less than the full rate for a while after a 429. Infinity without a limiter. */
  readonly rate: number
  /** Epoch milliseconds before which nothing starts, because of a 429. */
  readonly pausedUntil: number | undefined
}

export interface Scheduler {
  /**
   * Queues a job, starts it when it is its turn and a start is free, and settles as it does. A job that
   * rejects without having called `slot.written` costs nothing of the limit.
   */
  run<T>(job: (slot: Slot) => Promise<T>, options?: RunOptions): Promise<T>
  /**
   * A 429 was seen: nothing starts for `retryAfterMs` (bounded by `maxPauseMs`), and the limiter lowers
   * the rate for a while. What is queued stays queued. Repeating the refused call is the caller's part.
   */
  throttled(retryAfterMs: number | undefined): void
  /** Resolves when nothing waits and nothing is under way. */
  onIdle(): Promise<void>
  /** Rejects what waits, and every later call, with `reason`; resolves when all that is under way has ended. */
  close(reason: unknown): Promise<void>
  readonly state: SchedulerState
}

/** What the next call starts with: a permit, or the error of a limiter that could not give one. */
type Hand = Permit | { readonly failed: unknown }

/** For calls that no limit holds back. */
const unlimitedSlot: Slot = { written: () => {}, answered: () => {} }

/**
 * One queue, for one documented limit. p-queue keeps the order, the priorities and the number under way;
 * the limiter says when the next may start. The queue runs exactly while a permit is in hand, so which call
 * is next is not decided before it can really start: a late call of higher priority overtakes all that wait.
 *
 * @throws RangeError naming the option and the value.
 */
export function createScheduler(options: SchedulerOptions): Scheduler {
  const { clock, limiter, maxInFlight, pauseMs, maxPauseMs } = validated(options)
  const queue = new PQueue({ concurrency: maxInFlight, autoStart: limiter === undefined, queueClass: CallQueue })
  const alarm = createAlarm(clock, () => prepare())
  let hand: Hand | undefined
  let asking = false
  let pausedUntil = Number.NEGATIVE_INFINITY
  let closed: { readonly reason: unknown } | undefined

  /** While calls wait: gets a permit in hand, or sees to it that it is tried again. */
  const prepare = () => {
    if (hand !== undefined || asking || queue.size === 0) return
    const now = clock.now()
    if (now < pausedUntil) alarm.set(pausedUntil)
    else if (limiter === undefined) queue.start()
    else ask(limiter, now)
  }

  const ask = (whom: Limiter, now: number) => {
    let answer: ReturnType<Limiter['reserve']>
    try {
      answer = whom.reserve(now)
    } catch (error) {
      return fail(error)
    }
    if (!(answer instanceof Promise)) return receive(answer)
    asking = true
    answer.then(receiveLate, fail)
  }

  const receive = (answer: Permit | number) => {
    if (typeof answer === 'number') alarm.set(answer)
    else hold(answer)
  }

  /** Meanwhile the last call may have left, or a 429 come. */
  const receiveLate = (answer: Permit | number) => {
    asking = false
    const now = clock.now()
    if (queue.size > 0 && now >= pausedUntil) return receive(answer)
    if (typeof answer !== 'number') answer.release(now)
    prepare()
  }

  const fail = (error: unknown) => {
    asking = false
    if (queue.size > 0) hold({ failed: error })
  }

  const hold = (next: Hand) => {
    hand = next
    alarm.clear()
    queue.start()
  }

  /** Stops the queue. */
  const putBack = () => {
    queue.pause()
    if (hand !== undefined && 'release' in hand) hand.release(clock.now())
    hand = undefined
  }

  const begin = <T>(job: (slot: Slot) => Promise<T>): Promise<T> => {
    if (closed !== undefined) throw closed.reason
    if (limiter === undefined) return job(unlimitedSlot)
    const drawn = hand as Hand // or the queue would not run
    hand = undefined
    prepare()
    if (hand === undefined) queue.pause()
    if ('failed' in drawn) throw drawn.failed
    return accompany(job, drawn)
  }

  /** Sees a job to its end, and its permit too. */
  const accompany = async <T>(job: (slot: Slot) => Promise<T>, permit: Permit): Promise<T> => {
    try {
      const value = await job({ written: () => permit.written(clock.now()), answered: () => permit.answered(clock.now()) })
      permit.answered(clock.now())
      return value
    } catch (error) {
      permit.release(clock.now())
      prepare() // a permit not used is there for the next
      throw error
    }
  }

  queue.on('empty', () => {
    alarm.clear()
    if (hand !== undefined) putBack()
  })

  return {
    run: (job, { priority = 0, signal } = {}) => {
      if (closed !== undefined) return Promise.reject(closed.reason)
      if (!Number.isFinite(priority)) return Promise.reject(new RangeError(`priority must be a finite number, not ${priority}`))
      const outcome = queue.add(() => begin(job), { priority, signal })
      if (!alarm.isSet()) prepare()
      return outcome
    },
    throttled: (retryAfterMs) => {
      const now = clock.now()
      const wish = retryAfterMs !== undefined && retryAfterMs >= 0 ? retryAfterMs : pauseMs
      pausedUntil = Math.max(pausedUntil, now + Math.min(wish, maxPauseMs))
      limiter?.throttled(now, pausedUntil)
      putBack()
      prepare()
    },
    onIdle: () => queue.onIdle(),
    close: async (reason) => {
      closed ??= { reason }
      alarm.clear()
      putBack()
      // Every waiting call starts now, and finds that it is too late.
      queue.concurrency = Number.POSITIVE_INFINITY
      queue.start()
      await queue.onIdle()
    },
    get state() {
      const now = clock.now()
      const { tokens, rate } = limiter?.inspect(now) ?? { tokens: Number.POSITIVE_INFINITY, rate: Number.POSITIVE_INFINITY }
      return { queued: queue.size, inFlight: queue.pending, tokens, rate, pausedUntil: now < pausedUntil ? pausedUntil : undefined }
    },
  }
}

function validated({ clock, limiter, maxInFlight = 256, pauseMs = 1000, maxPauseMs = 60_000 }: SchedulerOptions) {
  const check = (holds: boolean, option: string, value: number, wanted: string) => {
    if (!holds) throw new RangeError(`${option} must be ${wanted}, not ${value}`)
  }
  const isCount = Number.isInteger(maxInFlight) || maxInFlight === Number.POSITIVE_INFINITY
  check(isCount && maxInFlight >= 1, 'maxInFlight', maxInFlight, 'a whole number from 1, or Infinity')
  check(Number.isFinite(pauseMs) && pauseMs >= 0, 'pauseMs', pauseMs, 'a number from 0')
  check(Number.isFinite(maxPauseMs) && maxPauseMs >= 0, 'maxPauseMs', maxPauseMs, 'a number from 0')
  return { clock, limiter, maxInFlight, pauseMs, maxPauseMs }
}
