import { isIP } from 'node:net'
import ipaddr from 'ipaddr.js'
import { canonicalIp } from '../ip.js'
import { Problem, type Connection } from './answers.js'

/** Finds the client address of a request, in canonical form; undefined if it is unknown. */
export type AddressOf = (request: Request, connection: Connection) => string | undefined

export interface ClientAddressOptions {
  /**
   * Networks of trusted proxies, e.g. `['10.0.0.0/8', '::1/128']`. Default: none. Then the socket's peer is the client.
   */
  readonly trustedProxies?: readonly string[] | undefined
  /**
   * Header in which the proxies name the client. It holds a list of addresses or, if it is `forwarded`, the form of RFC
   * 7239. Default `x-forwarded-for`.
   */
  readonly header?: string | undefined
}

/**
 * Creates the function that finds the client's address. It is the socket's peer or, if that is a trusted proxy, the
 * last entry of the header. If that entry is a trusted proxy too, the entry to its left counts, and so on. Entries
 * further left are ignored, because the client may have written them.
 * @throws RangeError naming an invalid network.
 */
export function clientAddress(options: ClientAddressOptions = {}): AddressOf {
  const { trustedProxies = [], header = 'x-forwarded-for' } = options
  const networks = trustedProxies.map(parseNetwork)
  const readHops = header.toLowerCase() === 'forwarded' ? forwardedHops : listedHops
  const isTrusted = (address: string) => {
    const parsed = ipaddr.parse(address)
    return networks.some(([base, length]) => base.kind() === parsed.kind() && parsed.match(base, length))
  }

  return (request, { remoteAddress }) => {
    let address = canonicalIp(remoteAddress ?? '')
    if (networks.length === 0 || address === undefined || !isTrusted(address)) return address
    const named = request.headers.get(header)
    if (named === null) return address
    const hops = readHops(named)
    do {
      const before = hops.pop()
      if (before === undefined) return address
      address = canonicalIp(withoutPort(before))
    } while (address !== undefined && isTrusted(address))
    return address
  }
}

const listedHops = (text: string): string[] =>
  text
    .split(',')
    .map((hop) => hop.trim())
    .filter((hop) => hop !== '')

/**
 * Returns the `for` of each element of a Forwarded header (RFC 7239), unquoted; `unknown` for an element without `for`.
 */
function forwardedHops(text: string): string[] {
  const elements = text.match(/(?:[^,"]|"(?:\\.|[^"\\])*"?)+/g) ?? []
  return elements
    .filter((element) => element.trim() !== '')
    .map((element) => {
      const [, quoted, plain] = /(?:^|;)\s*for=(?:"((?:\\.|[^"\\])*)"|([^;\s"]*))/i.exec(element) ?? []
      return quoted?.replaceAll(/\\(.)/g, '$1') ?? plain ?? 'unknown'
    })
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

/** Removes a port. Some proxies write `192.0.2.1:4711` and `[2001:db8::1]:4711`. */
const withoutPort = (hop: string) => hop.replace(/^\[([^\]]*)\](?::\d+)?$/, '$1').replace(/^([\d.]+):\d+$/, '$1')

/** Makes the problem for a player whose address is needed and unknown. Its message helps those who mount the API. */
export const addressUnknown = (): Problem =>
  new Problem(
    400,
    'address-unknown',
    'The address of the caller is unknown. Serve the API with nodeListener, ' +
      'call it as api(request, { remoteAddress }), or set the option address.',
  )

/** Returns true if a request with this Host header (undefined if missing) is meant for this server. */
export type HostCheck = (host: string | undefined) => boolean

const NAME = /^[a-z0-9_-]+(\.[a-z0-9_-]+)*$/

/**
 * Creates a check that protects from DNS rebinding. A hostile page can make its own host name resolve to this machine.
 * Then it is same-origin with this server. Browsers send the name in the address bar as Host. So a Host must be an IP
 * address (which needs no resolver), `localhost` or a name below it, or an allowed name.
 * @param allowed names without a port.
 * @param option the option's name in errors. Default `allowedHosts`.
 * @throws TypeError for an invalid name.
 */
export function createHostCheck(allowed: readonly string[], option = 'allowedHosts'): HostCheck {
  const names = new Set(allowed.map((name) => allowedName(name, option)))
  return (host) => {
    const name = host === undefined ? undefined : nameIn(host)
    if (name === undefined) return false
    return isIP(name) !== 0 || name === 'localhost' || name.endsWith('.localhost') || names.has(name)
  }
}

function allowedName(name: unknown, option: string): string {
  const lower = typeof name === 'string' ? name.toLowerCase() : ''
  if (NAME.test(lower)) return lower
  throw new TypeError(`${option} must be host names without a port, got ${JSON.stringify(name)}`)
}

/** Returns the name in a Host header, without port, brackets and trailing dot; undefined for an invalid header. */
function nameIn(host: string): string | undefined {
  const [, bracketed, plain] = /^(?:\[([0-9a-f:.]+)\]|([^:[\]]+))(?::\d{1,5})?$/i.exec(host) ?? []
  if (bracketed !== undefined) return isIP(bracketed) === 6 ? bracketed : undefined
  const name = plain?.toLowerCase().replace(/\.$/, '') ?? ''
  return NAME.test(name) ? name : undefined
}

/**
 * Returns the token of the Authorization header. It is written as `Bearer <token>` or, by existing game clients,
 * without a scheme. Returns undefined without a token, and for other schemes (`Basic …`).
 */
export function bearerToken(request: Request): string | undefined {
  const header = request.headers.get('authorization')?.trim() ?? ''
  const token = /^bearer +/i.test(header) ? header.replace(/^bearer +/i, '') : header
  return token === '' || /\s/.test(token) || /^bearer$/i.test(token) ? undefined : token
}
