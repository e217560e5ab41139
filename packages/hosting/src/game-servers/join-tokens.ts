import { type Clock, dateOf } from '@muster/core/clock'
import { createHash, createHmac } from 'node:crypto'

/** What a join token says. Names of the claims are short, since the token travels in a game's first packet. */
export interface JoinClaims {
  /** Id of the server for which the token is valid. */
  readonly aud: string
  /** Id of the player. */
  readonly sub: string
  /** Id of the match. On a server that is reused, the token is void in the next match. */
  readonly mid: string
  /** Id of the player's seat: the ticket of one player, as the ticket API names it. */
  readonly sid: string
  readonly team?: string | undefined
  /** Id of the party's ticket; undefined for a player who came alone. */
  readonly grp?: string | undefined
  /** Seconds since 1970, as in every JWT: when the token was made, and when it expires. */
  readonly iat: number
  readonly exp: number
}

/** Seconds for which a join token is valid (our choice): as long as a slow client may load. */
const JOIN_TOKEN_SECONDS = 300

const base64url = (text: string) => Buffer.from(text).toString('base64url')

/**
 * How join tokens are signed. `HS256`: each server has a key of its own, which signs for it alone. `EdDSA`: one key
 * signs for all servers, and whoever checks tokens needs its public half only.
 */
export type JoinAlgorithm = 'HS256' | 'EdDSA'

const HEADER = base64url('{"alg":"HS256","typ":"JWT"}')

/**
 * Makes the token by which a player proves to a game server who they are: a JWT, signed with HS256 by a key that only
 * this server and Muster know. At most 400 bytes with ids of up to 36 characters.
 */
export function signJoinToken(claims: JoinClaims, key: Uint8Array): string {
  const signed = `${HEADER}.${base64url(JSON.stringify(claims))}`
  return `${signed}.${createHmac('sha256', key).update(signed).digest('base64url')}`
}

/** Who joins which match on which server. */
export interface JoinGrant {
  /** Id of the server, as its assignment says. */
  readonly server: string
  readonly matchId: string
  readonly playerId: string
  readonly seatId: string
  readonly team?: string | undefined
  readonly groupId?: string | undefined
  /** Instant of the clock until which a seat is held. Default: it is the player's. */
  readonly until?: number | undefined
}

/** The claims of a token that is valid from now, by the wall clock, for `JOIN_TOKEN_SECONDS`, or until `until`. */
export function joinClaims(grant: JoinGrant, clock: Pick<Clock, 'now' | 'wallStepMs'>): JoinClaims {
  const { server: aud, playerId: sub, matchId: mid, seatId: sid, team, groupId: grp } = grant
  const iat = Math.floor(dateOf(clock) / 1000)
  const latest = iat + JOIN_TOKEN_SECONDS
  const exp = grant.until === undefined ? latest : Math.min(latest, Math.floor(dateOf(clock, grant.until) / 1000))
  return { aud, sub, mid, sid, team, grp, iat, exp }
}

/** The id of a public key: the beginning of its thumbprint (RFC 7638). */
export function keyIdOf(publicKey: Uint8Array): string {
  const x = Buffer.from(publicKey).toString('base64url')
  const members = JSON.stringify({ crv: 'Ed25519', kty: 'OKP', x })
  return createHash('sha256').update(members).digest('base64url').slice(0, 16)
}

/** The header of the tokens that the private half of a public key has signed. */
export const eddsaHeader = (publicKey: Uint8Array): string =>
  base64url(JSON.stringify({ alg: 'EdDSA', typ: 'JWT', kid: keyIdOf(publicKey) }))
