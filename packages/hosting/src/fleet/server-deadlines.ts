import type { Clock } from '@muster/core/clock'
import { deepFreeze } from '@muster/core/internal'
import type { Fleet } from './fleet.js'
import type { Server } from '../records/index.js'
import type { Sources } from '../sources/index.js'

/** Milliseconds for which a match waits until the start of play is stored. Then its tickets return to the queue. */
export const STORE_PATIENCE_MS = 30_000
/** Milliseconds between two checks of the time limits of servers and matches. */
export const ENDS_GAP_MS = 1000

/**
 * Reads facts about running servers from their sources. The location is needed for servers of pools. The age is needed
 * for servers from before a restart, because it decides when they must be stopped. The source's own report is used,
 * because this machine's clock may have been wrong. While the age is unknown, a server keeps running, at most for its
 * maximum duration.
 */
export type EndTimes = ReturnType<typeof createEndTimes>

interface EndTimesOptions {
  readonly sources: Pick<Sources, 'of'>
  readonly fleet: Pick<Fleet, 'find'>
  readonly clock: Pick<Clock, 'now'>
  /** Called when the location of a server has become known. */
  readonly located: (server: Server) => void
  readonly problem: (error: unknown, server: Server) => void
}

/**
 * Corrects the times at which players were sent to a server, because the clock may have been wrong when they were
 * stored. No match began before its server. @param startedAt epoch milliseconds at which the server started
 */
function correctStarts(server: Server, startedAt: number): void {
  server.startedAfter = Math.max(server.startedAfter, startedAt)
  for (const match of server.guests) {
    const lateMs = Math.max(0, startedAt - match.readyAt)
    match.readyAt += lateMs
    match.endsAt += lateMs
  }
}

/**
 * Returns when a match or a server began, by its stored time. If the clock was set back meanwhile, it must not last
 * longer. If it seems to have lasted too long, the clock may be ahead. Only the deployment service reports ages that
 * show this, so elsewhere the duration begins again.
 */
export function startAfterRestart({ source }: Server, at: number, lastsMs: number, clock: Pick<Clock, 'now'>): number {
  const now = clock.now()
  return source !== undefined && at + lastsMs <= now ? now : Math.min(at, now)
}

const isUnlocated = ({ isLocated, assignment }: Server) => !isLocated && assignment?.location === undefined

/** Milliseconds until facts that could not be read are read again. */
const RETRY_MS = 5000

export function createEndTimes({ sources, fleet, clock, located, problem }: EndTimesOptions) {
  /** Servers with missing facts, and the epoch milliseconds before which they are not read again. */
  const unknown = new Map<Server, { readonly since: number; askAt: number }>()
  let isAsking = false

  const add = (server: Server) => {
    if (!unknown.has(server)) unknown.set(server, { since: clock.now(), askAt: 0 })
  }
  const askLater = (server: Server) => {
    const missing = unknown.get(server)
    if (missing !== undefined) missing.askAt = clock.now() + RETRY_MS
  }

  const ask = async (server: Server, requestId: string): Promise<void> => {
    isAsking = true
    try {
      const facts = await sources.of(server.source).inspect(requestId)
      // The server seems to be gone. Its source will report that too, so only wait.
      if (facts === undefined) return askLater(server)
      const { ageMs = 0, location } = facts
      const { startedAfter, lastsMs } = server
      if (facts.ageMs !== undefined) correctStarts(server, clock.now() - ageMs)
      // Its matches have their own stored times.
      else server.startedAfter = startAfterRestart(server, startedAfter, lastsMs, clock)
      // A server of unknown age counts as new, because stopping it too early would end a match.
      if (server.endsAt === Infinity) server.endsAt = clock.now() + server.lastsMs - ageMs
      server.isLocated = true
      const { assignment } = server
      if (assignment !== undefined && location !== undefined) {
        server.assignment = deepFreeze({ ...assignment, location })
        located(server)
      }
      unknown.delete(server)
    } catch (error) {
      askLater(server)
      problem(error, server)
    } finally {
      isAsking = false
    }
  }

  return {
    /** Adds a server whose end depends on its age. */
    expect: add,
    /** Adds a server, unless its location is known. */
    locate: (server: Server) => {
      if (isUnlocated(server)) add(server)
    },
    /** Reads the facts about the next server, unless a read is in flight. */
    advance: (now: number) => {
      if (isAsking) return
      for (const [server, { since, askAt }] of unknown) {
        // Nothing else would ever stop a server whose source cannot tell its age.
        if (server.isAgeUnknown && now - since >= server.lastsMs) server.endsAt = now
        const { id, phase, requestId } = server
        const isKnown = !isUnlocated(server) && !server.isAgeUnknown
        if (isKnown || phase === 'stopping' || fleet.find(id) !== server) unknown.delete(server)
        else if (phase === 'running' && requestId !== undefined && askAt <= now) return void ask(server, requestId)
      }
    },
  }
}
