import { createHash, createHmac, randomBytes, timingSafeEqual } from 'node:crypto'
import { type Clock, dateOf, type Random } from '@muster/core/clock'
import {
  type AddressOf,
  type Authenticate,
  bearerToken,
  type Caller,
  type LimitStore,
  Problem,
} from '@muster/core/http'
import { addressBlock, addressUnknown, type Awaitable, newId, routesFor, whenKnown } from '@muster/core/internal'
import { z } from 'zod'
import { SECRET_HEADER, SECRET_LENGTH } from './bodies.js'
import type { PlayerProfile } from './player-profiles.js'
import type { TicketService } from '../commands.js'

/** A caller of the ticket API. */
export interface TicketCaller extends Caller {
  /** The player's id; for a backend, any name. */
  readonly id: string
  /**
   * A `player` (default) sees and changes only their own tickets and groups, and their location follows from the
   * address of the request. A `backend` is trusted: it acts for any player, states the player's address, and its
   * requests count toward no limit.
   */
  readonly role?: 'player' | 'backend' | undefined
  /** Trusted facts about the player, e.g. from claims in the token. */
  readonly profile?: PlayerProfile | undefined
  /**
   * Set for a token that many players share: a secret of at least 32 characters or bytes, which no player knows. Who
   * the player is follows from the network of the request, from `player_id` and `player_secret` of the body, and from
   * the header `x-player-secret`.
   */
  readonly sharedKey?: string | Uint8Array | undefined
}

/** Returns the id of the calling player; undefined for a backend, which calls for other players. */
export const playerOf = (caller: TicketCaller): string | undefined => (isBackend(caller) ? undefined : caller.id)

export const isBackend = (caller: TicketCaller): boolean => caller.role === 'backend'

/** Tells apart the players who share a token. */
interface SharedToken {
  /** The secret of the header `x-player-secret`; undefined without one. */
  readonly secret: string | undefined
  /**
   * Returns the id of a player: `name~` and two MACs. The first MAC covers the name and the secret. The second covers
   * the network too, unless the secret came in the header: then the player is the same in every network. Without a
   * name, each call returns a new player of this network.
   */
  idOf(name: string | undefined, secret: string | undefined): string
  /**
   * True if the id belongs to this network or to the header's secret.
   * @throws {Problem} 429 if only the secret can decide, and this network has sent too many wrong secrets
   */
  isOf(playerId: string): boolean
}

/** A caller who may be one of the players that share a token. */
export interface PlayerCaller extends TicketCaller {
  readonly shared?: SharedToken | undefined
}

/** True if the caller is this player. With a shared token: if network or secret are the same. */
export const isSelf = ({ id, shared }: PlayerCaller, playerId: string): boolean =>
  shared === undefined ? id === playerId : shared.isOf(playerId)

/** Returns the function that tells whether a player is the caller; undefined for a backend. */
export const selfOf = (caller: PlayerCaller): ((playerId: string) => boolean) | undefined =>
  isBackend(caller) ? undefined : (playerId) => isSelf(caller, playerId)

/** Returns the first of these players that is the caller, otherwise the caller's own id; undefined for a backend. */
export const ownOf = (caller: PlayerCaller, playerIds: readonly string[]): string | undefined =>
  isBackend(caller) ? undefined : (playerIds.find((id) => isSelf(caller, id)) ?? caller.id)

/** Characters of a MAC: 96 bits, too many to guess. */
const MAC = 16
const SHARED_ID = new RegExp(`^(.+)~([\\w-]{${MAC}})([\\w-]{${MAC}})$`, 's')

