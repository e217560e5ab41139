import { type Clock, dateOf } from '@muster/core/clock'
import { createHash, createHmac } from 'node:crypto'

/** The claims of a join token. Their names are short, because the token travels in a game's first packet. */
export interface JoinClaims {
  /** Id of the server for which the token is valid. */
  readonly aud: string
  /** Id of the player. */
  readonly sub: string
  /** Id of the match. On a reused server, the token is invalid in the next match. */
  readonly mid: string
  /** Id of the player's seat. In a match: the ticket id, or `<ticket id>.<index>` in a party. */
  readonly sid: string
  readonly team?: string | undefined
  /** Id of the party's ticket. Undefined for a player who came alone. */
  readonly grp?: string | undefined
  /** When the token was created and when it expires, in seconds since 1970 like in every JWT. */
  readonly iat: number
  readonly exp: number
}

/** Number of seconds for which a join token is valid (our choice): the time that a slow client may need to load. */
const JOIN_TOKEN_SECONDS = 300

const base64url = (text: string) => Buffer.from(text).toString('base64url')

/**
 * The signature of join tokens. `HS256`: each server has its own key, which signs only for it. `EdDSA`: one key signs
 * for all servers, and a verifier needs only its public half.
 */
export type JoinAlgorithm = 'HS256' | 'EdDSA'

const HEADER = base64url('{"alg":"HS256","typ":"JWT"}')

/**
 * Creates the token with which a player proves their identity to a game server: a JWT, signed with HS256 by a key that
 * only this server and Muster know. At most 400 bytes with ids of up to 36 characters.
 */
export function signJoinToken(claims: JoinClaims, key: Uint8Array): string {
  const signed = `${HEADER}.${base64url(JSON.stringify(claims))}`
  return `${signed}.${createHmac('sha256', key).update(signed).digest('base64url')}`
}

/** The player, match and server of a join token. */
export interface JoinGrant {
  /** Id of the server, as in its assignment. */
  readonly server: string
  readonly matchId: string
  readonly playerId: string
  readonly seatId: string
  readonly team?: string | undefined
  readonly groupId?: string | undefined
  /** Clock time until which a seat is held. Default: without end. */
  readonly until?: number | undefined
}

/** Returns the claims of a token that is valid from now (wall clock), for `JOIN_TOKEN_SECONDS` or until `until`. */
export function joinClaims(grant: JoinGrant, clock: Pick<Clock, 'now' | 'wallStepMs'>): JoinClaims {
  const { server: aud, playerId: sub, matchId: mid, seatId: sid, team, groupId: grp } = grant
  const iat = Math.floor(dateOf(clock) / 1000)
  const latest = iat + JOIN_TOKEN_SECONDS
  const exp = grant.until === undefined ? latest : Math.min(latest, Math.floor(dateOf(clock, grant.until) / 1000))
  return { aud, sub, mid, sid, team, grp, iat, exp }
}

/** Returns the id of a public key: the beginning of its thumbprint (RFC 7638). */
export function keyIdOf(publicKey: Uint8Array): string {
  const x = Buffer.from(publicKey).toString('base64url')
  const members = JSON.stringify({ crv: 'Ed25519', kty: 'OKP', x })
  return createHash('sha256').update(members).digest('base64url').slice(0, 16)
}

/** Returns the header of tokens signed with the private half of a public key. */
export const eddsaHeader = (publicKey: Uint8Array): string =>
  base64url(JSON.stringify({ alg: 'EdDSA', typ: 'JWT', kid: keyIdOf(publicKey) }))
