/** The other origins whose pages may call an API from a browser. */
export interface CorsOptions {
  /**
   * Origins whose pages may call the API, e.g. `https://play.example.com`. `https://*.example.com` allows each
   * subdomain, but not `example.com` itself. `http://localhost:*` allows any port. `*` allows all origins.
   */
  readonly origins: readonly string[]
}

const PREFLIGHT_SECONDS = '600'

/**
 * Returns the headers that let pages of listed origins read a response. An origin that is not listed gets none of them.
 */
export function corsHeaders({ origins }: CorsOptions, request: Request): Readonly<Record<string, string>> {
  const origin = request.headers.get('origin')
  if (origin === null || !origins.some((listed) => allows(listed, origin))) return { vary: 'origin' }
  return { vary: 'origin', 'access-control-allow-origin': origin, 'access-control-expose-headers': 'retry-after' }
}

function allows(listed: string, origin: string): boolean {
  if (listed === '*' || listed === origin) return true
  // An origin omits the default port, so `:*` also allows an origin without a port.
  const anyPort = listed.endsWith(':*')
  const given = anyPort ? origin.replace(/(?<=[^/]):\d+$/, '') : origin
  const wanted = anyPort ? listed.slice(0, -2) : listed
  const [scheme = '', domain] = wanted.split('://*.')
  if (domain === undefined) return given === wanted
  // Only a host name may replace the star. An origin with a user name or a path could otherwise end in the domain too.
  const prefix = `${scheme}://`
  return (
    given.startsWith(prefix) &&
    given.endsWith(`.${domain}`) &&
    /^[a-z\d-]+(\.[a-z\d-]+)*$/i.test(given.slice(prefix.length, -domain.length - 1))
  )
}

/** Answers a browser's preflight request. Returns undefined for any other request. */
export function preflight(request: Request, methods: readonly string[]): Response | undefined {
  if (request.method !== 'OPTIONS' || !request.headers.has('access-control-request-method')) return undefined
  return new Response(null, {
    status: 204,
    headers: {
      'access-control-allow-methods': methods.join(', '),
      'access-control-allow-headers': 'authorization, content-type, last-event-id, x-player-secret',
      'access-control-max-age': PREFLIGHT_SECONDS,
    },
  })
}
