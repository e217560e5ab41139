import { createHostCheck, Problem } from '@muster/core/http'

/** Refuses requests that pages of other sites make. */
export interface Visitors {
  /** @throws {Problem} 421 for a Host header that is not served here, e.g. of DNS rebinding */
  checkHost(request: Request): void
  /** @throws {Problem} 403 for a call that another site's page makes */
  checkOrigin(request: Request): void
}

/**
 * A hostile page that the operator visits can make the browser send requests here. Without the token they can do
 * nothing; these checks refuse them before the token is looked at.
 * @param hosts names without a port that are served besides addresses and `localhost`.
 * @throws TypeError for an invalid name
 */
export function createVisitors(hosts: readonly string[]): Visitors {
  const isServed = createHostCheck(hosts, 'hosts')
  const ownNames = new Set(hosts.map((name) => name.toLowerCase()))

  /** Behind a proxy, Host may name this machine, while Origin names the public host. */
  const isOwn = (origin: string, host: string | null) => {
    if (!URL.canParse(origin)) return false
    const url = new URL(origin)
    return url.host === host?.toLowerCase() || ownNames.has(url.hostname)
  }

  return {
    checkHost: ({ headers }) => {
      if (isServed(headers.get('host') ?? undefined)) return
      throw new Problem(421, 'wrong-host', 'no such host is served here: the configuration names those that are')
    },
    checkOrigin: ({ headers }) => {
      const site = headers.get('sec-fetch-site')
      const origin = headers.get('origin')
      const isSame = site === null || site === 'same-origin' || site === 'none'
      if (isSame && (origin === null || isOwn(origin, headers.get('host')))) return
      throw new Problem(403, 'cross-site', 'only the console’s own page may call this')
    },
  }
}
