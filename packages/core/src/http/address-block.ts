// pure: whom an address stands for
import { addressPrefix, canonicalIp } from '../ip.js'

/**
 * What to count attempts by where an address is all one knows: an IPv4 address itself, and of an IPv6 address its /64,
 * because one subscriber has at least that many to choose from (RFC 6177). Anything else as it is.
 */
export function addressBlock(address: string): string {
  const ip = canonicalIp(address) ?? address
  return ip.includes(':') ? (addressPrefix(ip, { ipv4: 32, ipv6: 64 }) ?? ip) : ip
}
