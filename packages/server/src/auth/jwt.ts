import { createHmac, createSecretKey, hash, timingSafeEqual, webcrypto } from 'node:crypto'
import type { Clock } from '@muster/core/clock'
import { Problem } from '@muster/core/http'
import { growingTo } from '@muster/core/internal'
import type { JWTPayload } from 'jose'
import * as errors from 'jose/errors'
import { jwtVerify, type JWTVerifyGetKey, type JWTVerifyOptions } from 'jose/jwt/verify'
import { LRUCache } from 'lru-cache'
import { type ClaimNames, type Identity, readClaims, type SignedTokens } from './identity.js'
import { createJwks, KeysUnavailable } from './jwks.js'

interface QuickChecks {
  readonly secret: Uint8Array
  /** Undefined: any. */
  readonly issuers: readonly string[] | undefined
  readonly audiences: readonly string[] | undefined
  readonly clockToleranceMs: number
}

/**
 * Returns the claims of a token that is certainly good; undefined for any other token, which jose then judges.
 * @param now epoch milliseconds.
 */
type QuickVerify = (token: string, now: number) => JWTPayload | undefined

/** The members of a header that change nothing in how the token is checked. Any other, e.g. `crit`, is left to jose. */
const PLAIN_MEMBERS: ReadonlySet<string> = new Set(['alg', 'typ', 'kid'])

/**
 * Creates the check of usual tokens that a shared secret has signed by HS256. jose uses WebCrypto, which needs a thread
 * and a promise for every token: six times as long as the check itself. This check accepts only what jose accepts, as
 * a test verifies. jose rejects the others with a reason.
 */
export function createQuickHs256({ secret, issuers, audiences, clockToleranceMs }: QuickChecks): QuickVerify {
  const key = createSecretKey(secret)
  const toleranceS = clockToleranceMs / 1000
  /** Nearly all tokens have the same header, so the last good one is remembered. */
  let plainHeader: string | undefined

  const isPlainHeader = (header: string) => {
    if (header === plainHeader) return true
    const members = objectIn(header)
    if (members?.['alg'] !== 'HS256' || !Object.keys(members).every((name) => PLAIN_MEMBERS.has(name))) return false
    plainHeader = header
    return true
  }
  const isSigned = (signed: string, signature: string) => {
    const expected = createHmac('sha256', key).update(signed).digest('base64url')
    return signature.length === expected.length && timingSafeEqual(Buffer.from(signature), Buffer.from(expected))
  }
  const isGood = (claims: JWTPayload, nowS: number) => {
    const { iss, aud, iat, nbf, exp } = claims
    if (typeof exp !== 'number' || exp <= nowS - toleranceS) return false
    if (nbf !== undefined && !(typeof nbf === 'number' && nbf <= nowS + toleranceS)) return false
    if (iat !== undefined && typeof iat !== 'number') return false
    if (issuers !== undefined && !(typeof iss === 'string' && issuers.includes(iss))) return false
    return audiences === undefined || audiences.some((one) => (Array.isArray(aud) ? aud.includes(one) : aud === one))
  }

  return (token, now) => {
    const [header = '', payload = '', signature = '', ...more] = token.split('.')
    if (more.length > 0 || !isPlainHeader(header) || !isSigned(`${header}.${payload}`, signature)) return undefined
    const claims = objectIn(payload)
    return claims !== undefined && isGood(claims, Math.floor(now / 1000)) ? claims : undefined
  }
}

const decoder = new TextDecoder('utf-8', { fatal: true })

/** The object that base64url text holds; undefined for anything else. */
function objectIn(encoded: string): Record<string, unknown> | undefined {
  // `Buffer` skips what it does not know, and takes text that breaks off.
  if (!/^[\w-]+$/.test(encoded) || encoded.length % 4 === 1) return undefined
  try {
    const value: unknown = JSON.parse(decoder.decode(Buffer.from(encoded, 'base64url')))
    return typeof value === 'object' && value !== null && !Array.isArray(value)
      ? (value as Record<string, unknown>)
      : undefined
  } catch {
    return undefined
  }
}

export interface JwtOptions {
  /** Address of the signing keys. Either this or `secret`. */
  readonly jwks?: string | undefined
  /** The shared secret: at least 32 bytes. */
  readonly secret?: string | undefined
  readonly issuer?: string | readonly string[] | undefined
  readonly audience?: string | readonly string[] | undefined
  /** Default: HS256 with a secret; RS256, ES256 and EdDSA with keys. */
  readonly algorithms?: readonly string[] | undefined
  /** Milliseconds by which the clock of who signs may differ from ours. Default 5000. */
  readonly clockToleranceMs?: number | undefined
  readonly claims: ClaimNames
}

export interface JwtDeps {
  readonly clock: Clock
  readonly onProblem: (error: Error) => void
}

/** Algorithms by the kind of key, so that a public key can never be taken for a shared secret. */
const PUBLIC = {
  all: ['RS256', 'RS384', 'RS512', 'PS256', 'PS384', 'PS512', 'ES256', 'ES384', 'ES512', 'EdDSA'],
  usual: ['RS256', 'ES256', 'EdDSA'],
}
const SHARED = { all: ['HS256', 'HS384', 'HS512'], usual: ['HS256'] }

const TOLERANCE_MS = 5000

const NONE = { token: '', digest: '' }

