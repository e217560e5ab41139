import { type Limiter, MusterError, type Permit } from '@muster/core'
import type { RateLimit } from '@muster/core/api'
import type { Clock } from '@muster/core/clock'
import { backoffMs, createTicker, messageOf } from '@muster/core/internal'
import {
  createUnansweredRequests,
  type LimitTimes,
  limitTimes,
  type TokenStore,
  type WrittenRequest,
} from './token-store.js'

/**
 * No request may be sent, because Redis does not report how many requests other processes send. It is the `cause` of
 * calls that time out meanwhile. Its own cause is the error of Redis or its client.
 */
export class LimitsUnavailable extends MusterError {
  /** Name of the limit. */
  declare readonly limit: string

  static {
    this.prototype.name = 'LimitsUnavailable'
  }

  constructor(limit: string, why: string, cause?: unknown) {
    super(`The shared limit '${limit}' allows no requests now: ${why}`, { cause })
    Object.assign(this, { limit })
  }
}

const EVERY_MS = 250

/**
 * Reports the outcome of requests to the store. Nothing waits for it: a failed or late report only keeps a token used
 * for longer.
 */
function createReports(store: TokenStore, clock: Clock, times: LimitTimes) {
  const unproven = createUnansweredRequests(times)
  const keep = async () => {
    const due = unproven.due(clock.now())
    if (due.length === 0) return
    const asked = clock.now()
    await store.keep(due.map(({ id }) => id))
    for (const request of due) request.keptUntil = asked + times.holdMs
  }
  const ticker = createTicker({
    clock,
    everyMs: EVERY_MS,
    tick: () => keep().catch(ignored),
    isNeeded: () => unproven.size() > 0,
  })

  return {
    written: (request: WrittenRequest) => {
      unproven.written(request)
      ticker.wake()
    },
    answered: (request: WrittenRequest) => {
      const proven = unproven.answered(request)
      store.counted([request.id]).catch(ignored)
      if (proven.length > 0) store.settle(proven).catch(ignored)
    },
    lost: (request: WrittenRequest) => unproven.lost(request, clock.now()),
    unused: (id: string, dueMs: number) => void store.unused(id, dueMs).catch(ignored),
    close: () => ticker.stop(),
  }
}

const ignored = () => {}

/** Reports the course of a request to the limit's tokens. */
class SharedPermit implements Permit, WrittenRequest {
  readonly id: string
  writtenAt = Number.NaN
  keptUntil: number
  readonly #dueAt: number
  readonly #until: number
  readonly #clock: Clock
  readonly #reports: ReturnType<typeof createReports>
  #state: 'held' | 'written' | 'done' = 'held'

  /**
   * @param dueAt time from which the permit is valid.
   * @param until latest time at which the permit's request must be written.
   * @param keptUntil earliest time at which the permit's token may be free again.
   */
  constructor(
    id: string,
    dueAt: number,
    until: number,
    keptUntil: number,
    clock: Clock,
    reports: ReturnType<typeof createReports>,
  ) {
    this.id = id
    this.#dueAt = dueAt
    this.#until = until
    this.keptUntil = keptUntil
    this.#clock = clock
    this.#reports = reports
  }

  mayWrite(): boolean {
    return this.#clock.now() < this.#until
  }

  written(): void {
    if (this.#state !== 'held') return
    this.#state = 'written'
    this.writtenAt = this.#clock.now()
    this.#reports.written(this)
  }

  answered(): void {
    if (this.#state === 'done') return
    this.#state = 'done'
    this.#reports.answered(this)
  }

  release(): void {
    if (this.#state === 'done') return
    if (this.#state === 'held') this.#reports.unused(this.id, this.#dueAt - this.#clock.now())
    else this.#reports.lost(this)
    this.#state = 'done'
  }
}

export interface SharedLimiter extends Limiter {
  reserve(now: number): Promise<Permit | number>
  obstacle(): LimitsUnavailable | undefined
  close(): Promise<void>
}

/** Delay between two attempts while the store fails. Short, so that its return is noticed soon. */
const AGAIN = { baseMs: 50, capMs: 500, jitter: 0 }

/**
 * A token bucket that several processes share. The service never counts more than the limit from all of them.
 *
 * Each start takes a token from the store. If none is free, the store reserves the next one, and the caller waits until
 * it is free. So there is one round trip per start. Each process takes one token at a time, so all processes with work
 * get equal shares, and one without work takes nothing.
 *
 * Proof: between two uses of a token, the service has counted its first request, and a window has passed since. This
 * holds because a request:
 * - is written only while its permit is valid. The permit begins after a duration from the store's reply and ends after
 *   one from the query, both by this process's monotonic clock. A process that wakes up late writes nothing.
 * - has its response before its token is returned for a window. Without a response, the token stays used.
 * - was written before its permit expired, if its process died or stalled. It is assumed to be counted within
 *   `settleMs` of that, which is the only assumption.
 */
export function createSharedLimiter(
  { name, windowMs }: RateLimit,
  store: TokenStore,
  newId: () => string,
  clock: Clock,
  times: LimitTimes = limitTimes(windowMs),
): SharedLimiter {
  const reports = createReports(store, clock, times)
  let failures = 0
  let failure: unknown
  /** Start time of the query that has no reply yet. */
  let askedAt: number | undefined
  let last = { tokens: 0, rate: 0 }

  const take = async (id: string, now: number) => {
    askedAt ??= now
    try {
      const { free, rate, ...taken } = await store.take(id)
      last = { tokens: free, rate }
      failures = 0
      return taken
    } catch (error) {
      failures += 1
      failure = error
      return undefined
    } finally {
      askedAt = undefined
    }
  }

  return {
    reserve: async () => {
      const asked = clock.now()
      const id = newId()
      const taken = await take(id, asked)
      if (taken === undefined) return clock.now() + backoffMs(failures, 0, AGAIN)
      const due = clock.now() + taken.waitMs
      if (!taken.granted) return due
      // The store granted the permit after the query was sent, so this process considers it expired before the store
      // does.
      const goodAt = asked + taken.waitMs
      const permit = new SharedPermit(id, due, goodAt + times.permitMs, goodAt + times.holdMs, clock, reports)
      if (taken.waitMs > 0) await clock.sleep(taken.waitMs)
      if (permit.mayWrite()) return permit
      permit.release()
      return clock.now()
    },
    throttled: (now, until) => void store.refused(Math.max(0, until - now)).catch(() => {}),
    inspect: () => last,
    obstacle: () => {
      if (failures > 0) return new LimitsUnavailable(name, messageOf(failure), failure)
      const silentMs = askedAt === undefined ? 0 : clock.now() - askedAt
      if (silentMs < times.permitMs) return undefined
      return new LimitsUnavailable(name, `Redis has not answered for ${Math.round(silentMs)} ms`)
    },
    close: reports.close,
  }
}
