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

/**
 * The keys of all blocks that an address lies in, the smallest first: an IPv4 address alone; of an IPv6 address its
 * /64, and the /56 and /48 that providers give to one customer (RFC 6177, RIPE-690). Neighbours of an IPv4 address are
 * other customers.
 */
export function addressBlocks(address: string): readonly string[] {
  const ip = canonicalIp(address) ?? address
  if (!ip.includes(':')) return [ip]
  const blocks = [64, 56, 48].map((ipv6) => addressPrefix(ip, { ipv4: 32, ipv6 }))
  return blocks.every((block) => block !== undefined) ? blocks : [ip]
}
