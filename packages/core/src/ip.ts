// pure: IP addresses
import ipaddr from 'ipaddr.js'

/** An IPv4 address as four plain decimal numbers, which is its canonical form. */
const DOTTED_QUAD = /^(?:25[0-5]|2[0-4]\d|1\d\d|[1-9]?\d)(?:\.(?:25[0-5]|2[0-4]\d|1\d\d|[1-9]?\d)){3}$/
const isDottedQuad = (text: string) => DOTTED_QUAD.test(text)

type Address = ipaddr.IPv4 | ipaddr.IPv6

/** Length of the longest notation of an IPv6 address: eight groups, the last two as a dotted quad. */
const LONGEST = 45

/** The range that IANA has allocated as global unicast so far. The rest of the IPv6 space is unassigned. */
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
 * ::ffff:1.2.3.4. An address may identify a player, so one string must not have several meanings. Therefore a dotted
 * quad at the end of an IPv6 address is first written in hexadecimal.
 */
function parse(text: string): Address | undefined {
  if (isDottedQuad(text)) return ipaddr.IPv4.parse(text)
  const plain = text.length > LONGEST || text.includes('%') ? undefined : withoutDottedQuad(text)
  if (plain === undefined || !ipaddr.IPv6.isValid(plain)) return undefined
  const address = ipaddr.IPv6.parse(plain)
  return isMapped(address) ? address.toIPv4Address() : address
}

/**
 * Returns the canonical form of an IP address, so that equal addresses are equal strings. IPv4 is dotted decimal, and
 * IPv6 is as in RFC 5952. IPv4-mapped IPv6 (`::ffff:192.0.2.1`, as dual-stack sockets report it) becomes IPv4. Returns
 * undefined for anything else: host names, surrounding space, leading zeros, zone ids (`fe80::1%eth0`), ports,
 * prefixes.
 */
export const canonicalIp = (text: string): string | undefined => (isDottedQuad(text) ? text : parse(text)?.toString())

/**
 * True if a host on the internet can have this address: it is not private, shared, loopback, documentation, multicast,
 * tunnelled or reserved.
 */
export function isPublicIp(text: string): boolean {
  const address = parse(text)
  if (address === undefined || address.range() !== 'unicast') return false
  return address.kind() === 'ipv4' || address.match(GLOBAL_UNICAST)
}

/** Number of leading bits of a prefix: 0 to 32 for IPv4, 0 to 128 for IPv6. */
interface PrefixLengths {
  readonly ipv4: number
  readonly ipv6: number
}

const DEFAULT_PREFIX_LENGTHS: PrefixLengths = { ipv4: 16, ipv6: 32 }

/**
 * Returns the network of an address, such as `198.51.0.0/16` or `2001:db8::/32`. It is the best substitute for
 * coordinates, because providers assign neighbouring addresses to neighbouring locations. The default lengths are our
 * choice: long enough that most of a network is in one region, short enough that players find others in it. Returns
 * undefined for a string that `canonicalIp` rejects.
 *
 * @throws RangeError for an invalid prefix length.
 */
export function addressPrefix(text: string, lengths: PrefixLengths = DEFAULT_PREFIX_LENGTHS): string | undefined {
  // Fast path for IPv4, because this runs for each player and ipaddr.js takes some microseconds.
  if (lengths.ipv4 === 16 && isDottedQuad(text))
    return `${text.slice(0, text.indexOf('.', text.indexOf('.') + 1))}.0.0/16`
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
 * Returns the key by which attempts of an address are counted: an IPv4 address itself, and the /64 of an IPv6 address.
 * One subscriber has at least a /64 to choose from (RFC 6177). Other strings are returned unchanged.
 */
export function addressBlock(address: string): string {
  const ip = canonicalIp(address) ?? address
  return ip.includes(':') ? (addressPrefix(ip, { ipv4: 32, ipv6: 64 }) ?? ip) : ip
}

/**
 * Returns the keys of all blocks that an address is in, the smallest first. For an IPv4 address, only the address
 * itself, because its neighbours are other customers. For an IPv6 address, its /64, and the /56 and /48 that providers
 * give to one customer (RFC 6177, RIPE-690).
 */
export function addressBlocks(address: string): readonly string[] {
  const ip = canonicalIp(address) ?? address
  if (!ip.includes(':')) return [ip]
  const blocks = [64, 56, 48].map((ipv6) => addressPrefix(ip, { ipv4: 32, ipv6 }))
  return blocks.every((block) => block !== undefined) ? blocks : [ip]
}