/** Reads the secret from the header. @throws {Problem} 400 for an invalid secret; the error does not contain it */
function secretIn(request: Request): string | undefined {
  const secret = request.headers.get(SECRET_HEADER)
  if (secret === null) return undefined
  const { least, most } = SECRET_LENGTH
  const isAscii = /^[\x20-\x7e]*$/.test(secret)
  if (isAscii && secret.length >= least && secret.length <= most) return secret
  // Refuse non-ASCII characters: a header delivers them as bytes, so the secret would differ from the same secret in a
  // body.
  const detail = isAscii
    ? `${SECRET_HEADER}: must have ${least} to ${most} characters, got ${secret.length}`
    : `${SECRET_HEADER}: must have printable ASCII characters only`
  throw new Problem(400, 'invalid-input', detail, { field: SECRET_HEADER })
}

/** Counts the wrong secrets of a network. */
interface Guesses {
  /** Milliseconds until the network may try another secret. */
  readonly waitMs: number
  charge(): void
  giveBack(): void
}

/**
 * Creates a shared token. It derives players' ids and stores nothing: every process with the key derives the same ids.
 */
function createSharedToken(
  key: string | Uint8Array,
  network: string,
  random: Random,
  proof: { readonly secret: string; readonly guesses: Guesses } | undefined,
): SharedToken {
  const macOf = (...parts: readonly string[]) =>
    createHmac('sha256', key)
      .update(JSON.stringify(['muster-shared-1', ...parts]))
      .digest('base64url')
      .slice(0, MAC)
  const ofPlayer = (name: string, secret: string) => macOf('secret', name, secret)
  // The name is part of the MAC, so that nobody sees which players share a network.
  const ofNetwork = (name: string, ofSecret: string) => macOf('network', network, name, ofSecret)
  const isProven = proof && createProof(proof.guesses)
  return {
    secret: proof?.secret,
    idOf: (name, secret) => {
      const [given, drawn] = [name ?? newId(random), secret ?? newId(random)]
      const ofSecret = ofPlayer(given, drawn)
      const isAnywhere = secret !== undefined && secret === proof?.secret
      return `${given}~${ofSecret}${isAnywhere ? macOf('anywhere', given, ofSecret) : ofNetwork(given, ofSecret)}`
    },
    isOf: (playerId) => {
      const [, name = '', ofSecret = '', mac = ''] = SHARED_ID.exec(playerId) ?? []
      if (isSame(mac, ofNetwork(name, ofSecret))) return true
      return isProven?.(() => isSame(ofSecret, ofPlayer(name, proof?.secret ?? ''))) === true
    },
  }
}

const isSame = (mac: string, wanted: string) =>
  mac.length === MAC && timingSafeEqual(Buffer.from(mac), Buffer.from(wanted))

/**
 * Creates the check of a request's secret. If the secret fits none of the players it is compared with, the request
 * counts as one wrong secret of its network.
 */
function createProof({ waitMs, charge, giveBack }: Guesses): (isRight: () => boolean) => boolean {
  let outcome: 'open' | 'wrong' | 'right' = 'open'
  return (isRight) => {
    if (waitMs > 0) {
      const detail = 'This network has sent too many wrong secrets. Retry later.'
      throw new Problem(429, 'too-many-requests', detail, { retryAfterMs: waitMs })
    }
    if (isRight()) {
      if (outcome === 'wrong') giveBack()
      outcome = 'right'
      return true
    }
    if (outcome === 'open') charge()
    if (outcome === 'open') outcome = 'wrong'
    return false
  }
}

/**
 * Extends `authenticate` to tokens that many players share. Limits count these callers by network.
 * @param wrongSecrets counts wrong secrets by network.
 * @throws {Problem} 400 for a secret that is too short or too long; 500 if the address of such a caller is unknown
 */
