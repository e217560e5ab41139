// pure: how many connections are taken
import type { Config } from '../config/config.js'

/** Connections besides waits: for answers, and of clients between two of them (our choice). */
const MORE_CONNECTIONS = 10_000
/** Most long polls and event streams, where the configuration says nothing: the ticket API's own default. */
const WAITS = 50_000
/** Connections of one address, where addresses are known, and as a part of the bound at most (our choice). */
const MOST_PER_ADDRESS = 2000
const PART_PER_ADDRESS = 1 / 8
/** Connections beyond the bound, on which operators are answered (our choice). */
const BEYOND = 100
/** File descriptors that are kept for files, Redis, the deployment service and operators (our choice). */
const KEPT_DESCRIPTORS = 300

export interface ListenerBounds {
  readonly mostConnections: number
  readonly beyond: number
  readonly mostPerAddress: number | undefined
  /** The bound that the configuration asks for, where file descriptors allow fewer. */
  readonly wanted: number | undefined
}

/** Behind proxies, many players come from one address. A connection needs a file descriptor. */
export function listenerBounds({ limits, addresses }: Config, descriptors: number | undefined): ListenerBounds {
  const wanted = (limits.waits ?? WAITS) + MORE_CONNECTIONS
  const possible = descriptors === undefined ? Infinity : Math.max(BEYOND, descriptors - KEPT_DESCRIPTORS - BEYOND)
  const mostConnections = Math.min(wanted, possible)
  return {
    mostConnections,
    beyond: BEYOND,
    mostPerAddress:
      addresses.trustedProxies.length > 0
        ? undefined
        : Math.min(MOST_PER_ADDRESS, Math.ceil(mostConnections * PART_PER_ADDRESS)),
    wanted: mostConnections < wanted ? wanted : undefined,
  }
}
