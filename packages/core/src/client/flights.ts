import type { Clock } from '../clock.js'
import type { Deadlines } from './deadlines.js'
import { deepFreeze } from './deep-freeze.js'
import { TimedOut } from './errors.js'
import { Flight } from './flight.js'
import type { Lifetime } from './lifetime.js'
import { timeSpent, type TimeSpent } from './progress.js'
import { factsOf, type Request } from './request.js'

/** Performs requests, so that equal reads at the same time cost one request. */
export interface Flights {
  /** @param wait how this caller waits; others who share the request wait as they like. */
  board(request: Request, wait: Wait): Promise<unknown>
}

/** How long, and until which signal, a caller waits. */
export interface Wait {
  readonly signal: AbortSignal | undefined
  readonly timeoutMs: number
}

export interface FlightsOptions {
  /** The further hops: retry, schedule, send, decode. */
  readonly perform: (request: Request) => Promise<unknown>
  readonly deadlines: Deadlines
  readonly lifetime: Lifetime
  readonly clock: Clock
}

interface Boarded {
  readonly flight: Flight
  readonly request: Request
}

export function createFlights({ perform, deadlines, lifetime, clock }: FlightsOptions): Flights {
  const reads = new Map<string, Boarded>()
  /** Beginnings and ends of writes: a read never joins one that began before a write whose effect it may have to see. */
  let writes = 0
  const countWrite = () => {
    writes += 1
  }

  const launch = (request: Request, closed: () => void): Flight => {
    const depart = () => {
      lifetime.begin()
      return perform(request)
    }
    return new Flight({ depart, cancellation: request.cancellation, deadlines, closed, landed: lifetime.end })
  }

  const wait = ({ flight, request }: Boarded, { signal, timeoutMs }: Wait, before?: TimeSpent) => {
    const deadline = clock.now() + timeoutMs
    request.progress.deadline = Math.max(request.progress.deadline, deadline)
    return flight.join({ signal, deadline, timedOut: () => timedOut(request, timeoutMs, clock.now(), before) })
  }

  return {
    board: (request, asked) => {
      if (request.operation.method !== 'GET') {
        writes += 1
        return wait({ request, flight: launch(request, countWrite) }, asked)
      }
      // A call of higher priority is not made to wait in the place of a lower one.
      const key = `${writes} ${request.priority} ${request.path} ${request.headers.join()}`
      const shared = reads.get(key)
      if (shared !== undefined) {
        // Who joins is told only of the time since, and what more than one is given nobody may change.
        const before = timeSpent(shared.request.progress, clock.now())
        return wait(shared, asked, before).then(deepFreeze)
      }
      const launched = { request, flight: launch(request, () => reads.delete(key)) }
      reads.set(key, launched)
      return wait(launched, asked)
    },
  }
}

function timedOut(request: Request, timeoutMs: number, now: number, before: TimeSpent = { queued: 0, retryWait: 0, inFlight: 0 }): TimedOut {
  const { progress } = request
  const spent = timeSpent(progress, now)
  const queuedMs = Math.round(spent.queued - before.queued)
  const retryWaitMs = Math.round(spent.retryWait - before.retryWait)
  const inFlightMs = Math.round(spent.inFlight - before.inFlight)
  return new TimedOut(
    `${request.id}: timed out after ${timeoutMs} ms (queued ${queuedMs} ms, waiting to retry ${retryWaitMs} ms, in flight ${inFlightMs} ms)`,
    {
      ...factsOf(request),
      timeoutMs,
      queuedMs,
      retryWaitMs,
      inFlightMs,
      sent: progress.written || progress.doubtful,
      cause: progress.lastError,
    },
  )
}
