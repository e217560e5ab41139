import PQueue from 'p-queue'
import { createAlarm } from '../runtime/index.js'
import type { Clock } from '../time.js'
import type { Limiter, LimiterState, Permit } from './limiter.js'

/** Passed to a job when it starts, to report the course of its request to the limiter. Reporting twice counts once. */
export interface Slot {
  /** Asked right before the request is written; if false, the job must not write it. Absent: it may. */
  readonly mayWrite?: (() => boolean) | undefined
  /**
   * The request's bytes have left on an open connection: not when it was put in line for one.
   * @param fresh the first on its connection.
   */
  written(fresh?: boolean): void
  /** The first of the answer arrived. A job that fulfils says so too; before the body is read, it is sooner. */
  answered(): void
}

/** The slot of calls that no limit holds back. */
const unlimitedSlot: Slot = { written: () => {}, answered: () => {} }

interface PauseOptions {
  /** Milliseconds of the first pause if the service names none. Each further pause in a row is twice as long. */
  readonly pauseMs: number
  /** The longest pause in milliseconds that the service can ask for. */
  readonly maxPauseMs: number
}

interface Pause {
  /** Epoch milliseconds at which the pause ends; in the past if there is none. */
  until(): number
  /** Notes that a request started at `startedAt` was refused. Requests under way together cause one pause. */
  refused(now: number, retryAfterMs: number | undefined, startedAt: number): void
  /** Notes that a request was accepted. */
  accepted(): void
  /** Whether several pauses have passed without an accepted request, so that single requests should probe. */
  probing(): boolean
}

/** The longest pause that the service did not ask for, as a multiple of the first. */
const LONGEST = 8

export function createPause({ pauseMs, maxPauseMs }: PauseOptions): Pause {
  let until = Number.NEGATIVE_INFINITY
  let begunAt = Number.NEGATIVE_INFINITY
  let inRow = 0

  return {
    until: () => until,
    refused: (now, retryAfterMs, startedAt) => {
      const isNew = startedAt > begunAt
      if (isNew) {
        inRow += 1
        begunAt = now
      }
      const wish = retryAfterMs !== undefined && retryAfterMs >= 0 ? retryAfterMs : undefined
      if (wish === undefined && !isNew) return
      const ms = wish ?? pauseMs * Math.min(LONGEST, 2 ** (inRow - 1))
      until = Math.max(until, now + Math.min(ms, maxPauseMs))
    },
    accepted: () => {
      inRow = 0
    },
    probing: () => inRow > 1,
  }
}

export interface SchedulerOptions {
  readonly clock: Clock
  /**
   * Decides when the next call may start; see `createBucket`. Without a limiter, only `maxInFlight` holds calls back.
   */
  readonly limiter?: Limiter | undefined
  /** Most calls under way at once. Default 256. */
  readonly maxInFlight?: number | undefined
  /**
   * How long a 429 without Retry-After pauses the queue, in milliseconds; twice as long each time that nothing was
   * accepted since, up to 8 times. Default 1000, the window of all documented limits.
   */
  readonly pauseMs?: number | undefined
  /** The longest pause a Retry-After can ask for, in milliseconds. Default 60,000. */
  readonly maxPauseMs?: number | undefined
}

export interface RunOptions {
  /**
   * Calls of higher priority start first, even before calls that wait already; equal ones in their order. Default 0.
   */
  readonly priority?: number | undefined
  /** One signal per call. Aborting rejects the call at once with the signal's reason, in the queue or under way. */
  readonly signal?: AbortSignal | undefined
}

export interface SchedulerState {
  /** Number of waiting calls. */
  readonly queued: number
  /** Number of calls under way. */
  readonly inFlight: number
  /** Starts that are free now, as far as known. Infinity without a limiter. */
  readonly tokens: number
  /** Starts per window; reduced temporarily after a 429. Infinity without a limiter. */
  readonly rate: number
  /** Epoch milliseconds before which nothing starts, because of a 429. */
  readonly pausedUntil: number | undefined
  /**
   * Milliseconds after its writing at which a request is taken as counted by the service although its answer has not
   * come. Infinity: only answers tell. Undefined where the limiter does not say.
   */
  readonly countedWithinMs: number | undefined
}

export interface Scheduler {
  /**
   * Queues a job, starts it when it is its turn and a start is free, and settles as it does. A job that
   * rejects without having called `slot.written` costs nothing of the limit.
   */
  run<T>(job: (slot: Slot) => Promise<T>, options?: RunOptions): Promise<T>
  /**
   * A 429 was seen: nothing starts for `retryAfterMs` (bounded by `maxPauseMs`), and the limiter lowers the rate
   * temporarily. Queued calls stay queued. Repeating the refused call is the caller's part.
   * @param startedAt when the refused request started, by which those that were under way together are one. Default:
   *   now.
   */
  throttled(retryAfterMs: number | undefined, startedAt?: number): void
  /** Notes an answer other than 429. Until then, after two pauses in a row, calls start one at a time, as probes. */
  accepted(): void
  /** Resolves when no call waits or is under way. */
  onIdle(): Promise<void>
  /** Rejects waiting and later calls with `reason`; resolves when all calls under way have ended. */
  close(reason: unknown): Promise<void>
  readonly state: SchedulerState
}