export function admitShared(
  authenticate: Authenticate<TicketCaller>,
  addressOf: AddressOf,
  random: Random,
  wrongSecrets: ReturnType<LimitStore['attempts']>,
): Authenticate<PlayerCaller> {
  const identify: Authenticate<PlayerCaller> = (request, connection) =>
    whenKnown(authenticate(request, connection), (caller): Awaitable<PlayerCaller | undefined> => {
      if (caller?.sharedKey === undefined) return caller
      const { sharedKey } = caller
      const address = addressOf(request, connection)
      if (address === undefined) throw addressUnknown()
      const network = addressBlock(address)
      const secret = secretIn(request)
      const having = (proof: Parameters<typeof createSharedToken>[3]): PlayerCaller => ({
        ...caller,
        id: `network ${network}`,
        shared: createSharedToken(sharedKey, network, random, proof),
      })
      if (secret === undefined) return having(undefined)
      return whenKnown(wrongSecrets.wait(network), (waitMs) =>
        having({
          secret,
          guesses: {
            waitMs,
            charge: () => wrongSecrets.charge(network),
            giveBack: () => wrongSecrets.giveBack(network),
          },
        }),
      )
    })
  const recall = (request: Request) => {
    const caller = authenticate.recall?.(request)
    return caller?.sharedKey === undefined ? caller : undefined
  }
  return Object.assign(identify, { recall, isSigned: authenticate.isSigned })
}

/** Routes by which players who share a token create or join something. Their limit is per network. */
export const SHARED_CREATES: ReadonlySet<string> = new Set(['createTicket', 'createGroup', 'joinGroup'])

export interface StreamTokenOptions {
  /**
   * Secret of at least 32 characters or bytes. Processes that share it accept each other's tokens. Default: a random
   * secret of this process.
   */
  readonly key?: string | Uint8Array | undefined
  /** Milliseconds for which a token can open streams. Default 300,000. */
  readonly lifetimeMs?: number | undefined
}

/** What a token permits: reading the events of one ticket as its player sees it. */
interface StreamGrant {
  /** The ticket's id as the player sees it; see `seatId`. */
  readonly ticketId: string
  readonly playerId: string
}

/** Short-lived tokens for URLs, each for one ticket. Browsers need them, because `EventSource` cannot send headers. */
interface StreamTokens {
  issue(grant: StreamGrant): { readonly token: string; readonly expiresAt: number }
  /** Returns what a token permits; undefined if it is expired or not valid. */
  read(token: string): StreamGrant | undefined
}

/** Maximum number of characters of a token: more than a token with the longest ids has. */
export const LONGEST_TOKEN = 2048

const payloadSchema = z.tuple([z.string(), z.string(), z.number()])

export function createStreamTokens(
  { key = randomBytes(32), lifetimeMs = 300_000 }: StreamTokenOptions,
  clock: Clock,
): StreamTokens {
  const macOf = (payload: string) => createHmac('sha256', key).update(`muster-stream-1 ${payload}`).digest()
  return {
    issue: ({ ticketId, playerId }) => {
      const expiresAt = Math.floor(dateOf(clock) + lifetimeMs)
      const payload = Buffer.from(JSON.stringify([ticketId, playerId, expiresAt])).toString('base64url')
      return { token: `${payload}.${macOf(payload).toString('base64url')}`, expiresAt }
    },
    read: (token) => {
      const [payload = '', mac = '', ...more] = token.length > LONGEST_TOKEN ? [] : token.split('.')
      const [given, wanted] = [Buffer.from(mac, 'base64url'), macOf(payload)]
      if (more.length > 0 || given.length !== wanted.length || !timingSafeEqual(given, wanted)) return undefined
      // The signature proves that this API wrote the payload.
      const [ticketId, playerId, expiresAt] = payloadSchema.parse(
        JSON.parse(Buffer.from(payload, 'base64url').toString()),
      )
      return dateOf(clock) < expiresAt ? { ticketId, playerId } : undefined
    },
  }
}

/** A caller who may be restricted to one event stream. */
interface StreamCaller extends PlayerCaller {
  /**
   * The ticket whose events the caller may read; undefined for a caller that `authenticate` identified, who is not
   * restricted.
   */
  readonly streamOf?: string | undefined
}

