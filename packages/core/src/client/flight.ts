import type { OperationId } from '../api/api.js'
import { type AbortListener, listenToAbort, stopListeningToAbort } from '../runtime/index.js'
import type { Clock } from '../time.js'
import type { Deadline, Deadlines } from './deadlines.js'
import { ClientClosed, TimedOut } from './errors.js'
import { cancel, factsOf, type Request, timeSpent, type TimeSpent } from './request.js'

/** Whether the client still accepts calls, and which work is unfinished. */
export interface Lifetime {
  /** @throws {ClientClosed} once `close` was called. */
  assertOpen(id: OperationId): void
  /** Notes the beginning of work for whose end `close` waits. */
  begin(): void
  end(): void
  /** Accepts no more calls; resolves when all work has ended. */
  close(): Promise<void>
}

export function createLifetime(): Lifetime {
  let running = 0
  let ended: (() => void) | undefined
  let closed: Promise<void> | undefined

  return {
    assertOpen: (id) => {
      if (closed !== undefined) throw new ClientClosed(`${id}: the client is closed`, { operation: id, sent: false })
    },
    begin: () => {
      running += 1
    },
    end: () => {
      running -= 1
      if (running === 0) ended?.()
    },
    close: () =>
      (closed ??= new Promise((resolve) => {
        ended = resolve
        if (running === 0) resolve()
      })),
  }
}

/**
 * The error for a caller whose time is up; it tells how the time was spent.
 * @param before time the request had spent when this caller joined it; undefined for the caller who began it.
 */
function timedOut(request: Request, timeoutMs: number, before: TimeSpent | undefined, now: number): TimedOut {
  const { id, progress } = request
  const spent = timeSpent(progress, now)
  const queuedMs = Math.round(spent.queued - (before?.queued ?? 0))
  const retryWaitMs = Math.round(spent.retryWait - (before?.retryWait ?? 0))
  const inFlightMs = Math.round(spent.inFlight - (before?.inFlight ?? 0))
  const where = `queued ${queuedMs} ms, waiting to retry ${retryWaitMs} ms, in flight ${inFlightMs} ms`
  const sent = progress.written || progress.doubtful
  // A caller that waited in a queue may have been held up by its limiter, or by the refusal of another call.
  const cause = progress.lastError ?? progress.holdUp?.obstacle() ?? progress.holdUp?.refusal
  const facts = { ...factsOf(request), timeoutMs, queuedMs, retryWaitMs, inFlightMs, sent, cause }
  return new TimedOut(`${id}: timed out after ${timeoutMs} ms (${where})`, facts)
}

/** What all flights share. */
interface FlightContext {
  /** The further hops: retry, schedule, send, decode. */
  readonly perform: (request: Request) => Promise<unknown>
  readonly deadlines: Deadlines
  readonly clock: Clock
  /** Called once per flight, when callers can no longer join because the work has ended or was abandoned. */
  readonly closed: (flight: Flight) => void
  /** Called once per flight, when its work has ended. */
  readonly landed: () => void
}

/**
 * An entry of the map of shared reads. When V8 makes a larger or smaller table for a map, the old one keeps its entries
 * until the next full garbage collection. So an entry refers to its flight only while that is under way.
 */
class SharedRead {
  readonly key: string
  flight: Flight | undefined

  constructor(key: string) {
    this.key = key
  }
}

/**
 * A request that one or more callers wait for, each with a deadline and a signal of its own. A caller who stops waiting
 * does not disturb the others; when the last one stops, the request is cancelled.
 *
 * `Flight` and `Waiting` are classes, because each call makes one of each: V8 may allocate object literals among
 * long-lived objects, which keeps alive all that they refer to.
 */
class Flight {
  readonly request: Request
  /** Where equal requests find this flight; undefined if it is not shared. */
  readonly shared: SharedRead | undefined
  readonly #context: FlightContext
  /** The callers in the order in which they joined, linked by `next`. An array would be one literal per call. */
  #first: Waiting | undefined
  #last: Waiting | undefined
  #departed = false
  #open = true

  constructor(request: Request, context: FlightContext, shared?: SharedRead) {
    this.request = request
    this.shared = shared
    this.#context = context
  }

