import { type Coordinates, greatCircleKm, type VersionPort } from '@muster/core/internal'
import { type Place, places } from '../places.js'
import type { VersionRecord } from '../records.js'
import type { ContainerPort } from './launch-process.js'

/** Returns the location of an IP address, e.g. from an IP-to-city database; undefined if unknown. */
export type Locate = (ip: string) => Coordinates | undefined

/**
 * Returns the coordinates of an IP address. An address that `locate` does not know gets one of the emulator's cities.
 * All addresses of a network (/16 for IPv4, /32 for IPv6) get the same city. Without `locate`, this applies to every
 * address.
 */
export function coordinatesOf(ip: string, locate: Locate | undefined): Coordinates {
  const located = locate?.(ip)
  if (located !== undefined) return { latitude: located.latitude, longitude: located.longitude }
  const { latitude, longitude } = (places[hash(network(ip)) % places.length] as (typeof places)[number]).location
  return { latitude, longitude }
}

/**
 * Returns the network of an address in a unique spelling: the first half of an IPv4 address, or the first quarter of an
 * IPv6 address.
 */
function network(ip: string): string {
  const dotted = /(?:^|:)(\d+)\.(\d+)\.\d+\.\d+$/.exec(ip)
  // An IPv4 address may be mapped into IPv6: ::ffff:192.0.2.1.
  if (dotted !== null && /^(::ffff:)?\d+\./i.test(ip)) return `${Number(dotted[1])}.${Number(dotted[2])}`
  const [first = '', second = ''] = (ip.split('::')[0] as string).split(':')
  return [first, second].map((group) => parseInt(group || '0', 16).toString(16)).join(':')
}

/** Returns the 32-bit FNV-1a hash of a text. */
function hash(text: string): number {
  let value = 0x811c9dc5
  for (const character of text) value = Math.imul(value ^ (character.codePointAt(0) as number), 0x01000193)
  return value >>> 0
}

/**
 * Returns the location with the smallest mean great-circle distance to the users. Of equal ones, the first is chosen.
 * Without users, returns the first location. The mean treats all players alike. Unlike the users' midpoint, it is
 * defined for any locations.
 */
export function nearest(candidates: readonly Place[], users: readonly Coordinates[]): Place | undefined {
  let best: Place | undefined
  let bestKm = Infinity
  for (const place of candidates) {
    let km = 0
    for (const user of users) km += greatCircleKm(place.location, user)
    if (best !== undefined && km >= bestKm) continue
    best = place
    bestKm = km
  }
  return best
}

/**
 * Creates the pool of the ports of one host.
 * @param range the first and the last port, inclusive.
 */
export function createPortPool(range: { readonly from: number; readonly to: number }) {
  const size = range.to - range.from + 1
  const taken = new Set<number>()
  let next = range.from

  const takeOne = () => {
    // Ports are assigned in rotation, so that a late packet for a returned port does not reach the port's next user.
    while (taken.has(next)) next = next === range.to ? range.from : next + 1
    const port = next
    taken.add(port)
    next = port === range.to ? range.from : port + 1
    return port
  }

  return {
    free: () => size - taken.size,
    /** Takes the given number of free ports. Returns undefined if there are not enough. */
    take: (count: number): readonly number[] | undefined =>
      count > size - taken.size ? undefined : Array.from({ length: count }, takeOne),
    give: (ports: readonly number[]) => {
      for (const port of ports) taken.delete(port)
    },
  }
}

/** The location, address and ports of a deployment. */
export interface Site {
  readonly place: Place
  readonly publicIp: string
  readonly fqdn: string
  readonly ports: readonly (ContainerPort & { readonly tlsUpgrade: boolean })[]
}

/** The free capacity of all locations. */
export type Sites = ReturnType<typeof createSites>

interface SiteOptions {
  /** Maximum number of deployments at a location at a time. */
  readonly capacity: (placeId: string) => number
  /** The range of this machine's ports if deployments are processes on it; undefined if they are simulated. */
  readonly processPorts: { readonly from: number; readonly to: number } | undefined
}

/**
 * The range of simulated ports. They are above those of common services, and within the range that the service allows
 * (0 to 59999).
 */
const SIMULATED_PORTS = { from: 30_000, to: 59_999 }

