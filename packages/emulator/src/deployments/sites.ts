import type { VersionPort } from '@muster/core/api'
import { places, type Place } from '../places.js'
import { createPortPool } from './port-pool.js'

/** The place, address and ports of a deployment. */
export interface Site {
  readonly place: Place
  readonly publicIp: string
  readonly fqdn: string
  readonly ports: readonly SitePort[]
}

export interface SitePort {
  readonly name: string
  readonly internal: number
  readonly external: number
  readonly protocol: string
  readonly tlsUpgrade: boolean
}

/** The free capacity of each place. */
export interface Sites {
  hasRoom(place: Place, ports: number): boolean
  /** Reserves a site at the place; undefined when the place is full. */
  take(place: Place, requestId: string, ports: readonly VersionPort[]): Site | undefined
  give(site: Site): void
}

export interface SiteOptions {
  /** The number of deployments that may run at a place at once. */
  readonly capacity: (placeId: string) => number
  /** The range of this machine's ports when deployments are processes on it; undefined when they are simulated. */
  readonly processPorts: { readonly from: number; readonly to: number } | undefined
}

/** The range of simulated ports: above those of common services, and within what the service allows (0 to 59999). */
const SIMULATED_PORTS = { from: 30_000, to: 59_999 }

/**
 * The names of ports. A port without a name is named by its number; a repeated name gets a number appended: `game-2`.
 */
function namesOf(ports: readonly VersionPort[]): readonly string[] {
  const names = new Set<string>()
  for (const { name, port } of ports) {
    const wanted = name ?? String(port)
    let unique = wanted
    for (let count = 2; names.has(unique); count++) unique = `${wanted}-${count}`
    names.add(unique)
  }
  return [...names]
}

/**
 * Creates the sites: one host per place, at a documentation address (RFC 5737). Local processes are all on 127.0.0.1
 * instead; they share its ports, so each listens on its external port.
 */
export function createSites({ capacity, processPorts }: SiteOptions): Sites {
  const running = new Map<string, number>()
  const shared = processPorts && createPortPool(processPorts)
  const pools = new Map(places.map(({ id }) => [id, shared ?? createPortPool(SIMULATED_PORTS)]))
  const addresses = new Map(places.map(({ id }, index) => [id, `198.51.100.${index + 1}`]))
  const runningAt = (place: Place) => running.get(place.id) ?? 0

  const hasRoom = (place: Place, ports: number) =>
    runningAt(place) < capacity(place.id) && ports <= (pools.get(place.id)?.free() ?? 0)

  return {
    hasRoom,

    take: (place, requestId, wanted) => {
      const externals = hasRoom(place, wanted.length) ? pools.get(place.id)?.take(wanted.length) : undefined
      if (externals === undefined) return undefined
      running.set(place.id, runningAt(place) + 1)
      const names = namesOf(wanted)
      const ports = wanted.map(({ port, protocol, tls_upgrade = false }, index) => {
        const external = externals[index] as number
        return {
          name: names[index] as string,
          internal: shared ? external : port,
          external,
          protocol,
          tlsUpgrade: tls_upgrade,
        }
      })
      return {
        place,
        publicIp: shared ? '127.0.0.1' : (addresses.get(place.id) as string),
        fqdn: shared ? 'localhost' : `${requestId}.emulator.invalid`,
        ports,
      }
    },

    give: ({ place, ports }) => {
      running.set(place.id, runningAt(place) - 1)
      pools.get(place.id)?.give(ports.map(({ external }) => external))
    },
  }
}
