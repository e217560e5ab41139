import { createHmac, createSecretKey, timingSafeEqual } from 'node:crypto'
import type { JWTPayload } from 'jose'

export interface QuickChecks {
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
export type QuickVerify = (token: string, now: number) => JWTPayload | undefined

/** The members of a header that change nothing in how the token is checked. Any other, e.g. `crit`, is left to jose. */
const PLAIN_MEMBERS: ReadonlySet<string> = new Set(['alg', 'typ', 'kid'])

/**
 * Creates the check of usual tokens that a shared secret has signed by HS256. jose asks WebCrypto, which takes a thread
 * and a promise for every token: six times as long as the check itself. This check only ever takes what jose takes, as
 * a test verifies: jose refuses the others, and says why.
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
