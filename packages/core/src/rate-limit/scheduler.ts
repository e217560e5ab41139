import PQueue from 'p-queue'
import { createAlarm } from '../runtime/index.js'
import type { Clock } from '../time.js'
import type { Limiter, LimiterState, Permit } from './limiter-types.js'
import { createPause, type Pause } from './pause.js'

/**
 * Passed to a job when it starts. The job uses it to report the progress of its request to the limiter. Repeated
 * reports count once.
 */
export interface CallSlot {
  /**
   * Called right before the request is written. If it returns false, the job must not write the request. Absent if the
   * job may always write.
   */
  readonly mayWrite?: (() => boolean) | undefined
  /**
   * Reports that the request's bytes were sent on an open connection. A request that only waits for a connection is not
   * reported.
   * @param fresh true for the first request on its connection.
   */
  written(fresh?: boolean): void
  /**
   * Reports that the response has begun to arrive. A fulfilled job reports it too, but later, after reading the body.
   */
  answered(): void
}

/** The slot of calls without a limit. */
const unlimitedSlot: CallSlot = { written: () => {}, answered: () => {} }

export interface SchedulerOptions {
  readonly clock: Clock
  /** Decides when the next call may start; see `createBucket`. Without a limiter, only `maxInFlight` delays calls. */
  readonly limiter?: Limiter | undefined
  /** Maximum number of concurrent calls. Default 256. */
  readonly maxInFlight?: number | undefined
  /**
   * Milliseconds for which a 429 without Retry-After pauses the queue. The pause doubles each time that no request was
   * accepted since the last one, up to 8 times the first pause. Default 1000, the window of all documented limits.
   */
  readonly pauseMs?: number | undefined
  /** Maximum pause in milliseconds that a Retry-After can impose. Default 60,000. */
  readonly maxPauseMs?: number | undefined
}

export interface RunOptions {
  /**
   * Calls of higher priority start first, even before calls that have waited longer. Calls of equal priority start in
   * order. Default 0.
   */
  readonly priority?: number | undefined
  /** The call's own signal. Aborting it rejects the call immediately with `signal.reason`, queued or running. */
  readonly signal?: AbortSignal | undefined
}

export interface SchedulerState {
  /** Number of waiting calls. */
  readonly queued: number
  /** Number of running calls. */
  readonly inFlight: number
  /** Number of calls that may start now, as far as known. Infinity without a limiter. */
  readonly tokens: number
  /** Number of calls that may start in a window; reduced temporarily after a 429. Infinity without a limiter. */
  readonly rate: number
  /** Epoch milliseconds before which no call starts, because of a 429; undefined without a pause. */
  readonly pausedUntil: number | undefined
  /**
   * Milliseconds after writing a request until it is regarded as counted without a response. Infinity: only responses
   * prove it. Undefined if the limiter does not report it.
   */
  readonly countedWithinMs: number | undefined
}

/** The permit to make the next call, or the limiter's error. */
type StartResult = Permit | { readonly failed: unknown }

type Alarm = ReturnType<typeof createAlarm>

const unlimitedState: LimiterState = { tokens: Number.POSITIVE_INFINITY, rate: Number.POSITIVE_INFINITY }

/**
 * The queue of one documented limit. p-queue keeps the order, the priorities and the number of running calls. The
 * limiter decides when the next call may start. The queue runs only while a permit, the limiter's right to start one
 * call, is available. The next call is thus chosen only when it can really start, and a late call of higher priority
 * overtakes all waiting calls.
 */
export class Scheduler {
  readonly #clock: Clock
  readonly #limiter: Limiter | undefined
  readonly #queue: PQueue
  readonly #pause: Pause
  /** Fires when the next call may be able to start. */
  readonly #alarm: Alarm
  /** Calls the limiter's `check` at the times that the limiter returns, while requests are in flight. */
  readonly #watch: Alarm
  /** The permit or error for the next call, while the queue runs. */
  #start: StartResult | undefined
  #isReserving = false
  /** Number of calls that have a permit and have not ended. */
  #running = 0
  #closed: { readonly reason: unknown } | undefined

