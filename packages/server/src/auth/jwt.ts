import { hash } from 'node:crypto'
import { type Clock, dateOf } from '@muster/core/clock'
import { Problem } from '@muster/core/http'
import { growingTo } from '@muster/core/internal'
import * as errors from 'jose/errors'
import { jwtVerify, type JWTVerifyGetKey, type JWTVerifyOptions } from 'jose/jwt/verify'
import { LRUCache } from 'lru-cache'
import { type Config, PUBLIC_ALGORITHMS, SHARED_ALGORITHMS } from '../config/index.js'
import { type ClaimNames, type Identify, type Identity, readClaims } from './identity.js'
import { createJwks, KeysUnavailable } from './jwks.js'

type Section = NonNullable<Config['auth']['jwt']>

/** The section `auth.jwt`, with its secret as a string. */
export type JwtOptions = Partial<Omit<Section, 'secret' | 'algorithms' | 'claims'>> & {
  readonly secret?: string | undefined
  readonly algorithms?: readonly string[] | undefined
  readonly claims: ClaimNames
}

export interface JwtDeps {
  readonly clock: Clock
  readonly onProblem: (error: Error) => void
  /** Called with the reason for each rejected token. */
  readonly onRefused?: ((reason: string) => void) | undefined
}

/** Algorithms for each kind of key, kept apart so that a public key is never used as a shared secret. */
const PUBLIC = { all: PUBLIC_ALGORITHMS, usual: ['RS256', 'ES256', 'EdDSA', 'Ed25519'] }
const SHARED = { all: SHARED_ALGORITHMS, usual: ['HS256'] }

const TOLERANCE_MS = 5000

/**
 * Maximum number of keys of a set that are tried for one token (our choice), because each try costs a signature check.
 */
const MOST_TRIED = 8

interface Verified {
  readonly identity: Identity
  /** The token's expiry by the wall clock, in epoch milliseconds. */
  readonly until: number
}

/** Matches a JWT: three parts, the first of which decodes to the beginning of a JSON object. */
const SIGNED = /^e[wy][\w-]*\.[\w-]+\.[\w-]+$/

/**
 * Maximum number of remembered tokens, and milliseconds for which each is remembered (our choice). 100,000 tokens take
 * about 50 MB.
 */
const MOST_REMEMBERED = 100_000
const REMEMBER_MS = 300_000

/**
 * Creates the check of JSON Web Tokens. A token must be signed by one of the allowed algorithms and have an expiry. A
 * verified token is remembered until it expires, for at most five minutes, because clients that poll send the same
 * token each time.
 * @throws {RangeError} for an algorithm that does not fit the kind of key
 */
export function createJwt(options: JwtOptions, { clock, onProblem, onRefused }: JwtDeps) {
  const { issuer, audience, claims, clockToleranceMs = TOLERANCE_MS } = options
  const algorithms = algorithmsOf(options)
  const key = keyOf(options, { clock, onProblem })
  const verified = new LRUCache<string, Verified>({
    ...growingTo(MOST_REMEMBERED),
    ttl: REMEMBER_MS,
    ttlResolution: 0,
    perf: { now: () => clock.now() },
  })

  const verify = async (token: string, digest: string): Promise<Identity | undefined> => {
    const now = dateOf(clock)
    const checks: JWTVerifyOptions = {
      algorithms: [...algorithms],
      clockTolerance: clockToleranceMs / 1000,
      currentDate: new Date(now),
      requiredClaims: ['exp'],
      ...(issuer !== undefined && { issuer: [issuer].flat() }),
      ...(audience !== undefined && { audience: [audience].flat() }),
    }
    try {
      const payload = await payloadOf(token, key, checks)
      const identity = Object.freeze(readClaims(payload, claims))
      const leftMs = (payload.exp as number) * 1000 + clockToleranceMs - now
      if (leftMs > 0) verified.set(digest, { identity, until: now + leftMs }, { ttl: Math.min(leftMs, REMEMBER_MS) })
      return identity
    } catch (error) {
      onRefused?.(reasonOf(error))
      return refuse(error)
    }
  }

  /** Returns a remembered identity. The expiry is checked again, because the wall clock may have been moved forward. */
  const recall = (digest: string): Identity | undefined => {
    const known = verified.get(digest)
    return known === undefined || known.until <= dateOf(clock) ? undefined : known.identity
  }

  return {
    /** Returns true if a token looks like a JWT. */
    isOne: (token: string) => SIGNED.test(token),
    /** Returns the identity of a token that was verified before. */
    recall: (token: string) => (SIGNED.test(token) ? recall(digestOf(token)) : undefined),
    identify: (token: string): ReturnType<Identify> => {
      if (!SIGNED.test(token)) return undefined
      const digest = digestOf(token)
      return recall(digest) ?? verify(token, digest)
    },
  }
}