/** Matches URLs with a stream token: `/tickets/<id>/events?token=<token>`. */
const WITH_TOKEN = /\/events\?(?:.*&)?token=/

const hasStreamToken = ({ method, url }: Request) => method === 'GET' && WITH_TOKEN.test(url)

/**
 * Extends `authenticate` to callers with a stream token.
 * @throws {Problem} 401 for a token that is expired or not valid.
 */
export function admitStreams(
  authenticate: Authenticate<PlayerCaller>,
  tokens: StreamTokens,
): Authenticate<StreamCaller> {
  const identify: Authenticate<StreamCaller> = (request, connection) => {
    if (!hasStreamToken(request)) return authenticate(request, connection)
    const grant = tokens.read(new URL(request.url).searchParams.get('token') ?? '')
    if (grant === undefined)
      throw new Problem(401, 'stream-token-invalid', 'The stream token is expired or invalid. Request a new one.')
    return { id: grant.playerId, role: 'player', streamOf: grant.ticketId }
  }
  return Object.assign(identify, {
    recall: (request: Request) => (hasStreamToken(request) ? undefined : authenticate.recall?.(request)),
    isSigned: (request: Request) => hasStreamToken(request) || authenticate.isSigned?.(request) === true,
  })
}

/**
 * Refuses the token of another ticket's stream.
 * @throws {Problem} 401
 */
export function assertStreamOf(ticketId: string, { streamOf }: StreamCaller): void {
  if (streamOf === undefined || streamOf === ticketId) return
  throw new Problem(401, 'stream-token-invalid', 'The stream token belongs to another ticket.')
}

/**
 * Refuses stream tokens on every route but the event stream.
 * @throws {Problem} 401
 */
export function assertStream(route: string, { streamOf }: StreamCaller): void {
  if (streamOf === undefined || route === 'ticketEvents') return
  throw new Problem(401, 'stream-token-invalid', 'A stream token is valid only for the events of its ticket.')
}

/** A caller that may be the server of a match. */
export interface MatchCaller extends StreamCaller {
  /** The secret of the server, which is valid for its own match only; undefined for every other caller. */
  readonly serverSecret?: string | undefined
  /** The enrolment key by which a process adds itself to a pool; undefined for every other caller. */
  readonly enrolmentKey?: string | undefined
}

/** Paths of the routes for servers. The token of other requests is not compared with servers' secrets. */
const SERVER_PATHS = /\/(?:matches|backfills|servers)(?:[/?]|$)/
/** Minimum length of an enrolment key. */
const SHORTEST_KEY = 32
const SECRET = /^[\w-]{1,57}\.[\w-]{22}$/

export const notTheServer = () => new Problem(403, 'not-the-server', 'The caller is not the server of this match.')

/**
 * Extends `authenticate` to servers, which send MUSTER_SERVER_TOKEN (or MM_MATCH_SECRET, the same) as the bearer token.
 * An unknown token is passed to `authenticate` and counts as a guess.
 * @param basePath the prefix of every path.
 */
export function admitServers(
  authenticate: Authenticate<StreamCaller>,
  service: Pick<TicketService, 'isServerSecret' | 'isEnrolmentKey'>,
  basePath: string,
): Authenticate<MatchCaller> {
  /** True for the only route on which enrolment keys are valid. */
  const mayEnrol = ({ method, url }: Request) => method === 'POST' && new URL(url).pathname === `${basePath}/servers`
  const identify: Authenticate<MatchCaller> = (request, connection) => {
    const secret = SERVER_PATHS.test(request.url) ? (bearerToken(request) ?? '') : ''
    if (!SECRET.test(secret)) {
      if (secret.length < SHORTEST_KEY || !mayEnrol(request)) return authenticate(request, connection)
      return whenKnown(service.isEnrolmentKey(secret), (known): Awaitable<MatchCaller | undefined> =>
        known ? enrollerOf(secret) : authenticate(request, connection),
      )
    }
    return whenKnown(service.isServerSecret(secret), (known): Awaitable<MatchCaller | undefined> =>
      known ? serverOf(secret) : authenticate(request, connection),
    )
  }
  // A server's token is signed, so guessing it is hopeless and need not be counted.
  const isSigned = (request: Request) =>
    (SERVER_PATHS.test(request.url) && SECRET.test(bearerToken(request) ?? '')) ||
    authenticate.isSigned?.(request) === true
  return Object.assign(identify, { recall: authenticate.recall, isSigned })
}

