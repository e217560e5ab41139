import ipaddr from 'ipaddr.js'
import { canonicalIp } from '../ip.js'

/** What the server that took the request knows about its connection; `nodeListener` fills it in. */
export interface Connection {
  /** The other end of the socket. */
  readonly remoteAddress?: string | undefined
}

/** Finds the address of whoever made a request, in its canonical form; undefined if nobody knows. */
export type AddressOf = (request: Request, connection: Connection) => string | undefined

export interface ClientAddressOptions {
  /**
   * Networks of the proxies that are believed, e.g. `['10.0.0.0/8', '::1/128']`. Default none: the socket's end is the
   * client.
   */
  readonly trustedProxies?: readonly string[] | undefined
}

/**
 * The socket's other end; or, as long as that is a trusted proxy, the one whom it names last in
 * X-Forwarded-For, and so on leftwards. What stands further left may have been written by the client.
 * @throws RangeError naming a network that is none.
 */
export function clientAddress({ trustedProxies = [] }: ClientAddressOptions = {}): AddressOf {
  const networks = trustedProxies.map(parseNetwork)
  const isTrusted = (address: string) => {
    const parsed = ipaddr.parse(address)
    return networks.some(([base, length]) => base.kind() === parsed.kind() && parsed.match(base, length))
  }

  return (request, { remoteAddress }) => {
    let address = canonicalIp(remoteAddress ?? '')
    if (networks.length === 0) return address
    const named = (request.headers.get('x-forwarded-for') ?? '')
      .split(',')
      .map((hop) => hop.trim())
      .filter((hop) => hop !== '')
    while (address !== undefined && isTrusted(address)) {
      const before = named.pop()
      if (before === undefined) return address
      address = canonicalIp(withoutPort(before))
    }
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

/** Some proxies write `192.0.2.1:4711` and `[2001:db8::1]:4711`. */
const withoutPort = (hop: string) => hop.replace(/^\[([^\]]*)\](?::\d+)?$/, '$1').replace(/^([\d.]+):\d+$/, '$1')
