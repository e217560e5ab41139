// pure: IPv4 addresses as four plain decimal numbers, which is their canonical form; IP addresses
import ipaddr from 'ipaddr.js'

const ZERO = 48
const DOT = 46

/**
 * The first two numbers of such an address as one, e.g. 203 * 256 + 0 of `203.0.113.9`; -1 for any other text. Nearly
 * every ticket has such an address, which is looked at several times, and a regular expression takes far longer.
 */
export function leadingHalf(text: string): number {
  let half = 0
  let dots = 0
  let octet = -1
  for (let at = 0; at < text.length; at += 1) {
    const code = text.charCodeAt(at)
    if (code === DOT) {
      if (octet === -1 || dots === 3) return -1
      if (dots < 2) half = 256 * half + octet
      dots += 1
      octet = -1
      continue
    }
    const digit = code - ZERO
    // A number that begins with zero has no further digits.
    if (digit < 0 || digit > 9 || octet === 0) return -1
    octet = octet === -1 ? digit : 10 * octet + digit
    if (octet > 255) return -1
  }
  return dots === 3 && octet !== -1 ? half : -1
}

export const isDottedQuad = (text: string): boolean => leadingHalf(text) !== -1

type Address = ipaddr.IPv4 | ipaddr.IPv6

/** Characters of the longest spelling: eight groups, the last two as a dotted quad. */
const LONGEST = 45

/** The range that IANA has allocated as global unicast so far; the rest of the IPv6 space is unassigned. */
const GLOBAL_UNICAST = ipaddr.IPv6.parseCIDR('2000::/3')

const hex = (high: number | undefined, low: number | undefined) => (((high ?? 0) << 8) | (low ?? 0)).toString(16)

/** Writes a final dotted quad in hexadecimal: `::ffff:192.0.2.1` as `::ffff:c000:201`. */
function withoutDottedQuad(text: string): string | undefined {
  const tail = text.slice(text.lastIndexOf(':') + 1)
  if (!tail.includes('.')) return text
  if (!isDottedQuad(tail)) return undefined
  const [a, b, c, d] = ipaddr.IPv4.parse(tail).octets
  return `${text.slice(0, -tail.length)}${hex(a, b)}:${hex(c, d)}`
}

const isMapped = ({ parts }: ipaddr.IPv6) => parts[5] === 0xffff && parts.slice(0, 5).every((part) => part === 0)

/**
 * Parses plain notations only. ipaddr.js also reads '1', '0x7f.1', '010.0.0.1' and zone ids, and takes ::1.2.3.4 for
 * ::ffff:1.2.3.4. Where an address identifies a player, one text must not have several readings. So a dotted quad that
 * ends an IPv6 address is first written in hexadecimal.
 */
function parse(text: string): Address | undefined {
  if (isDottedQuad(text)) return ipaddr.IPv4.parse(text)
  const plain = text.length > LONGEST || text.includes('%') ? undefined : withoutDottedQuad(text)
  if (plain === undefined || !ipaddr.IPv6.isValid(plain)) return undefined
  const address = ipaddr.IPv6.parse(plain)
  return isMapped(address) ? address.toIPv4Address() : address
}

/**
 * The canonical form of an IP address, so that equal addresses are equal strings: dotted decimal for IPv4, RFC 5952 for
 * IPv6, and IPv4 for IPv4-mapped IPv6 (`::ffff:192.0.2.1`, as dual-stack sockets report it). Undefined for anything
 * else: host names, surrounding space, leading zeros, zone ids (`fe80::1%eth0`), ports, prefixes.
 */
export const canonicalIp = (text: string): string | undefined =>
  isDottedQuad(text) ? text : parse(text)?.toString()

/**
 * Whether a host on the internet can have this address: not private, shared, loopback, documentation, multicast,
 * tunnelled or reserved.
 */
export function isPublicIp(text: string): boolean {
  const address = parse(text)
  if (address === undefined || address.range() !== 'unicast') return false
  return address.kind() === 'ipv4' || address.match(GLOBAL_UNICAST)
}

/** How many leading bits make up a prefix: 0 to 32 for IPv4, 0 to 128 for IPv6. */
interface PrefixLengths {
  readonly ipv4: number
  readonly ipv6: number
}

const DEFAULT_PREFIX_LENGTHS: PrefixLengths = { ipv4: 16, ipv6: 32 }

const WHOLE_OCTETS: ReadonlySet<number> = new Set([8, 16, 24, 32])

/**
 * The networks of 16 bits that were looked up, by `leadingHalf`. Tickets keep the text of theirs, and most come from
 * few networks.
 */
const halves = new Map<number, string>()

/** @param half see `leadingHalf`. */
function networkOfHalf(half: number): string {
  let network = halves.get(half)
  if (network === undefined) halves.set(half, (network = `${half >> 8}.${half & 255}.0.0/16`))
  return network
}

/** Sets all octets but the first ones to zero. */
function withoutOctets(quad: string, kept: number): string {
  let end = -1
  for (let octet = 0; octet < kept; octet += 1) end = quad.indexOf('.', end + 1)
  return end === -1 ? quad : quad.slice(0, end) + '.0'.repeat(4 - kept)
}

/**
 * The network that an address lies in, such as `198.51.0.0/16` or `2001:db8::/32`. It is the best substitute for
 * coordinates, since providers assign neighbouring addresses to neighbouring places. The default lengths are our
 * choice: long enough that most of a network is in one region, short enough that players meet others in it. Undefined
 * where `canonicalIp` is.
 *
 * @throws RangeError for an invalid prefix length.
 */
export function addressPrefix(text: string, lengths: PrefixLengths = DEFAULT_PREFIX_LENGTHS): string | undefined {
  // The usual cases, needed for each player, have faster paths.
  const half = lengths.ipv4 === 16 ? leadingHalf(text) : -1
  if (half !== -1) return networkOfHalf(half)
  if (WHOLE_OCTETS.has(lengths.ipv4) && isDottedQuad(text))
    return `${withoutOctets(text, lengths.ipv4 / 8)}/${lengths.ipv4}`
  const address = parse(text)
  if (address === undefined) return undefined
  const kind = address.kind()
  const length = lengths[kind]
  const bits = kind === 'ipv4' ? 32 : 128
  if (!Number.isInteger(length) || length < 0 || length > bits) {
    throw new RangeError(`prefix length ${kind} must be an integer from 0 to ${bits}, not ${length}`)
  }
  const family = kind === 'ipv4' ? ipaddr.IPv4 : ipaddr.IPv6
  return `${family.networkAddressFromCIDR(`${address.toString()}/${length}`).toString()}/${length}`
}

/**
 * The key by which attempts of an address are counted: an IPv4 address itself, and the /64 of an IPv6 address, because
 * one subscriber has at least a /64 to choose from (RFC 6177). Other texts are returned unchanged.
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
