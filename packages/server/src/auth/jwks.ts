import type { Clock } from '@muster/core/clock'
import { createRemoteJWKSet, customFetch, type FetchImplementation } from 'jose/jwks/remote'
import type { JWTVerifyGetKey } from 'jose/jwt/verify'

export interface JwksOptions {
  readonly url: string
  readonly clock: Clock
  /** Told when the keys cannot be fetched. */
  readonly onProblem: (error: Error) => void
  /** Milliseconds to wait for the answer. Default 5000. */
  readonly timeoutMs?: number | undefined
}

/** Keys older than this are fetched again, in the background (our choice). */
const REFRESH_MS = 600_000
/** While the address does not answer, keys are trusted for this long after they were fetched (our choice). */
const KEEP_MS = 24 * 3600 * 1000
/** After a fetch that failed, the next one waits this long (our choice). */
const RETRY_MS = 5000
/** A token with an unknown key id causes a fetch this often at most (jose's default). */
const COOLDOWN_MS = 30_000
/** Bytes of a key set, at most (our choice). */
const LARGEST = 512 * 1024

/** The keys cannot be fetched, and there are none that are young enough. */
export class KeysUnavailable extends Error {
  static {
    this.prototype.name = 'KeysUnavailable'
  }
}

/**
 * The signing keys at an address (RFC 7517), for jose. They are fetched with the first token, and fetched again while
 * the old ones are still used, so that an identity provider that is down for an hour locks nobody out. Redirects are
 * not followed.
 */
export function createJwks({ url, clock, onProblem, timeoutMs = 5000 }: JwksOptions): JWTVerifyGetKey {
  let fetchedAt = -Infinity
  let failedAt = -Infinity

  const fetchKeys: FetchImplementation = async (href, { headers, signal }) => {
    if (clock.now() - failedAt < RETRY_MS) throw new KeysUnavailable('The keys could not be fetched a moment ago.')
    try {
      const answer = await fetchBounded(href, headers, signal)
      fetchedAt = clock.now()
      return answer
    } catch (error) {
      failedAt = clock.now()
      const unavailable = new KeysUnavailable(
        `The keys at auth.jwt.jwks cannot be fetched: ${reasonOf(error)}. Check the URL and the network.`,
      )
      onProblem(unavailable)
      throw unavailable
    }
  }
  const remote = createRemoteJWKSet(new URL(url), {
    cacheMaxAge: Infinity,
    cooldownDuration: COOLDOWN_MS,
    timeoutDuration: timeoutMs,
    [customFetch]: fetchKeys,
  })

  return async (header, token) => {
    const age = clock.now() - fetchedAt
    if (age > KEEP_MS) await remote.reload()
    else if (age > REFRESH_MS && clock.now() - failedAt >= RETRY_MS) void remote.reload().catch(() => {})
    return remote(header, token)
  }
}

async function fetchBounded(url: string, headers: Headers, signal: AbortSignal): Promise<Response> {
  // Not at the top: it takes long to load, and no key is needed before the first token.
  const { request } = await import('undici')
  const { statusCode, body } = await request(url, { headers: Object.fromEntries(headers), signal })
  if (statusCode !== 200) {
    await body.dump()
    throw new Error(`HTTP ${statusCode}`)
  }
  const chunks: Uint8Array[] = []
  let size = 0
  for await (const chunk of body as AsyncIterable<Uint8Array>) {
    size += chunk.length
    if (size > LARGEST) throw new Error(`more than ${LARGEST} bytes`)
    chunks.push(chunk)
  }
  const keys = keysIn(Buffer.concat(chunks).toString())
  if (keys === undefined) throw new Error('not a JSON Web Key Set')
  return Response.json({ keys: keys.map(anyName) })
}

function keysIn(text: string): readonly unknown[] | undefined {
  try {
    const keys = (JSON.parse(text) as { readonly keys?: unknown } | null)?.keys
    return Array.isArray(keys) ? keys : undefined
  } catch {
    return undefined
  }
}

/**
 * RFC 9864 renames the algorithm EdDSA to Ed25519. A key of that curve checks tokens of either name, whichever the set
 * states.
 */
function anyName(key: unknown): unknown {
  const { alg, ...rest } = Object(key) as Readonly<Record<string, unknown>>
  return rest['crv'] === 'Ed25519' && (alg === 'EdDSA' || alg === 'Ed25519') ? rest : key
}

/** Codes and names only: messages of the network hold addresses. */
function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return 'failed'
  if ('code' in error && typeof error.code === 'string') return error.code
  return error.name === 'Error' ? error.message : error.name
}