/**
 * Returns the names of ports. A port without a name is named by its number. A duplicate name gets a number, e.g.
 * `game-2`.
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
 * Creates the sites of deployments. Each location is one host, with a documentation address (RFC 5737). Local processes
 * instead share the address 127.0.0.1 and its ports, so each of them listens on its external port.
 */
export function createSites({ capacity, processPorts }: SiteOptions) {
  const running = new Map<string, number>()
  const shared = processPorts && createPortPool(processPorts)
  const pools = new Map(places.map(({ id }) => [id, shared ?? createPortPool(SIMULATED_PORTS)]))
  const addresses = new Map(places.map(({ id }, index) => [id, `198.51.100.${index + 1}`]))
  const runningAt = (place: Place) => running.get(place.id) ?? 0

  const hasRoom = (place: Place, ports: number) =>
    runningAt(place) < capacity(place.id) && ports <= (pools.get(place.id)?.free() ?? 0)

  return {
    hasRoom,

    /** Reserves a site at the location. Returns undefined if the location is full. */
    take: (place: Place, requestId: string, wanted: readonly VersionPort[]): Site | undefined => {
      const externals = hasRoom(place, wanted.length) ? pools.get(place.id)?.take(wanted.length) : undefined
      if (externals === undefined) return undefined
      running.set(place.id, runningAt(place) + 1)
      const names = namesOf(wanted)
      const ports = wanted.map(({ port, protocol, tls_upgrade = false }, index) => {
        const [name, external] = [names[index] as string, externals[index] as number]
        return { name, internal: shared ? external : port, external, protocol, tlsUpgrade: tls_upgrade }
      })
      return {
        place,
        publicIp: shared ? '127.0.0.1' : (addresses.get(place.id) as string),
        fqdn: shared ? 'localhost' : `${requestId}.emulator.invalid`,
        ports,
      }
    },

    give: ({ place, ports }: Site) => {
      running.set(place.id, runningAt(place) - 1)
      pools.get(place.id)?.give(ports.map(({ external }) => external))
    },
  }
}

/** Records the images that each location has cached. */
export type ImageCache = ReturnType<typeof createImageCache>

/** Returns the image as registry/image:tag. */
export const imageOf = ({ docker_repository, docker_image, docker_tag }: VersionRecord) =>
  `${docker_repository}/${docker_image}:${docker_tag}`

/**
 * Creates the image cache. A location has cached the images of deployments that ran there. With `force_cache`, an image
 * is cached at every location once `everywhereAfterMs` milliseconds of the clock have passed since the version's last
 * change.
 */
export function createImageCache(now: () => number, everywhereAfterMs: number) {
  const pulled = new Map<string, Set<string>>()
  return {
    has: (version: VersionRecord, place: Place) =>
      (version.force_cache && now() - version.updatedAt >= everywhereAfterMs) ||
      pulled.get(imageOf(version))?.has(place.id) === true,
    /** Records that the location has pulled the image. */
    add: (image: string, place: Place) => {
      const there = pulled.get(image) ?? new Set()
      pulled.set(image, there.add(place.id))
    },
  }
}

/** What a deployment requires of its location. */
export interface PlacementRequest {
  readonly version: VersionRecord
  /** The users' locations, near which the deployment is placed. */
  readonly users: readonly Coordinates[]
  /** Returns true for allowed locations. Default: all. */
  readonly allows?: ((place: Place) => boolean) | undefined
  /** True: only locations that have cached the image are allowed. Default false. */
  readonly cachedOnly?: boolean | undefined
}

/**
 * Returns true if the version may run at the location. Versions for mainland China run only there, and all others run
 * everywhere else (service-api, will_deploy_in_mainland_china).
 */
const isFor = (version: VersionRecord, place: Place) => place.mainlandChina === version.will_deploy_in_mainland_china

/** Returns the locations where the version could be deployed now: it may run there, and they have free capacity. */
export const placesFor = (version: VersionRecord, sites: Sites): readonly Place[] =>
  places.filter((place) => isFor(version, place) && sites.hasRoom(place, version.ports.length))

/** Returns the nearest location that has capacity and meets the request's requirements; undefined if there is none. */
export function choosePlace(request: PlacementRequest, sites: Sites, cache: ImageCache): Place | undefined {
  const { version, users, allows = () => true, cachedOnly = false } = request
  const fits = (place: Place) => allows(place) && (!cachedOnly || cache.has(version, place))
  return nearest(placesFor(version, sites).filter(fits), users)
}
