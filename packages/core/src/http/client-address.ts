import ipaddr from 'ipaddr.js'
import { canonicalIp } from '../ip.js'

/** What the server knows about a request's connection; `nodeListener` fills it in. */
export interface Connection {
  /** The address of the socket's other end. */
  readonly remoteAddress?: string | undefined
}

/** Finds the client address of a request, in canonical form; undefined if it is unknown. */
export type AddressOf = (request: Request, connection: Connection) => string | undefined

export interface ClientAddressOptions {
  /**
   * Networks of the proxies to trust, e.g. `['10.0.0.0/8', '::1/128']`. Default none: the socket's other end is the
   * client.
   */
  readonly trustedProxies?: readonly string[] | undefined
  /** Header in which the proxies say whom they speak for. Default `x-forwarded-for`. */
  readonly header?: string | undefined
}

/**
 * Finds the client's address: the socket's other end or, if that is a trusted proxy, the last entry of the header;
 * while that is a trusted proxy too, the entry to its left, and so on. Entries further left are ignored, because the
 * client may have written them.
 * @throws RangeError naming a network that is invalid.
 */
export function clientAddress(options: ClientAddressOptions = {}): AddressOf {
  const { trustedProxies = [], header = 'x-forwarded-for' } = options
  const networks = trustedProxies.map(parseNetwork)
  const isTrusted = (address: string) => {
    const parsed = ipaddr.parse(address)
    return networks.some(([base, length]) => base.kind() === parsed.kind() && parsed.match(base, length))
  }

  /** The socket's other end of the request before, and whether it is trusted: a proxy sends many requests. */
  let sender: string | undefined
  let isSenderTrusted = false
  const comesFromProxy = (address: string) => {
    if (address !== sender) {
      isSenderTrusted = isTrusted(address)
      sender = address
    }
    return isSenderTrusted
  }

  return (request, { remoteAddress }) => {
    let address = canonicalIp(remoteAddress ?? '')
    if (networks.length === 0 || address === undefined || !comesFromProxy(address)) return address
    const named = request.headers.get(header)
    if (named === null) return address
    const hops = named
      .split(',')
      .map((hop) => hop.trim())
      .filter((hop) => hop !== '')
    do {
      const before = hops.pop()
      if (before === undefined) return address
      address = canonicalIp(withoutPort(before))
    } while (address !== undefined && isTrusted(address))
    return address
  }
}

function parseNetwork(text: string): [ipaddr.IPv4 | ipaddr.IPv6, number] {
  try {
    return ipaddr.parseCIDR(text)
  } catch {
    throw new RangeError(
      `option trustedProxies must hold networks such as 10.0.0.0/8 or ::1/128, got ${JSON.stringify(text)}`,
    )
  }
}

/** Removes a port: some proxies write `192.0.2.1:4711` and `[2001:db8::1]:4711`. */
const withoutPort = (hop: string) => hop.replace(/^\[([^\]]*)\](?::\d+)?$/, '$1').replace(/^([\d.]+):\d+$/, '$1')
