/** Which pages of other origins may call an API from a browser. */
export interface CorsOptions {
  /**
   * Origins whose pages may call, e.g. `https://play.example.com`; `https://*.example.com` for each subdomain, not for
   * `example.com` itself; `http://localhost:*` for any port; `*` for all.
   */
  readonly origins: readonly string[]
}

const PREFLIGHT_SECONDS = '600'

/** The headers that let pages of listed origins read an answer; none for an origin that is not listed. */
export function corsHeaders({ origins }: CorsOptions, request: Request): Readonly<Record<string, string>> {
  const origin = request.headers.get('origin')
  if (origin === null || !origins.some((listed) => allows(listed, origin))) return { vary: 'origin' }
  return { vary: 'origin', 'access-control-allow-origin': origin, 'access-control-expose-headers': 'retry-after' }
}

function allows(listed: string, origin: string): boolean {
  if (listed === '*' || listed === origin) return true
  // The default port is not written in an origin.
  const anyPort = listed.endsWith(':*')
  const asked = anyPort ? origin.replace(/(?<=[^/]):\d+$/, '') : origin
  const wanted = anyPort ? listed.slice(0, -2) : listed
  const [scheme = '', domain] = wanted.split('://*.')
  if (domain === undefined) return asked === wanted
  // Names of hosts alone may stand for the star: neither a user nor a path could end in the domain then.
  const prefix = `${scheme}://`
  return (
    asked.startsWith(prefix) &&
    asked.endsWith(`.${domain}`) &&
    /^[a-z\d-]+(\.[a-z\d-]+)*$/i.test(asked.slice(prefix.length, -domain.length - 1))
  )
}

/** Answers a browser's preflight request; undefined for any other request. */
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