export const isServer = ({ serverSecret, enrolmentKey }: MatchCaller): boolean =>
  serverSecret !== undefined || enrolmentKey !== undefined

/**
 * Returns the key by which requests and waits of a caller are counted. Players may choose their ids, so these get a
 * prefix of their own. Otherwise a player named like a network or a key could use up its limit.
 */
export const countedBy = (caller: MatchCaller): string =>
  isServer(caller) || caller.shared !== undefined ? caller.id : `player ${caller.id}`

/**
 * Returns the caller for a server's secret. The caller's id is used to count requests, so it does not contain the
 * secret.
 */
const serverOf = (secret: string): MatchCaller => {
  const id = createHash('sha256').update(secret).digest('base64url').slice(0, 22)
  return { id: `server ${id}`, serverSecret: secret }
}

/**
 * Returns the caller for an enrolment key. All processes with the same key are one caller, so they share its request
 * limit.
 */
const enrollerOf = (key: string): MatchCaller => ({
  id: `enrolment ${createHash('sha256').update(key).digest('hex').slice(0, 8)}`,
  enrolmentKey: key,
})

/** Routes that need no token and no other process. */
export const ofThisProcess = routesFor('anyone', [])
export const byAnyone = routesFor('anyone', [503])
export const byPlayers = routesFor('players', [503])
export const byOwnToken = routesFor('players with a token of their own', [403, 503])
export const byMatchServers = routesFor('backends and the server of the match', [403, 503])
export const byGameServers = routesFor('game servers only', [403, 503])
export const byBackends = routesFor('backends', [403, 503])

/**
 * Who may call a route that needs a token. Backends may call all routes except those for game servers only. Servers may
 * call those routes and, for their own match, the routes of `backends and the server of the match`. Players of a shared
 * token may call routes that need an unguessable id.
 */
export type Audience =
  | 'players'
  | 'players with a token of their own'
  | 'backends and the server of the match'
  | 'game servers only'
  | 'backends'

/** Checks that a caller may call the routes of an audience. @throws {Problem} 403 */
export function assertMayCall(audience: Audience, caller: MatchCaller): void {
  const isForServers = audience === 'backends and the server of the match' || audience === 'game servers only'
  if (isServer(caller)) {
    if (isForServers) return
    throw new Problem(403, 'own-match-only', 'The secret of a match is valid for that match only.')
  }
  if (audience === 'game servers only')
    throw new Problem(403, 'servers-only', 'This path is for game servers, which send MUSTER_SERVER_TOKEN.')
  if (caller.shared !== undefined && audience === 'players with a token of their own')
    throw new Problem(403, 'shared-token', 'Players who share a token may not do this: it needs a token of their own.')
  if ((isForServers || audience === 'backends') && !isBackend(caller))
    throw new Problem(403, 'backend-only', 'Only a trusted backend may do this.')
}

/** Checks that a server calls for its own match. @throws {Problem} 403; a promise rejects with it */
export function assertOwnMatch(
  matchId: string,
  { serverSecret }: Pick<MatchCaller, 'serverSecret'>,
  service: Pick<TicketService, 'isSecretOf'>,
): Awaitable<void> {
  if (serverSecret === undefined) return undefined
  return whenKnown(service.isSecretOf(matchId, serverSecret), (isOwn) => {
    if (!isOwn) throw notTheServer()
  })
}
