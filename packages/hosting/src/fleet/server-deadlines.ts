import type { Clock } from '@muster/core/clock'
import type { Fleet } from './fleet.js'
import type { Server } from '../records/index.js'
import type { Sources } from '../sources/index.js'

/** Milliseconds for which players wait until the store has recorded their server. Then they return to the queue. */
export const STORE_PATIENCE_MS = 30_000
/**
 * Milliseconds between two checks of how long servers or matches have lasted. There may be many, and precision does not
 * matter.
 */
export const ENDS_GAP_MS = 1000

/**
 * Reads unknown facts of running servers from their source: the age of servers of an earlier process, which decides
 * when they must be stopped, and the location of servers of pools. The source reports the age, because the clock of the
 * earlier process may have been wrong. A server keeps running until its age is known.
 */
export type EndTimes = ReturnType<typeof createEndTimes>

interface EndTimesOptions {
  readonly sources: Pick<Sources, 'of'>
  readonly fleet: Pick<Fleet, 'find'>
  readonly clock: Pick<Clock, 'now'>
  /** Called when the location of a server of a pool is known. */
  readonly located: (server: Server) => void
  readonly problem: (error: unknown, server: Server) => void
}

const isUnlocated = ({ isLocated, assignment }: Server) => !isLocated && assignment?.location === undefined

/** Milliseconds until the status of a server is read again whose age the service did not report. */
const RETRY_MS = 5000

export function createEndTimes({ sources, fleet, clock, located, problem }: EndTimesOptions) {
  /** Servers with unknown facts, with the epoch milliseconds before which their status is not read. */
  const unknown = new Map<Server, number>()
  let isAsking = false

  const ask = async (server: Server, requestId: string): Promise<void> => {
    isAsking = true
    try {
      const facts = await sources.of(server.source).inspect(requestId)
      // A server that is gone is read again until the source reports its end.
      if (facts === undefined) return void unknown.set(server, clock.now() + RETRY_MS)
      const { ageMs = 0, location } = facts
      // A server of unknown age counts as new. One that runs too long is better than one stopped during play.
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
    /** Adds a server whose `lastsMs` is known and whose `endsAt` must be found out. */
    expect: (server: Server) => void unknown.set(server, 0),
    /** Adds a server unless its location is known. */
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
