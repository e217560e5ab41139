import type { Allocation, AllocatorListener } from '@muster/servers/internal'
import type { Events } from '../events.js'

/** Creates the listener by which what happens to game servers becomes events. */
export function createServerEvents(events: Pick<Events, 'emit'>): AllocatorListener['servers'] {
  const named = ({ matchId: serverId, pool, requestId }: Allocation) => ({ serverId, pool, requestId })
  const inMatch = ({ matchId, queue }: Allocation, server: Allocation) => ({ matchId, queue, ...named(server) })
  return {
    registered: (server, { build, matches }) => events.emit('serverRegistered', { ...named(server), build, matches }),
    draining: (server, reason) => events.emit('serverDraining', { ...named(server), reason }),
    lost: (server, silentMs) => events.emit('serverLost', { ...named(server), silentMs }),
    returned: (server, silentMs) => events.emit('serverReturned', { ...named(server), silentMs }),
    taken: (match, server, isWarm) => events.emit('serverTaken', { ...inMatch(match, server), warm: isWarm }),
    freed: (match, server, reason) => events.emit('serverFreed', { ...inMatch(match, server), reason }),
  }
}
