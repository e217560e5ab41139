import { readFileSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { canonicalIp, type Coordinates, isLatitude, isLongitude } from '@muster/core/internal'
import { LRUCache } from 'lru-cache'
import { cannotRead, openMmdb } from './mmdb-file.js'

/** Where an address is thought to be. */
export interface Located extends Coordinates {
  /** Kilometres around the place within which the address probably is, where the database says. */
  readonly accuracyKm?: number
}

/**
 * Finds out where an IP address is. Undefined when that is not known; a rejection is a fault of the
 * source, not of the address. `mmdbLocate` is a ready-made one.
 */
export type Locate = (ip: string) => Located | undefined | Promise<Located | undefined>

/** The place of an address; undefined if `locate` fails: the matchmaker calls it for tickets, and reports that. */
export function placeOf(
  ip: string | undefined,
  locate: Locate | undefined,
): Located | undefined | Promise<Located | undefined> {
  if (ip === undefined || locate === undefined) return undefined
  try {
    const place = locate(ip)
    return place instanceof Promise ? place.catch(() => undefined) : place
  } catch {
    return undefined
  }
}

export type MmdbLocateOptions = {
  /** How many addresses to remember; 0 remembers none. Default 10,000. */
  readonly cacheSize?: number
} & (
  | { /** Path of a city database in MaxMind's format. Read at once, and kept in memory. */ readonly file: string }
  | { /** The database itself. It is not copied: do not change it. */ readonly buffer: Uint8Array }
)

/** A `Locate` that answers at once, from a database in memory. */
export interface MmdbLocate {
  (ip: string): Located | undefined
  /**
   * Switches to a newer database: the given one, or else the present content of the file. Lookups continue with the old
   * one until the new one is ready, and keep it if the new one cannot be used (the promise then rejects and says why).
   */
  reload(buffer?: Uint8Array): Promise<void>
}

const DEFAULT_CACHE_SIZE = 10_000
/** The longest address in any spelling. Longer text is not worth a place in the cache. */
const LONGEST_ADDRESS = 45
/** Enough to tell a city database, in which the first networks with a record have coordinates. */
const NETWORKS_TO_TRY = 1000

const asBuffer = ({ buffer, byteOffset, byteLength }: Uint8Array) => Buffer.from(buffer, byteOffset, byteLength)

const readAtOnce = (file: string) => {
  try {
    return readFileSync(file)
  } catch (cause) {
    throw cannotRead(file, cause)
  }
}

const readLater = (file: string) =>
  readFile(file).catch((cause: unknown) => {
    throw cannotRead(file, cause)
  })

/** Where the database says an address is, without a cache. */
function openLocate(bytes: Buffer, name: string): (ip: string) => Located | undefined {
  const database = openMmdb(bytes, name)
  if (!database.firstRecords(NETWORKS_TO_TRY).some((record) => locatedIn(record) !== undefined)) {
    throw new Error(`${name} has no coordinates (its type is ${database.type}): a city database is needed`)
  }
  return (ip) => {
    const canonical = canonicalIp(ip)
    return canonical === undefined ? undefined : locatedIn(database.lookup(canonical))
  }
}

function validated(options: MmdbLocateOptions) {
  const {
    file,
    buffer,
    cacheSize = DEFAULT_CACHE_SIZE,
  } = options as { file?: string; buffer?: Uint8Array; cacheSize?: number }
  if ((file === undefined) === (buffer === undefined)) throw new TypeError('mmdbLocate takes either file or buffer')
  if (!Number.isSafeInteger(cacheSize) || cacheSize < 0) {
    throw new RangeError(`cacheSize must be a whole number of addresses, 0 or more, not ${cacheSize}`)
  }
  return { file, buffer, cacheSize }
}

/**
 * Locates players by a city database in MaxMind's format: GeoLite2 City, GeoIP2 City, DB-IP City Lite,
 * or the flattened ones of `@ip-location-db`. Undefined for what is no address, and for addresses the
 * database says nothing of: private and reserved ones, and IPv6 ones in a database of IPv4 alone. Where
 * the two come as two files, open both: `(ip) => (ip.includes(':') ? ipv6(ip) : ipv4(ip))`.
 *
 * @throws Error naming the file when it cannot be read, is corrupt, or holds no coordinates.
 * @throws TypeError, RangeError naming the option that is wrong.
 */
export function mmdbLocate(options: MmdbLocateOptions): MmdbLocate {
  const { file, buffer, cacheSize } = validated(options)
  const name = file ?? 'the MMDB buffer'
  let locate = openLocate(buffer === undefined ? readAtOnce(file as string) : asBuffer(buffer), name)
  const cache = cacheSize === 0 ? undefined : new LRUCache<string, Located | 'nowhere'>({ max: cacheSize })

  const load = async (newer: Uint8Array | undefined) => {
    if (newer === undefined && file === undefined)
      throw new TypeError('reload needs a buffer: mmdbLocate was not given a file')
    locate = openLocate(newer === undefined ? await readLater(file as string) : asBuffer(newer), name)
    cache?.clear()
  }
  // One after another, so that the last requested one stays.
  let reloads = Promise.resolve()
  const reload = (newer?: Uint8Array) => {
    const loaded = reloads.then(() => load(newer))
    reloads = loaded.catch(() => {})
    return loaded
  }

  const locateOnce = (ip: string) => {
    const known = cache?.get(ip)
    if (known !== undefined) return known === 'nowhere' ? undefined : known
    const found = locate(ip)
    if (ip.length <= LONGEST_ADDRESS) cache?.set(ip, found ?? 'nowhere')
    return found
  }
  return Object.assign(locateOnce, { reload })
}

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null

/**
 * Reads the coordinates from a record of a city database, in either layout seen in the wild: under
 * `location` (GeoLite2 and GeoIP2 City, DB-IP City) or at the top (`@ip-location-db`). Undefined for a
 * record that has none, or none on this earth.
 */
export function locatedIn(record: unknown): Located | undefined {
  if (!isObject(record)) return undefined
  const place = isObject(record['location']) ? record['location'] : record
  const { latitude, longitude, accuracy_radius: accuracyKm } = place
  if (!isLatitude(latitude) || !isLongitude(longitude)) return undefined
  return typeof accuracyKm === 'number' ? { latitude, longitude, accuracyKm } : { latitude, longitude }
}
