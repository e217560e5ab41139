import { isIP } from 'node:net'

/** Whether a request with this Host header (undefined for none) is for this server. */
export type HostCheck = (host: string | undefined) => boolean

const NAME = /^[a-z0-9_-]+(\.[a-z0-9_-]+)*$/

/**
 * Browsers send the name in the address bar as Host. A page of a stranger can have its own name resolve to this machine
 * (DNS rebinding), and would then be same-origin with the emulator. So a Host must be an address, which no resolver has
 * a say in, `localhost` or a name below it, or one of the names allowed.
 * @param allowed names without a port.
 * @throws TypeError for what is not a name.
 */
export function createHostCheck(allowed: readonly string[]): HostCheck {
  const names = new Set(allowed.map(allowedName))
  return (host) => {
    const name = host === undefined ? undefined : nameIn(host)
    if (name === undefined) return false
    return isIP(name) !== 0 || name === 'localhost' || name.endsWith('.localhost') || names.has(name)
  }
}

function allowedName(name: unknown): string {
  const lower = typeof name === 'string' ? name.toLowerCase() : ''
  if (NAME.test(lower)) return lower
  throw new TypeError(`allowedHosts must be host names without a port, got ${JSON.stringify(name)}`)
}

/** Without port, brackets and the dot that may end a name; undefined for what is no Host header. */
function nameIn(host: string): string | undefined {
  const [, bracketed, plain] = /^(?:\[([0-9a-f:.]+)\]|([^:[\]]+))(?::\d{1,5})?$/i.exec(host) ?? []
  if (bracketed !== undefined) return isIP(bracketed) === 6 ? bracketed : undefined
  const name = plain?.toLowerCase().replace(/\.$/, '') ?? ''
  return NAME.test(name) ? name : undefined
}