/** Three parts, of which the first begins as JSON of an object does. Anything else is no JWT, and not worth a look. */
const SIGNED = /^e[wy][\w-]*\.[\w-]+\.[\w-]+$/

/** Verified tokens that are remembered, and for how long at most (our choice): 100,000 take about 50 MB. */
const MOST_REMEMBERED = 100_000
const REMEMBER_MS = 300_000

/**
 * Creates the check of JSON Web Tokens. A token must be signed by one of the allowed algorithms and say when it ends. A
 * verified token is remembered until its end, or for five minutes: clients that poll send the same token each time.
 * @throws {RangeError} for an algorithm that does not fit the kind of key
 */
export function createJwt(options: JwtOptions, { clock, onProblem }: JwtDeps): SignedTokens {
  const { issuer, audience, claims, clockToleranceMs = TOLERANCE_MS } = options
  const algorithms = algorithmsOf(options)
  const key = keyOf(options, { clock, onProblem })
  const quickVerify = quickVerifyOf(options, algorithms)
  const perf = { now: () => clock.now() }
  const verified = new LRUCache<string, Identity>({
    ...growingTo(MOST_REMEMBERED),
    ttl: REMEMBER_MS,
    ttlResolution: 0,
    perf,
  })

  /** The token looked for last, which was not found: it is verified next. */
  let last = NONE
  const take = (payload: JWTPayload, digest: string, now: number): Identity => {
    const identity = Object.freeze(readClaims(payload, claims))
    const leftMs = (payload.exp as number) * 1000 + clockToleranceMs - now
    if (leftMs > 0) verified.set(digest, identity, { ttl: Math.min(leftMs, REMEMBER_MS) })
    if (digest === last.digest) last = NONE
    return identity
  }
  const verify = async (token: string, digest: string, now: number): Promise<Identity | undefined> => {
    const checks: JWTVerifyOptions = {
      algorithms: [...algorithms],
      clockTolerance: clockToleranceMs / 1000,
      currentDate: new Date(now),
      requiredClaims: ['exp'],
      ...(issuer !== undefined && { issuer: [issuer].flat() }),
      ...(audience !== undefined && { audience: [audience].flat() }),
    }
    try {
      const { payload } = await jwtVerify(token, key, checks)
      return take(payload, digest, now)
    } catch (error) {
      return refuse(error)
    }
  }

  const recall = (token: string): Identity | undefined => {
    if (token === last.token) return undefined
    const digest = hash('sha256', token, 'base64')
    const known = verified.get(digest)
    if (known === undefined) last = { token, digest }
    return known
  }

  return {
    isOne: (token) => SIGNED.test(token),
    recall: (token) => (SIGNED.test(token) ? recall(token) : undefined),
    identify: (token) => {
      if (!SIGNED.test(token)) return undefined
      const known = recall(token)
      if (known !== undefined) return known
      const { digest } = last
      last = NONE
      const now = clock.now()
      const payload = quickVerify?.(token, now)
      return payload === undefined ? verify(token, digest, now) : take(payload, digest, now)
    },
  }
}

function algorithmsOf({ secret, algorithms }: JwtOptions): readonly string[] {
  const fitting = secret === undefined ? PUBLIC : SHARED
  const unfit = algorithms?.find((name) => !fitting.all.includes(name))
  if (unfit === undefined) return algorithms ?? fitting.usual
  const kind = secret === undefined ? 'keys at an address' : 'a shared secret'
  throw new RangeError(`auth.jwt.algorithms: ${unfit} is none for ${kind}: choose of ${fitting.all.join(', ')}`)
}

/** Undefined without a shared secret, or if HS256 is not allowed. */
function quickVerifyOf(options: JwtOptions, algorithms: readonly string[]): QuickVerify | undefined {
  const { secret, issuer, audience, clockToleranceMs = TOLERANCE_MS } = options
  if (secret === undefined || !algorithms.includes('HS256')) return undefined
  const [issuers, audiences] = [issuer, audience].map((names) => (names === undefined ? undefined : [names].flat()))
  return createQuickHs256({ secret: new TextEncoder().encode(secret), issuers, audiences, clockToleranceMs })
}

function keyOf({ jwks, secret }: JwtOptions, deps: JwtDeps): JWTVerifyGetKey {
  if (secret === undefined) return createJwks({ url: jwks ?? '', ...deps })
  return sharedKey(new TextEncoder().encode(secret))
}

/** The shared secret as the key of each algorithm, made once: jose makes it for every token otherwise. */
function sharedKey(secret: Uint8Array): JWTVerifyGetKey {
  const keys = new Map<string, Promise<webcrypto.CryptoKey>>()
  return ({ alg }) => {
    const known = keys.get(alg)
    if (known !== undefined) return known
    const hmac = { name: 'HMAC', hash: `SHA-${alg.slice(2)}` }
    const key = webcrypto.subtle.importKey('raw', secret, hmac, false, ['verify'])
    keys.set(alg, key)
    return key
  }
}

/**
 * Undefined for an unknown token: its author learns nothing. For a known token that has expired or is not valid here,
 * throws the reason.
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

const wordOf = (reason: string) => (reason === 'missing' ? 'missing' : 'not the one expected here')

const invalidToken = (code: string, message: string) =>
  new Problem(401, code, message, {
    headers: { 'www-authenticate': `Bearer error="invalid_token", error_description="${message}"` },
  })