  /** @throws RangeError naming the option and the value. */
  constructor(options: SchedulerOptions) {
    const { clock, limiter, maxInFlight, pauseMs, maxPauseMs } = validated(options)
    this.#clock = clock
    this.#limiter = limiter
    this.#queue = new PQueue({ concurrency: maxInFlight, autoStart: limiter === undefined })
    this.#pause = createPause({ pauseMs, maxPauseMs })
    this.#alarm = createAlarm(clock, () => this.#prepare())
    this.#watch = createAlarm(clock, () => {
      limiter?.check?.(clock.now())
      this.#setWatch()
    })
    this.#queue.on('empty', () => {
      this.#alarm.clear()
      if (this.#start !== undefined) this.#putBack()
    })
  }

  /**
   * Queues a job, starts it when it is its turn and a permit is available, and settles like the job. A job that rejects
   * without having called `slot.written` uses nothing of the limit.
   */
  run<T>(job: (slot: CallSlot) => Promise<T>, { priority = 0, signal }: RunOptions = {}): Promise<T> {
    if (this.#closed !== undefined) return Promise.reject(this.#closed.reason)
    if (!Number.isFinite(priority))
      return Promise.reject(new RangeError(`priority must be a finite number, not ${priority}`))
    const outcome = this.#queue.add(() => this.#begin(job), { priority, ...(signal && { signal }) })
    if (!this.#alarm.isSet()) this.#prepare()
    return outcome
  }
  /**
   * Records a 429: nothing starts for `retryAfterMs` (at most `maxPauseMs`), and the limiter lowers the rate
   * temporarily. Queued calls stay queued. The caller repeats the refused call.
   * @param startedAt start of the refused request. It is needed because concurrent requests count as one refusal.
   *   Default: now.
   */
  throttled(retryAfterMs: number | undefined, startedAt?: number): void {
    const now = this.#clock.now()
    this.#pause.refused(now, retryAfterMs, startedAt ?? now)
    this.#limiter?.throttled(now, this.#pause.until())
    this.#putBack()
    this.#prepare()
  }
  /**
   * Records a response other than 429. After two pauses in a row without such a response, calls start one at a time, to
   * test whether the service accepts them again.
   */
  accepted(): void {
    const wasProbing = this.#pause.probing()
    this.#pause.accepted()
    if (wasProbing) this.#prepare()
  }
  /** Resolves when no call waits or runs. */
  onIdle(): Promise<void> {
    return this.#queue.onIdle()
  }
  /** Rejects waiting and later calls with `reason`. Resolves when all running calls have ended. */
  async close(reason: unknown): Promise<void> {
    this.#closed ??= { reason }
    this.#alarm.clear()
    this.#watch.clear()
    this.#putBack()
    // Every waiting call starts now and rejects, because the queue is closed.
    this.#queue.concurrency = Number.POSITIVE_INFINITY
    this.#queue.start()
    await this.#queue.onIdle()
  }
  get state(): SchedulerState {
    const now = this.#clock.now()
    const { tokens, rate, countedWithinMs } = this.#limiter?.inspect(now) ?? unlimitedState
    const free = this.#pause.probing() && this.#running > 0 ? 0 : tokens
    const pausedUntil = now < this.#pause.until() ? this.#pause.until() : undefined
    return { queued: this.#queue.size, inFlight: this.#queue.pending, tokens: free, rate, pausedUntil, countedWithinMs }
  }

  /** Gets a permit for the next waiting call, or sets the time at which to try again. */
  #prepare(): void {
    if (this.#start !== undefined || this.#isReserving || this.#queue.size === 0) return
    if (this.#pause.probing() && this.#running > 0) return
    const now = this.#clock.now()
    if (now < this.#pause.until()) this.#alarm.set(this.#pause.until())
    else if (this.#limiter === undefined) this.#queue.start()
    else this.#reserve(this.#limiter, now)
  }
  #reserve(limiter: Limiter, now: number): void {
    let answer: ReturnType<Limiter['reserve']>
    try {
      answer = limiter.reserve(now)
    } catch (error) {
      return this.#fail(error)
    }
    if (!(answer instanceof Promise)) return this.#receive(answer)
    this.#isReserving = true
    answer.then(
      (late) => this.#receiveLate(late),
      (error: unknown) => this.#fail(error),
    )
  }
  #receive(answer: Permit | number): void {
    if (typeof answer === 'number') this.#alarm.set(answer)
    else this.#hold(answer)
  }
  /**
   * Receives the result of an asynchronous limiter. In the meantime, the last call may have left the queue, or a 429
   * may have come.
   */
  #receiveLate(answer: Permit | number): void {
    this.#isReserving = false
    const now = this.#clock.now()
    if (this.#queue.size > 0 && now >= this.#pause.until()) return this.#receive(answer)
    if (typeof answer !== 'number') answer.release(now)
    this.#prepare()
  }
  #fail(error: unknown): void {
    this.#isReserving = false
    if (this.#queue.size > 0) this.#hold({ failed: error })
  }
  #hold(start: StartResult): void {
    this.#start = start
    this.#alarm.clear()
    this.#queue.start()
  }
  /** Stops the queue and returns the unused permit. */
  #putBack(): void {
    this.#queue.pause()
    if (this.#start !== undefined && 'release' in this.#start) this.#start.release(this.#clock.now())
    this.#start = undefined
  }
  #begin<T>(job: (slot: CallSlot) => Promise<T>): Promise<T> {
    if (this.#closed !== undefined) throw this.#closed.reason
    if (this.#limiter === undefined) return job(unlimitedSlot)
    const start = this.#start as StartResult // Set, because the queue runs only while `#start` is set.
    this.#start = undefined
    this.#running += 1
    this.#prepare()
    if (this.#start === undefined) this.#queue.pause()
    return this.#runWith(job, start)
  }
  #slotOf(permit: Permit): CallSlot {
    return {
      mayWrite: () => permit.mayWrite?.() !== false,
      written: (fresh) => {
        permit.written(this.#clock.now(), fresh)
        if (!this.#watch.isSet()) this.#setWatch()
      },
      answered: () => permit.answered(this.#clock.now()),
    }
  }
  #setWatch(): void {
    const at = this.#limiter?.checkAt?.(this.#clock.now())
    if (at !== undefined) this.#watch.set(at)
  }
  /** Runs a job to its end, and settles its permit. */
  async #runWith<T>(job: (slot: CallSlot) => Promise<T>, start: StartResult): Promise<T> {
    try {
      if ('failed' in start) throw start.failed
      const value = await job(this.#slotOf(start))
      start.answered(this.#clock.now())
      this.#running -= 1
      // While calls start one at a time, the next one must wait until the caller has reported a 429, which happens
      // after this turn. So the alarm starts it.
      if (this.#pause.probing() && !this.#alarm.isSet()) this.#alarm.set(this.#clock.now())
      return value
    } catch (error) {
      if ('release' in start) start.release(this.#clock.now())
      this.#running -= 1
      this.#prepare() // An unused permit is free for the next call.
      throw error
    }
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
