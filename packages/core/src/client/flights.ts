import type { Clock } from '../clock.js'
import type { Deadlines } from './deadlines.js'
import { Flight, SharedRead } from './flight.js'
import type { Lifetime } from './lifetime.js'
import type { Request } from './request.js'

/** Performs requests. Equal reads at the same time share one request. */
export interface Flights {
  /** Performs a request or joins an equal one. Callers who share a request have their own signals and deadlines. */
  board(request: Request, signal: AbortSignal | undefined, timeoutMs: number): Promise<unknown>
}

export interface FlightsOptions {
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
