import { createHmac, createPublicKey, timingSafeEqual, verify } from 'node:crypto'
import { JoinRefused } from './errors.js'
import { fits } from './shapes.js'

/** The key with which this server verifies join tokens. */
export interface JoinKey {
  readonly alg: 'HS256' | 'EdDSA'
  readonly key: Uint8Array
  /**
   * Id of the server, which is the audience of its tokens. Undefined if it is unknown, e.g. without a connection to
   * Muster.
   */
  readonly server: string | undefined
}

/** The claims of a join token (docs/servers.md, Who connects?). */
export interface JoinClaims {
  readonly aud: string
  /** Id of the player. */
  readonly sub: string
  /** Id of the match, or of the listed session. */
  readonly mid: string
  /** Id of the seat. */
  readonly sid: string
  readonly team?: string | undefined
  readonly grp?: string | undefined
  readonly iat: number
  readonly exp: number
}

/** Maximum length of a token in characters. */
const LONGEST = 2048
/** Seconds for which a token is valid (docs/servers.md). */
const VALID_SECONDS = 300

/** Derives the HS256 key of a server's join tokens from its MUSTER_SERVER_TOKEN. */
export const joinKeyOf = (token: string): Uint8Array => createHmac('sha256', token).update('muster-join-1').digest()

/**
 * Verifies a join token. Uses the server's own algorithm, and ignores the one in the token's header.
 * @param now epoch milliseconds
 * @throws {JoinRefused}
 */
export function readJoinToken(token: unknown, { alg, key, server }: JoinKey, now: number): JoinClaims {
  if (typeof token !== 'string' || token.length > LONGEST) throw new JoinRefused('malformed')
  const parts = token.split('.')
  if (parts.length !== 3 || !parts.every(isBase64url)) throw new JoinRefused('malformed')
  const [header = '', payload = '', mac = ''] = parts
  if (objectIn(header)?.['alg'] !== alg) throw new JoinRefused('malformed')
  if (!isSigned(`${header}.${payload}`, Buffer.from(mac, 'base64url'), alg, key)) throw new JoinRefused('forged')
  const claims = objectIn(payload)
  if (claims === undefined || !isClaims(claims)) throw new JoinRefused('malformed')
  if (server !== undefined && claims.aud !== server) throw new JoinRefused('other-server')
  if (claims.exp * 1000 <= now) throw new JoinRefused('expired')
  return claims
}

/** Signs a token with HS256 as Muster does, for a server that runs without Muster. */
export function signJoinToken(claims: Omit<JoinClaims, 'iat' | 'exp'>, key: Uint8Array, now: number): string {
  const iat = Math.floor(now / 1000)
  const payload = JSON.stringify({ ...claims, iat, exp: iat + VALID_SECONDS })
  const signed = `${base64url('{"alg":"HS256","typ":"JWT"}')}.${base64url(payload)}`
  return `${signed}.${createHmac('sha256', key).update(signed).digest('base64url')}`
}

const base64url = (text: string) => Buffer.from(text).toString('base64url')

function isSigned(signed: string, given: Buffer, alg: JoinKey['alg'], key: Uint8Array): boolean {
  if (alg === 'EdDSA') {
    if (key.length !== 32 || given.length !== 64) return false
    const jwk = { kty: 'OKP', crv: 'Ed25519', x: Buffer.from(key).toString('base64url') }
    return verify(null, Buffer.from(signed), createPublicKey({ key: jwk, format: 'jwk' }), given)
  }
  const wanted = createHmac('sha256', key).update(signed).digest()
  return given.length === wanted.length && timingSafeEqual(given, wanted)
}

const isBase64url = (part: string) => /^[\w-]+$/.test(part) && part.length % 4 !== 1

function objectIn(part: string): Readonly<Record<string, unknown>> | undefined {
  try {
    const value: unknown = JSON.parse(Buffer.from(part, 'base64url').toString())
    return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : undefined
  } catch {
    return undefined
  }
}

const isClaims = (given: Readonly<Record<string, unknown>>): given is Readonly<Record<string, unknown>> & JoinClaims =>
  fits('claims', given)