/** The permit for the next call, or the limiter's error. */
type Hand = Permit | { readonly failed: unknown }

const unlimitedState: LimiterState = { tokens: Number.POSITIVE_INFINITY, rate: Number.POSITIVE_INFINITY }

/**
 * One queue, for one documented limit. p-queue keeps the order, the priorities and the number under way;
 * the limiter says when the next may start. The queue runs exactly while a permit is in hand, so which call
 * is next is not decided before it can really start: a late call of higher priority overtakes all that wait.
 *
 * @throws RangeError naming the option and the value.
 */
export function createScheduler(options: SchedulerOptions): Scheduler {
  const { clock, limiter, maxInFlight, pauseMs, maxPauseMs } = validated(options)
  const queue = new PQueue({ concurrency: maxInFlight, autoStart: limiter === undefined })
  const alarm = createAlarm(clock, () => prepare())
  /** Calls the limiter's `check` at the times that the limiter returns, while requests are in flight. */
  const watch = createAlarm(clock, () => {
    limiter?.check?.(clock.now())
    setWatch()
  })
  const setWatch = () => {
    const at = limiter?.checkAt?.(clock.now())
    if (at !== undefined) watch.set(at)
  }
  const pause = createPause({ pauseMs, maxPauseMs })
  let hand: Hand | undefined
  let asking = false
  /** Calls that have a permit and have not ended. */
  let running = 0
  let closed: { readonly reason: unknown } | undefined

  /** Gets a permit for the next waiting call, or sets the time to try again. */
  const prepare = () => {
    if (hand !== undefined || asking || queue.size === 0 || (pause.probing() && running > 0)) return
    const now = clock.now()
    if (now < pause.until()) alarm.set(pause.until())
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

  /** Receives the answer of an asynchronous limiter. Meanwhile the last call may have left, or a 429 may have come. */
  const receiveLate = (answer: Permit | number) => {
    asking = false
    const now = clock.now()
    if (queue.size > 0 && now >= pause.until()) return receive(answer)
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

  /** Stops the queue and returns the unused permit. */
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
    running += 1
    prepare()
    if (hand === undefined) queue.pause()
    return accompany(job, drawn)
  }

  const slotOf = (permit: Permit): Slot => ({
    mayWrite: () => permit.mayWrite?.() !== false,
    written: (fresh) => {
      permit.written(clock.now(), fresh)
      if (!watch.isSet()) setWatch()
    },
    answered: () => permit.answered(clock.now()),
  })

  /** Runs a job to its end, and settles its permit. */
  const accompany = async <T>(job: (slot: Slot) => Promise<T>, permit: Hand): Promise<T> => {
    try {
      if ('failed' in permit) throw permit.failed
      const value = await job(slotOf(permit))
      permit.answered(clock.now())
      running -= 1
      // The caller tells only after this whether the call was refused.
      if (pause.probing() && !alarm.isSet()) alarm.set(clock.now())
      return value
    } catch (error) {
      if ('release' in permit) permit.release(clock.now())
      running -= 1
      prepare() // an unused permit is free for the next call
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
      if (!Number.isFinite(priority))
        return Promise.reject(new RangeError(`priority must be a finite number, not ${priority}`))
      const outcome = queue.add(() => begin(job), { priority, ...(signal && { signal }) })
      if (!alarm.isSet()) prepare()
      return outcome
    },
    throttled: (retryAfterMs, startedAt) => {
      const now = clock.now()
      pause.refused(now, retryAfterMs, startedAt ?? now)
      limiter?.throttled(now, pause.until())
      putBack()
      prepare()
    },
    accepted: () => {
      const wasProbing = pause.probing()
      pause.accepted()
      if (wasProbing) prepare()
    },
    onIdle: () => queue.onIdle(),
    close: async (reason) => {
      closed ??= { reason }
      alarm.clear()
      watch.clear()
      putBack()
      // Every waiting call starts now, and rejects because the queue is closed.
      queue.concurrency = Number.POSITIVE_INFINITY
      queue.start()
      await queue.onIdle()
    },
    get state() {
      const now = clock.now()
      const { tokens, rate, countedWithinMs } = limiter?.inspect(now) ?? unlimitedState
      const free = pause.probing() && running > 0 ? 0 : tokens
      const pausedUntil = now < pause.until() ? pause.until() : undefined
      return { queued: queue.size, inFlight: queue.pending, tokens: free, rate, pausedUntil, countedWithinMs }
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
