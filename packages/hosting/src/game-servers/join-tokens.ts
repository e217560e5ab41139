import { type Clock, dateOf } from '@muster/core/clock'
import { createHash, createHmac } from 'node:crypto'

/** The claims of a join token. Their names are short, because the token is sent in the first packet of a connection. */
export interface JoinClaims {
  /** Id of the server for which the token is valid. */
  readonly aud: string
  readonly sub: string
  /** Id of the match or of the listed session. The token is invalid for any other match of the same server. */
  readonly mid: string
  /** Id of the player's seat. In a match: the ticket's id, or `<ticket id>.<index>` for a ticket of several players. */
  readonly sid: string
  readonly team?: string | undefined
  /** Id of the party. Undefined for a player without a party. */
  readonly grp?: string | undefined
  /** When the token was created and when it expires, in seconds since 1970. */
  readonly iat: number
  readonly exp: number
}

/** Seconds for which a join token is valid (our choice), because a slow client loads before it connects. */
const JOIN_TOKEN_SECONDS = 300

const base64url = (text: string) => Buffer.from(text).toString('base64url')

/**
 * How join tokens are signed. `HS256`: with a secret key for each server. `EdDSA`: with one key pair for all servers,
 * of which a verifier needs only the public key.
 */
export type JoinAlgorithm = 'HS256' | 'EdDSA'

const HEADER = base64url('{"alg":"HS256","typ":"JWT"}')

/**
 * Creates a join token, with which a player proves their identity to a game server: a JWT signed with HS256. At most
 * 400 bytes with ids of up to 36 characters.
 */
export function signJoinToken(claims: JoinClaims, key: Uint8Array): string {
  const signed = `${HEADER}.${base64url(JSON.stringify(claims))}`
  return `${signed}.${createHmac('sha256', key).update(signed).digest('base64url')}`
}

/** The data of a join token. */
export interface JoinGrant {
  /** Id of the server, as in `Assignment.server`. */
  readonly server: string
  readonly matchId: string
  readonly playerId: string
  readonly seatId: string
  readonly team?: string | undefined
  readonly groupId?: string | undefined
  /** Epoch milliseconds at which the seat expires. Default: never. */
  readonly until?: number | undefined
}

/** Returns the claims of a join token. It is valid for 300 s from now, or until `until` if that is earlier. */
export function joinClaims(grant: JoinGrant, clock: Pick<Clock, 'now' | 'wallStepMs'>): JoinClaims {
  const { server: aud, playerId: sub, matchId: mid, seatId: sid, team, groupId: grp } = grant
  const iat = Math.floor(dateOf(clock) / 1000)
  const latest = iat + JOIN_TOKEN_SECONDS
  const exp = grant.until === undefined ? latest : Math.min(latest, Math.floor(dateOf(clock, grant.until) / 1000))
  return { aud, sub, mid, sid, team, grp, iat, exp }
}

/** Returns the id of a public key: the first 16 characters of its thumbprint (RFC 7638). */
export function keyIdOf(publicKey: Uint8Array): string {
  const x = Buffer.from(publicKey).toString('base64url')
  const members = JSON.stringify({ crv: 'Ed25519', kty: 'OKP', x })
  return createHash('sha256').update(members).digest('base64url').slice(0, 16)
}

/** Returns the JWT header of tokens that are signed for this public key. */
export const eddsaHeader = (publicKey: Uint8Array): string =>
  base64url(JSON.stringify({ alg: 'EdDSA', typ: 'JWT', kid: keyIdOf(publicKey) }))
