// pure: the assumed locations of users
import type { Coordinates } from '@muster/core/api'
import { places } from '../places.js'

/** Looks up the location of an IP address, e.g. in an IP-to-city database; undefined if unknown. */
export type Locate = (ip: string) => Coordinates | undefined

/**
 * The coordinates of an IP address. An address unknown to `locate` (or any, without it) gets one of the emulator's
 * cities, always the same for the same network (/16 for IPv4, /32 for IPv6).
 */
export function coordinatesOf(ip: string, locate: Locate | undefined): Coordinates {
  const located = locate?.(ip)
  if (located !== undefined) return { latitude: located.latitude, longitude: located.longitude }
  const { latitude, longitude } = (places[hash(network(ip)) % places.length] as (typeof places)[number]).location
  return { latitude, longitude }
}

/** The network of an address: the leading half of IPv4 or the leading quarter of IPv6, in one spelling. */
function network(ip: string): string {
  const dotted = /(?:^|:)(\d+)\.(\d+)\.\d+\.\d+$/.exec(ip)
  // An IPv4 address may be mapped into IPv6: ::ffff:192.0.2.1.
  if (dotted !== null && /^(::ffff:)?\d+\./i.test(ip)) return `${Number(dotted[1])}.${Number(dotted[2])}`
  const [first = '', second = ''] = (ip.split('::')[0] as string).split(':')
  return [first, second].map((group) => parseInt(group || '0', 16).toString(16)).join(':')
}

/** The FNV-1a hash, 32 bits. */
function hash(text: string): number {
  let value = 0x811c9dc5
  for (const character of text) value = Math.imul(value ^ (character.codePointAt(0) as number), 0x01000193)
  return value >>> 0
}
