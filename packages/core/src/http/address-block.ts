// pure: whom an address stands for
import { addressPrefix, canonicalIp } from '../ip.js'

/**
 * The key by which attempts of an address are counted: an IPv4 address itself, and the /64 of an IPv6 address, because
 * one subscriber has at least a /64 to choose from (RFC 6177). Other texts are returned as they are.
 */
export function addressBlock(address: string): string {
  const ip = canonicalIp(address) ?? address
  return ip.includes(':') ? (addressPrefix(ip, { ipv4: 32, ipv6: 64 }) ?? ip) : ip
}
