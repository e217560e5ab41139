// pure: database records
import { isLatitude, isLongitude } from '@muster/core/api'
import type { Located } from './locate.js'

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> => typeof value === 'object' && value !== null

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
