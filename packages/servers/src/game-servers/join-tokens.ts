import { createHmac, timingSafeEqual } from 'node:crypto'

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

/** Most characters of a token that is read: far more than one with the longest ids has. */
const LONGEST = 2048

const base64url = (text: string) => Buffer.from(text).toString('base64url')
const HEADER = base64url('{"alg":"HS256","typ":"JWT"}')
const signature = (signed: string, key: Uint8Array) => createHmac('sha256', key).update(signed).digest()

/**
 * Makes the token by which a player proves to a game server who they are: a JWT, signed with HS256 by a key that only
 * this server and Muster know. At most 400 bytes with ids of up to 36 characters.
 */
export function signJoinToken(claims: JoinClaims, key: Uint8Array): string {
  const signed = `${HEADER}.${base64url(JSON.stringify(claims))}`
  return `${signed}.${signature(signed, key).toString('base64url')}`
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
}

/** Makes join tokens that are valid from `now`, in epoch milliseconds, for `JOIN_TOKEN_SECONDS`. */
export function grantJoin(grant: JoinGrant, key: Uint8Array, now: number): string {
  const { server: aud, playerId: sub, matchId: mid, seatId: sid, team, groupId: grp } = grant
  const iat = Math.floor(now / 1000)
  return signJoinToken({ aud, sub, mid, sid, team, grp, iat, exp: iat + JOIN_TOKEN_SECONDS }, key)
}

/** Why a join token is refused. */
export type JoinFault = 'malformed' | 'forged' | 'expired' | 'other-server'

/**
 * Reads a join token as a game server does. It needs no request.
 * @param now epoch milliseconds.
 * @returns the claims; or why the token is refused: `malformed` if it is no such token, `forged` if another key signed
 *   it, `other-server` if it is for another server, `expired` if its time is over.
 */
export function readJoinToken(
  token: string,
  { server, key, now }: { readonly server: string; readonly key: Uint8Array; readonly now: number },
): JoinClaims | JoinFault {
  const parts = token.length > LONGEST ? [] : token.split('.')
  const [header = '', payload = '', mac = ''] = parts
  // Only this header is accepted, so no token chooses its own algorithm.
  if (parts.length !== 3 || header !== HEADER) return 'malformed'
  const wanted = signature(`${header}.${payload}`, key)
  const given = Buffer.from(mac, 'base64url')
  if (given.length !== wanted.length || !timingSafeEqual(given, wanted)) return 'forged'
  // The signature proves that the payload is what `signJoinToken` wrote.
  const claims = JSON.parse(Buffer.from(payload, 'base64url').toString()) as JoinClaims
  if (claims.aud !== server) return 'other-server'
  return claims.exp * 1000 <= now ? 'expired' : claims
}
