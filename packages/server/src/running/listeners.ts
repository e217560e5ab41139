import type { Clock } from '@muster/core/clock'
import type { Config } from '../config/config.js'
import type { Log } from '../telemetry/log.js'
import type { ConnectionCounts } from './connections.js'
import { descriptorLimit } from './descriptors.js'
import { listenerBounds } from './listener-bounds.js'
import { openListener, type Listener } from './listener.js'
import type { Mounts } from './mounts.js'

export interface ListenersOptions {
  readonly config: Config
  /** What is served now. */
  readonly mounts: () => Mounts
  readonly log: Log
  readonly clock: Clock
  /** Whether this is `muster dev`, where nobody needs as many connections as can be had. */
  readonly isDev: boolean
}

/** Connections of those who run the program: probes, scrapes, consoles (our choice). */
const MOST_ADMIN = 200

/** Opens the listener of players, and that of those who run the program if there is one: both, or none. */
export async function openListeners({ config, mounts, log, clock, isDev }: ListenersOptions): Promise<Listener> {
  const { listen } = config
  const bounds = listenerBounds(config, await descriptorLimit())
  if (bounds.wanted !== undefined && !isDev)
    log.warn(
      `file descriptors are fewer than the connections that limits.waits allows: ${bounds.mostConnections} of ` +
        `${bounds.wanted} are taken. Raise the limit (ulimit -n, LimitNOFILE), or lower limits.waits`,
    )
  const players = await openListener({
    ...bounds,
    host: listen.host,
    port: listen.port,
    onRequest: (...request) => mounts().all(...request),
    onRequestBeyond: (...request) => mounts().beyond(...request),
    onCrowded: (counts) => log.warn(crowded(counts, bounds.mostConnections)),
    clock,
  })
  if (listen.admin === undefined) return players
  try {
    const admin = await openListener({
      ...listen.admin,
      onRequest: (...request) => mounts().admin(...request),
      mostConnections: MOST_ADMIN,
      mostPerAddress: undefined,
      clock,
    })
    return both(players, admin)
  } catch (error) {
    await players.close()
    throw error
  }
}

/** Counts only: lines never hold addresses. */
const crowded = (counts: ConnectionCounts, most: number) =>
  `too many connections: ${counts.open} of ${most} are open, ${counts.largest} of one address or /48. ` +
  `Since the start ${counts.idleEnded} idle and ${counts.busyEnded} busy ones were ended in favour of others, ` +
  `${counts.pipelinedEnded} because too many requests waited on them, and ${counts.refused} were refused`

const both = (players: Listener, admin: Listener): Listener => ({
  ...players,
  adminUrl: admin.url,
  close: async () => void (await Promise.all([players.close(), admin.close()])),
  destroy: () => {
    players.destroy()
    admin.destroy()
  },
})
