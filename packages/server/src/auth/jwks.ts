import type { Clock } from '@muster/core/clock'
import { jsonIn } from '@muster/core/internal'
import { createRemoteJWKSet, customFetch, type FetchImplementation } from 'jose/jwks/remote'
import type { JWTVerifyGetKey } from 'jose/jwt/verify'

export interface JwksOptions {
  readonly url: string
  readonly clock: Clock
  /** Called when the keys cannot be fetched. */
  readonly onProblem: (error: Error) => void
}

/** Milliseconds to wait for the response (our choice). */
const TIMEOUT_MS = 5000
/** Age in milliseconds at which keys are fetched again, in the background (our choice). */
const REFRESH_MS = 600_000
/** Age in milliseconds up to which keys are trusted while their address does not respond (our choice). */
const KEEP_MS = 24 * 3600 * 1000
/** Milliseconds after a failed fetch until the next one (our choice). */
const RETRY_MS = 5000
/** Minimum milliseconds between two fetches for tokens with unknown key ids (jose's default). */
const COOLDOWN_MS = 30_000
/** Maximum size of a key set in bytes (our choice). */
const LARGEST = 512 * 1024

/** Thrown if the keys cannot be fetched and no earlier ones are recent enough. */
export class KeysUnavailable extends Error {
  static {
    this.prototype.name = 'KeysUnavailable'
  }
}

/**
 * Provides jose with the signing keys at an address (RFC 7517). The first token causes the first fetch. Later fetches
 * run in the background, and the old keys are used meanwhile. So players can log in during an outage of the identity
 * provider of up to 24 h. Redirects are not followed.
 */
export function createJwks({ url, clock, onProblem }: JwksOptions): JWTVerifyGetKey {
  let fetchedAt = -Infinity
  let failedAt = -Infinity

  const fetchKeys: FetchImplementation = async (href, { headers, signal }) => {
    if (clock.now() - failedAt < RETRY_MS)
      throw new KeysUnavailable('The signing keys (JWKS) could not be fetched. Retry in a moment.')
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
    timeoutDuration: TIMEOUT_MS,
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
  // undici is imported lazily, because it is slow to load and no key is needed before the first token.
  const { request } = await import('undici')
  const { statusCode, body } = await request(url, { headers: Object.fromEntries(headers), signal })
  if (statusCode !== 200) {
    await body.dump()
    throw new Error(`the URL of the keys answered with HTTP ${statusCode}`)
  }
  const chunks: Uint8Array[] = []
  let size = 0
  for await (const chunk of body as AsyncIterable<Uint8Array>) {
    size += chunk.length
    if (size > LARGEST) throw new Error(`the key set (JWKS) has more than ${LARGEST} bytes`)
    chunks.push(chunk)
  }
  const keys = keysIn(Buffer.concat(chunks).toString())
  if (keys === undefined) throw new Error('the answer of the URL is not a JSON Web Key Set')
  return Response.json({ keys: keys.map(anyName) })
}

function keysIn(text: string): readonly unknown[] | undefined {
  const keys = (jsonIn(text) as { readonly keys?: unknown } | null | undefined)?.keys
  return Array.isArray(keys) ? keys : undefined
}

/**
 * Removes the algorithm from an Ed25519 key, because RFC 9864 renames EdDSA to Ed25519: the key then verifies tokens
 * that state either name. Returns every other key unchanged.
 */
function anyName(key: unknown): unknown {
  const { alg, ...rest } = Object(key) as Readonly<Record<string, unknown>>
  return rest['crv'] === 'Ed25519' && (alg === 'EdDSA' || alg === 'Ed25519') ? rest : key
}

/** Returns the code or the name of an error, not its message, because messages of network errors contain addresses. */
function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return 'failed'
  if ('code' in error && typeof error.code === 'string') return error.code
  return error.name === 'Error' ? error.message : error.name
}
