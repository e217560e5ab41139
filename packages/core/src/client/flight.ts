import type { OperationId } from '../api/api.js'
import { listenToAbort, stopListeningToAbort } from '../runtime/index.js'
import type { Clock } from '../time.js'
import { ClientClosed, TimedOut } from './errors.js'
import { factsOf, type Request, timeSpent, type TimeSpent } from './request.js'

/** Whether the client still accepts calls, and which work is unfinished. */
export interface Lifetime {
  /** Checks that the client still accepts calls. @throws {ClientClosed} once `close` was called. */
  assertOpen(id: OperationId): void
  /** Records the beginning of work for whose end `close` waits. */
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
 * Makes the error for a caller whose timeout has passed, with the time spent in each phase.
 * @param before time that the request had spent when this caller joined it; undefined for the caller who started it.
 */
function timedOut(request: Request, timeoutMs: number, before: TimeSpent | undefined, now: number): TimedOut {
  const { id, progress } = request
  const spent = timeSpent(progress, now)
  const queuedMs = Math.round(spent.queued - (before?.queued ?? 0))
  const retryWaitMs = Math.round(spent.retryWait - (before?.retryWait ?? 0))
  const inFlightMs = Math.round(spent.inFlight - (before?.inFlight ?? 0))
  const where = `queued ${queuedMs} ms, waiting to retry ${retryWaitMs} ms, in flight ${inFlightMs} ms`
  const sent = progress.written || progress.doubtful
  // If no attempt has failed, the cause is what blocked the queue: its limiter, or a 429 of another call.
  const cause = progress.lastError ?? progress.holdUp?.obstacle() ?? progress.holdUp?.refusal
  const facts = { ...factsOf(request), timeoutMs, queuedMs, retryWaitMs, inFlightMs, sent, cause }
  return new TimedOut(`${id}: timed out after ${timeoutMs} ms (${where})`, facts)
}

function closedMeanwhile(request: Request): ClientClosed {
  const { id, progress } = request
  const facts = { ...factsOf(request), sent: progress.written || progress.doubtful, cause: progress.lastError }
  return new ClientClosed(`${id}: the client was closed before the answer came`, facts)
}

/** A request that one or more callers wait for, each with its own deadline and signal. */
interface Flight {
  readonly request: Request
  readonly outcome: Promise<unknown>
  /** Number of callers that still wait. */
  callers: number
  /** Stops other callers from joining, because the request has ended or was cancelled. */
  readonly close: () => void
}

/** Performs requests. Equal reads at the same time share one request. */
export interface Flights {
  /**
   * Performs a request or joins an equal one. Callers who share a request have their own signals and deadlines. A
   * caller who stops waiting does not affect the others. When the last caller stops waiting, the request is cancelled.
   */
  board(request: Request, signal: AbortSignal | undefined, timeoutMs: number): Promise<unknown>
  /** Rejects all callers with `ClientClosed`. */
  abandonAll(): void
}

interface FlightsOptions {
  /** The further hops: retry, schedule, send, decode. */
  readonly perform: (request: Request) => Promise<unknown>
  readonly lifetime: Lifetime
  readonly clock: Clock
}

export function createFlights({ perform, lifetime, clock }: FlightsOptions): Flights {
  /** Running reads, by key. */
  const reads = new Map<string, Flight>()
  /** For each waiting caller, the function that rejects it because the client is closed. */
  const waiting = new Set<() => void>()
  /**
   * Counts beginnings and ends of writes. The count is part of a read's key, so that a read never joins one that began
   * before a write: it may have to see the write's effect.
   */
  let writes = 0

  const begin = (request: Request, closed: () => void): Flight => {
    lifetime.begin()
    let isOpen = true
    const close = () => {
      if (isOpen) closed()
      isOpen = false
    }
    const outcome = perform(request).finally(() => {
      close()
      lifetime.end()
    })
    return { request, outcome, callers: 0, close }
  }

  const beginWrite = (request: Request): Flight => {
    const countWrite = () => {
      writes += 1
    }
    countWrite()
    return begin(request, countWrite)
  }

  const beginRead = (request: Request, key: string): Flight => {
    const flight = begin(request, () => reads.delete(key))
    reads.set(key, flight)
    return flight
  }

  /** Settles with the request, or earlier when this caller's signal is aborted or its timeout passes. */
  const join = (flight: Flight, signal: AbortSignal | undefined, timeoutMs: number): Promise<unknown> => {
    const { request, outcome } = flight
    const { progress, cancellation } = request
    const now = clock.now()
    const isFirst = flight.callers === 0
    const before = isFirst ? undefined : timeSpent(progress, now)
    const deadline = (isFirst ? progress.since : now) + timeoutMs
    progress.deadline = Math.max(progress.deadline, deadline)
    flight.callers += 1

    return new Promise((resolve, reject) => {
      const over = new AbortController()
      const end = () => {
        over.abort(null)
        waiting.delete(abandon)
        if (signal !== undefined) stopListeningToAbort(signal, listener)
      }
      const leave = (reason: unknown) => {
        end()
        reject(reason)
        flight.callers -= 1
        if (flight.callers > 0) return
        flight.close()
        cancellation.abort(reason)
      }
      const abandon = () => leave(closedMeanwhile(request))
      const listener = { handleEvent: () => leave(signal?.reason) }

      waiting.add(abandon)
      if (signal !== undefined) listenToAbort(signal, listener)
      clock.sleep(deadline - now, over.signal).then(
        () => leave(timedOut(request, timeoutMs, before, clock.now())),
        () => {}, // the caller waits no longer
      )
      outcome.then(resolve, reject).finally(end)
    })
  }

  return {
    board: (request, signal, timeoutMs) => {
      if (request.operation.method !== 'GET') return join(beginWrite(request), signal, timeoutMs)
      // A request with a `mayWrite` is not shared: if one caller's `mayWrite` stops it, other callers must not be
      // affected.
      if (request.mayWrite !== undefined) return join(beginRead(request, request.call), signal, timeoutMs)
      // Headers may change the response, so they are part of the key. So is the priority: a read must not wait at the
      // lower priority of another read.
      const { priority, path, headers } = request
      const key = `${writes} ${priority} ${path} ${headers.join(' ')}`
      return join(reads.get(key) ?? beginRead(request, key), signal, timeoutMs)
    },
    abandonAll: () => {
      for (const abandon of waiting) abandon()
    },
  }
}
