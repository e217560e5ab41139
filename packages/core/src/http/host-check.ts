import { isIP } from 'node:net'

/** Whether a request with this Host header (undefined if missing) is meant for this server. */
export type HostCheck = (host: string | undefined) => boolean

const NAME = /^[a-z0-9_-]+(\.[a-z0-9_-]+)*$/

/**
 * Creates a check that protects from DNS rebinding: a hostile page can make its own host name resolve to this machine,
 * and is then same-origin with what is served here. Browsers send the name in the address bar as Host, so a Host must
 * be an IP address (no resolver is involved), `localhost` or a name below it, or an allowed name.
 * @param allowed names without a port.
 * @param option what the error calls them. Default `allowedHosts`.
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

/** The name in a Host header, without port, brackets and trailing dot; undefined for an invalid header. */
function nameIn(host: string): string | undefined {
  const [, bracketed, plain] = /^(?:\[([0-9a-f:.]+)\]|([^:[\]]+))(?::\d{1,5})?$/i.exec(host) ?? []
  if (bracketed !== undefined) return isIP(bracketed) === 6 ? bracketed : undefined
  const name = plain?.toLowerCase().replace(/\.$/, '') ?? ''
  return NAME.test(name) ? name : undefined
}
