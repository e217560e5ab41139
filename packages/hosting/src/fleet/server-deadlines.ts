import type { Clock } from '@muster/core/clock'
import type { Fleet } from './fleet.js'
import type { ReturnReason, Server } from '../records/index.js'
import type { Sources } from '../sources/index.js'

/** Milliseconds for which tickets wait for the stop of a deployment without capacity; then they search again. */
const RETRY_PATIENCE_MS = 10_000
/** Milliseconds for which players wait until the store has recorded their server; then they return to the queue. */
export const STORE_PATIENCE_MS = 30_000
/** Milliseconds between two looks at how long servers or matches have lasted: there may be many, and none cares. */
export const ENDS_GAP_MS = 1000

interface TimeoutsOptions {
  readonly fleet: Pick<Fleet, 'served' | 'starting'>
  /** Returns the tickets of its matches to the queue. @param counts whether the deployment was at fault. */
  readonly fail: (server: Server, reason: ReturnReason, counts: boolean) => void
  readonly stop: (server: Server, requestId: string) => void
}

/** Creates the function that ends servers that exceed their time: those that do not run yet, and those that do. */
export function createTimeouts({ fleet, fail, stop }: TimeoutsOptions) {
  let nextEndsAt = 0

  const endStarting = (now: number) => {
    for (const server of fleet.starting()) {
      const { phase, requestId, knownAt, listensAt, order } = server
      if (requestId === undefined || order === undefined) continue
      if (phase === 'starting' && now - knownAt >= order.deploy.readyTimeoutMs) {
        fail(server, 'too-slow', true)
        stop(server, requestId)
      } else if (phase === 'warming' && now - listensAt >= STORE_PATIENCE_MS) {
        fail(server, 'unavailable', false)
        stop(server, requestId)
      } else if (phase === 'retrying' && now - knownAt >= RETRY_PATIENCE_MS) {
        fail(server, 'no-capacity', true)
      }
    }
  }

  const endRunning = (now: number) => {
    for (const server of fleet.served()) {
      const { phase, requestId, endsAt } = server
      if (phase !== 'running' || requestId === undefined || now < endsAt) continue
      server.unwant('max-duration')
      stop(server, requestId)
    }
  }

  return (now: number): void => {
    endStarting(now)
    if (now < nextEndsAt) return
    nextEndsAt = now + ENDS_GAP_MS
    endRunning(now)
  }
}

/**
 * Reads from the service what is not known of running servers: when those of an earlier process must be stopped, and
 * where those of pools run. The clock of that process may have been wrong, so the age of a deployment is taken from the
 * service. A server keeps running until its age is known.
 */
export type EndTimes = ReturnType<typeof createEndTimes>

interface EndTimesOptions {
  readonly sources: Pick<Sources, 'of'>
  readonly fleet: Pick<Fleet, 'find'>
  readonly clock: Pick<Clock, 'now'>
  /** It is known now where a server of a pool runs. */
  readonly located: (server: Server) => void
  readonly problem: (error: unknown, server: Server) => void
}

const isUnlocated = ({ pool, isLocated, assignment }: Server) =>
  pool !== undefined && !isLocated && assignment?.location === undefined

/** Milliseconds until the status of a server is read again whose age the service did not report. */
const RETRY_MS = 5000

export function createEndTimes({ sources, fleet, clock, located, problem }: EndTimesOptions) {
  /** Servers of which something is unknown, with the epoch milliseconds before which their status is not read. */
  const unknown = new Map<Server, number>()
  let isAsking = false

  const ask = async (server: Server, requestId: string): Promise<void> => {
    isAsking = true
    try {
      const facts = await sources.of(server.source).look(requestId)
      // One that is gone is asked for again until the source tells of its end.
      if (facts === undefined) return void unknown.set(server, clock.now() + RETRY_MS)
      const { ageMs = 0, location } = facts
      // A server of unknown age counts as new: one that runs too long is better than one stopped during play.
      if (server.endsAt === Infinity) server.endsAt = clock.now() + server.lastsMs - ageMs
      server.isLocated = true
      const { assignment } = server
      if (assignment !== undefined && location !== undefined) {
        server.assignment = { ...assignment, location }
        located(server)
      }
      unknown.delete(server)
    } catch (error) {
      unknown.set(server, clock.now() + RETRY_MS)
      problem(error, server)
    } finally {
      isAsking = false
    }
  }

  return {
    /** Adds a server whose `lastsMs` is known and whose `endsAt` has to be found out. */
    expect: (server: Server) => void unknown.set(server, 0),
    /** Adds a server of a pool unless it is known where it runs. */
    locate: (server: Server) => {
      if (isUnlocated(server)) unknown.set(server, 0)
    },
    /** Requests the status of the next server, unless a request is already in flight. */
    advance: (now: number) => {
      if (isAsking) return
      for (const [server, askAt] of unknown) {
        const { id, phase, requestId } = server
        const isKnown = !isUnlocated(server) && (server.endsAt < Infinity || server.lastsMs === Infinity)
        if (isKnown || phase === 'stopping' || fleet.find(id) !== server) unknown.delete(server)
        else if (phase === 'running' && requestId !== undefined && askAt <= now) return void ask(server, requestId)
      }
    },
  }
}