  /** Settles with the request, or when this caller's signal is aborted or time is up, whichever comes first. */
  join(signal: AbortSignal | undefined, timeoutMs: number): Promise<unknown> {
    const { progress } = this.request
    // The first caller's time begins with the request.
    const now = this.#departed ? this.#context.clock.now() : progress.since
    progress.deadline = Math.max(progress.deadline, now + timeoutMs)
    const before = this.#departed ? timeSpent(progress, now) : undefined
    return new Promise((resolve, reject) => {
      const waiting = new Waiting(this, signal, now + timeoutMs, resolve, reject, timeoutMs, before)
      this.#add(waiting)
      this.#context.deadlines.add(waiting)
      if (signal !== undefined) listenToAbort(signal, waiting)
      if (!this.#departed) this.#depart()
    })
  }

  expire(waiting: Waiting): void {
    this.leave(waiting, timedOut(this.request, waiting.timeoutMs, waiting.before, this.#context.clock.now()))
  }

  abandon(waiting: Waiting): void {
    const { id, progress } = this.request
    const facts = { ...factsOf(this.request), sent: progress.written || progress.doubtful, cause: progress.lastError }
    this.leave(waiting, new ClientClosed(`${id}: the client was closed before the answer came`, facts))
  }

  leave(waiting: Waiting, reason: unknown): void {
    this.#remove(waiting)
    this.#release(waiting)
    waiting.reject(reason)
    if (this.#first !== undefined) return
    this.#close()
    cancel(this.request.cancellation, reason)
  }

  #depart(): void {
    this.#departed = true
    this.#context.perform(this.request).then(
      (value) => {
        for (let waiting = this.#land(); waiting !== undefined; waiting = waiting.next) {
          this.#release(waiting)
          waiting.resolve(value)
        }
      },
      (error: unknown) => {
        for (let waiting = this.#land(); waiting !== undefined; waiting = waiting.next) {
          this.#release(waiting)
          waiting.reject(error)
        }
      },
    )
  }

  /** Returns the first of the callers that still wait. */
  #land(): Waiting | undefined {
    this.#close()
    this.#context.landed()
    const first = this.#first
    this.#first = this.#last = undefined
    return first
  }

  #add(waiting: Waiting): void {
    if (this.#last === undefined) this.#first = waiting
    else this.#last.next = waiting
    this.#last = waiting
  }

  #remove(waiting: Waiting): void {
    let before: Waiting | undefined
    for (let one = this.#first; one !== waiting; one = one.next) {
      if (one === undefined) return
      before = one
    }
    if (before === undefined) this.#first = waiting.next
    else before.next = waiting.next
    if (this.#last === waiting) this.#last = before
  }

  #release(waiting: Waiting): void {
    this.#context.deadlines.remove(waiting)
    if (waiting.signal !== undefined) stopListeningToAbort(waiting.signal, waiting)
  }

  #close(): void {
    if (this.#open) this.#context.closed(this)
    this.#open = false
  }
}

/** A caller who waits for a flight, notified by the signal and by the deadline. */
class Waiting implements Deadline, AbortListener {
  readonly #flight: Flight
  readonly signal: AbortSignal | undefined
  readonly deadline: number
  readonly resolve: (value: unknown) => void
  readonly reject: (reason: unknown) => void
  readonly timeoutMs: number
  readonly before: TimeSpent | undefined
  place = -1
  /** The caller who joined next. */
  next: Waiting | undefined

  constructor(
    flight: Flight,
    signal: AbortSignal | undefined,
    deadline: number,
    resolve: (value: unknown) => void,
    reject: (reason: unknown) => void,
    timeoutMs: number,
    before: TimeSpent | undefined,
  ) {
    this.#flight = flight
    this.signal = signal
    this.deadline = deadline
    this.resolve = resolve
    this.reject = reject
    this.timeoutMs = timeoutMs
    this.before = before
  }

  expire(): void {
    this.#flight.expire(this)
  }

  abandon(): void {
    this.#flight.abandon(this)
  }

  handleEvent(): void {
    this.#flight.leave(this, this.signal?.reason)
  }
}

/** Performs requests. Equal reads at the same time share one request. */
export interface Flights {
  /** Performs a request or joins an equal one. Callers who share a request have their own signals and deadlines. */
  board(request: Request, signal: AbortSignal | undefined, timeoutMs: number): Promise<unknown>
}

interface FlightsOptions {
  /** The further hops: retry, schedule, send, decode. */
  readonly perform: (request: Request) => Promise<unknown>
  readonly deadlines: Deadlines
  readonly lifetime: Lifetime
  readonly clock: Clock
}

export function createFlights({ perform, deadlines, lifetime, clock }: FlightsOptions): Flights {
  /** Reads under way, by key. */
  const reads = new Map<string, SharedRead>()
  /**
   * Counts beginnings and ends of writes. It is part of a read's key, so that a read never joins a read which began
   * before a write whose effect it may have to show.
   */
  let writes = 0
  const countWrite = () => {
    writes += 1
  }
  const common = { perform, deadlines, clock, landed: lifetime.end }
  const writing = { ...common, closed: countWrite }
  const closeRead = ({ shared }: Flight) => {
    if (shared === undefined) return
    shared.flight = undefined
    reads.delete(shared.key)
  }
  const reading = { ...common, closed: closeRead }

  const write = (request: Request): Flight => {
    lifetime.begin()
    countWrite()
    return new Flight(request, writing)
  }

  const read = (request: Request, key: string): Flight => {
    lifetime.begin()
    const shared = new SharedRead(key)
    reads.set(key, shared)
    shared.flight = new Flight(request, reading, shared)
    return shared.flight
  }

  return {
    board: (request, signal, timeoutMs) => {
      if (request.operation.method !== 'GET') return write(request).join(signal, timeoutMs)
      // What one caller's check withholds must not be withheld from others.
      if (request.mayWrite !== undefined) return read(request, request.call).join(signal, timeoutMs)
      // Headers may change the answer. Priority is part of the key, so that a read does not wait at the lower priority
      // of another.
      const { priority, path, headers } = request
      const key = `${writes} ${priority} ${path} ${headers.join(' ')}`
      const flight = reads.get(key)?.flight ?? read(request, key)
      return flight.join(signal, timeoutMs)
    },
  }
}
