import { readFileSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { canonicalIp, type Coordinates, isLatitude, isLongitude, isObject } from '@muster/core/internal'
import { LRUCache } from 'lru-cache'
import { cannotRead, openMmdb } from './mmdb-file.js'

/** The estimated location of an address. */
export interface Located extends Coordinates {
  /** Radius in kilometres within which the address probably is, if the database has it. */
  readonly accuracyKm?: number
}

/**
 * Finds the location of an IP address; undefined if it is unknown. A rejection means that the source failed.
 * `mmdbLocate` creates one.
 */
export type Locate = (ip: string) => Located | undefined | Promise<Located | undefined>

/**
 * Returns the location of an address; undefined if `locate` fails. This function does not report the failure, because
 * the matchmaker calls `locate` for tickets too and reports it then.
 */
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
  /** Maximum number of addresses to cache; 0 for none. Default 10,000. */
  readonly cacheSize?: number
} & (
  | { /** Path of a city database in MaxMind's format. Read at once, and kept in memory. */ readonly file: string }
  | { /** The database itself. It is not copied: do not change it. */ readonly buffer: Uint8Array }
)

/** A `Locate` that answers immediately, from a database in memory. */
export interface MmdbLocate {
  (ip: string): Located | undefined
  /**
   * Switches to a newer database: the given one, or the present content of the file. Lookups use the old one until the
   * new one is ready. If the new one cannot be used, they keep the old one, and the promise rejects with the reason.
   */
  reload(buffer?: Uint8Array): Promise<void>
}

const DEFAULT_CACHE_SIZE = 10_000
/** Length of the longest spelling of an address. Longer strings are not cached. */
const LONGEST_ADDRESS = 45
/** Number of networks to read to recognize a city database: one of the first records must have coordinates. */
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

/** Looks up the location of an address in the database, without a cache. */
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
 * Locates players by a city database in MaxMind's format: GeoLite2 City, GeoIP2 City, DB-IP City Lite, or the flattened
 * ones of `@ip-location-db`. Undefined for a string that is no address, and for an address that the database lacks,
 * e.g. a private one. If IPv4 and IPv6 come as two files, open both:
 * `(ip) => (ip.includes(':') ? ipv6(ip) : ipv4(ip))`.
 *
 * @throws Error naming the file if it cannot be read, is corrupt, or holds no coordinates.
 * @throws TypeError, RangeError naming the invalid option.
 */
export function mmdbLocate(options: MmdbLocateOptions): MmdbLocate {
  const { file, buffer, cacheSize } = validated(options)
  const name = file ?? 'the MMDB buffer'
  let locate = openLocate(buffer === undefined ? readAtOnce(file as string) : asBuffer(buffer), name)
  const cache = cacheSize === 0 ? undefined : new LRUCache<string, Located | 'nowhere'>({ max: cacheSize })

  const load = async (newer: Uint8Array | undefined) => {
    if (newer === undefined && file === undefined)
      throw new TypeError('reload() needs a buffer, because mmdbLocate was created without a file')
    locate = openLocate(newer === undefined ? await readLater(file as string) : asBuffer(newer), name)
    cache?.clear()
  }
  // Reload one database after another, so that the last requested one stays.
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

/**
 * Reads the coordinates from a record of a city database, under `location` (GeoLite2 and GeoIP2 City, DB-IP City) or at
 * the top (`@ip-location-db`). Undefined for a record without valid coordinates.
 */
export function locatedIn(record: unknown): Located | undefined {
  if (!isObject(record)) return undefined
  const place = isObject(record['location']) ? record['location'] : record
  const { latitude, longitude, accuracy_radius: accuracyKm } = place
  if (!isLatitude(latitude) || !isLongitude(longitude)) return undefined
  return typeof accuracyKm === 'number' ? { latitude, longitude, accuracyKm } : { latitude, longitude }
}
