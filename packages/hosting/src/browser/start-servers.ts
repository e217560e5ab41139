import type { Coordinates } from '@muster/core'
import type { Clock, Random } from '@muster/core/clock'
import { newId } from '@muster/core/internal'
import type { Pools } from '../pools/index.js'
import { isEnrolled, newPoolServer, type Server, serverIntent } from '../records/index.js'
import type { ServerLogWriter, StoredSession } from '../store/index.js'

interface StartServersOptions {
  readonly pools: () => Pick<Pools, 'find' | 'warmFor' | 'created'>
  readonly clock: Clock
  readonly random: Random
  readonly writer: Pick<ServerLogWriter, 'note'>
  /** Servers of a source that may be created now. */
  readonly room: (source: string | undefined) => number
  readonly begin: (server: Server) => void
  /** These players are charged for a server. */
  readonly used: (playerIds: readonly string[]) => void
}

/** Finds and records the servers of pools for players who start one. */
export type StartServers = ReturnType<typeof createStartServers>

export function createStartServers({ pools, clock, random, writer, room, begin, used }: StartServersOptions) {
  const newServer = (name: string, near: Coordinates | undefined): Server | undefined => {
    const pool = pools().find(name)
    const order = pool?.orderAt(near)
    if (pool === undefined || order === undefined) return undefined
    const { source } = pool.definition
    return newPoolServer({ id: newId(random), pool: name, at: clock.now(), source }, order)
  }

  return {
    /** A warm server for players, or one that is created now; undefined: none may be. They are charged for it. */
    serverFor: (name: string, near: Coordinates | undefined, playerIds: readonly string[]): Server | undefined => {
      const pool = pools().find(name)
      if (pool === undefined) return undefined
      const warm = pools().warmFor(pool, { isEmpty: true, middle: near, placements: undefined })
      if (warm !== undefined) {
        if (warm.causedBy === undefined) used((warm.causedBy = playerIds))
        return warm
      }
      if (room(pool.definition.source) <= 0) return undefined
      const server = newServer(name, near)
      if (server === undefined) return undefined
      server.causedBy = playerIds
      server.near = near
      pools().created(server, near)
      begin(server)
      return server
    },
    /**
     * Writes the intent of a server that is not begun: if this process ends, the next one begins it for the session
     * that is kept of it. Undefined if the pool has no servers there any more, or Muster creates none of them.
     */
    intend: (name: string, near: Coordinates | undefined): Server | undefined => {
      const server = newServer(name, near)
      // No process creates servers that come by themselves.
      if (server === undefined || isEnrolled(server)) return undefined
      void writer.note(serverIntent(server))
      return server
    },
    /** Ends the record of a server that was intended and never begun. */
    settle: ({ id: serverId }: Server) => void writer.note({ kind: 'gone', serverId }),
    /** Stores the session that a server is to list; undefined: none any more. */
    keep: ({ id: serverId }: Server, session: StoredSession | undefined) =>
      void writer.note({ kind: 'wanted', serverId, session }),
  }
}