const digestOf = (token: string) => hash('sha256', token, 'base64')

function algorithmsOf({ secret, algorithms }: JwtOptions): readonly string[] {
  const fitting = secret === undefined ? PUBLIC : SHARED
  const unfit = algorithms?.find((name) => !fitting.all.some((one) => one === name))
  if (unfit === undefined) return algorithms ?? fitting.usual
  const kind = secret === undefined ? 'keys at an address' : 'a shared secret'
  throw new RangeError(
    `auth.jwt.algorithms: ${unfit} cannot be used with ${kind}: choose from ${fitting.all.join(', ')}`,
  )
}

function keyOf({ jwks, secret }: JwtOptions, deps: JwtDeps): JWTVerifyGetKey {
  if (secret === undefined) return createJwks({ url: jwks ?? '', ...deps })
  const key = new TextEncoder().encode(secret)
  return () => key
}

/**
 * Returns the payload of a verified token. Several keys of a set may fit a token, without ids or with a duplicate id.
 * Each of them is tried.
 */
async function payloadOf(
  token: string,
  key: JWTVerifyGetKey,
  checks: JWTVerifyOptions,
): Promise<Awaited<ReturnType<typeof jwtVerify>>['payload']> {
  try {
    return (await jwtVerify(token, key, checks)).payload
  } catch (error) {
    if (!(error instanceof errors.JWKSMultipleMatchingKeys)) throw error
    let tried = 0
    for await (const one of error) {
      tried += 1
      if (tried > MOST_TRIED) break
      try {
        return (await jwtVerify(token, one, checks)).payload
      } catch (wrong) {
        if (!(wrong instanceof errors.JWSSignatureVerificationFailed)) throw wrong
      }
    }
    throw new errors.JWSSignatureVerificationFailed()
  }
}

/**
 * Returns undefined for a malformed or wrongly signed token, so its sender learns no reason. Throws the reason if a
 * signed token has expired or is not valid here. Throws 503 if the signing keys are unavailable.
 * @throws {Problem}
 */
function refuse(error: unknown): undefined {
  if (error instanceof Problem) throw error
  if (error instanceof errors.JWTExpired) throw invalidToken('token-expired', 'The token has expired. Send a new one.')
  if (error instanceof errors.JWTClaimValidationFailed) {
    throw invalidToken('invalid-token', `The claim ${error.claim} of the token is ${wordOf(error.reason)}.`)
  }
  if (error instanceof KeysUnavailable || error instanceof errors.JWKSTimeout) {
    const message = 'Signing keys (JWKS) are unavailable, so the token cannot be verified. Retry after 5 s.'
    throw new Problem(503, 'auth-unavailable', message, { retryAfterMs: 5000 })
  }
  if (error instanceof errors.JOSEError) return undefined
  throw error
}

/** Returns the reason why a token is rejected, for operators. The text contains nothing of the token. */
function reasonOf(error: unknown): string {
  if (error instanceof Problem) return error.message
  if (error instanceof errors.JWTExpired) return 'expired'
  if (error instanceof errors.JWTClaimValidationFailed) return `claim ${error.claim} is ${wordOf(error.reason)}`
  if (error instanceof errors.JWKSNoMatchingKey) return 'no key of the set fits its kid and alg'
  if (error instanceof errors.JOSEAlgNotAllowed) return 'its alg is not in auth.jwt.algorithms'
  if (error instanceof errors.JWSSignatureVerificationFailed) return 'wrong signature'
  if (error instanceof KeysUnavailable || error instanceof errors.JWKSTimeout) return 'the keys are unavailable'
  return 'not a valid JWT'
}

const wordOf = (reason: string) => (reason === 'missing' ? 'missing' : 'not the one expected here')

const invalidToken = (code: string, message: string) =>
  new Problem(401, code, message, {
    headers: { 'www-authenticate': `Bearer error="invalid_token", error_description="${message}"` },
  })
