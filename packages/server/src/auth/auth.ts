import { createHash, timingSafeEqual } from 'node:crypto'
import type { Role as ConsoleRole } from '@muster/console/internal'
import { type Authenticate, bearerToken, type Caller, Problem } from '@muster/core/http'
import type { TicketCaller } from '@muster/matchmaker'
import type { LobbyCaller } from '@muster/relay'
import type { Config } from '../config/index.js'
import { consoleRoles, type Identify, type Identity, type Role } from './identity.js'
import { createJwt, type JwtDeps, type JwtOptions } from './jwt.js'

/**
 * An entry of `auth.keys` whose key is a plain string. To rotate a key, an operator adds the new one under another
 * name.
 */
type ApiKey = Omit<Config['auth']['keys'][number], 'key'> & { readonly key: string }

/** Creates the check of API keys. It stores only digests of the keys, and compares each of them in constant time. */
function createApiKeys(keys: readonly ApiKey[]): Identify {
  const known = keys.map(({ name, role, key }) => ({
    digest: sha256(key),
    identity: Object.freeze<Identity>({ id: name, roles: [role] }),
  }))
  return (token) => {
    if (known.length === 0) return undefined
    const digest = sha256(token)
    let found: Identity | undefined
    // All digests are compared, so that the time does not reveal which one matched.
    for (const key of known) if (timingSafeEqual(key.digest, digest)) found = key.identity
    return found
  }
}

/** The section `auth.shared` as plain strings: `token` is the token that many players send. */
interface SharedToken {
  readonly token: string
  readonly key: string
}

function createSharedToken({ token, key }: SharedToken): Identify {
  const secret = sha256(token)
  const identity = Object.freeze<Identity>({ id: 'shared', roles: ['player'], sharedKey: key })
  return (given) => (timingSafeEqual(sha256(given), secret) ? identity : undefined)
}

/**
 * Creates the check of the only token of `muster dev`. The token alone identifies a backend that may also operate the
 * console. `TOKEN:ann` identifies the player `ann`.
 */
function createDevToken(token: string): Identify {
  const secret = sha256(token)
  return (given) => {
    const colon = given.indexOf(':')
    const [first, player] = colon === -1 ? [given, ''] : [given.slice(0, colon), given.slice(colon + 1)]
    if (!timingSafeEqual(sha256(first), secret)) return undefined
    if (colon === -1) return { id: 'dev', roles: ['backend', 'deploy'] }
    return player === '' ? undefined : { id: player, roles: ['player'] }
  }
}

const sha256 = (text: string) => createHash('sha256').update(text).digest()

export interface AuthOptions {
  readonly jwt?: JwtOptions | undefined
  readonly keys?: readonly ApiKey[] | undefined
  readonly shared?: SharedToken | undefined
  /** A token with all permissions; only in `muster dev`. */
  readonly devToken?: string | undefined
}

/** A caller who operates the console, with the name that the log shows. */
export interface Operator {
  readonly who: string
  readonly role: ConsoleRole
}

/**
 * Creates the checks that identify the callers of the program's APIs.
 * @param signed an earlier check of the same `jwt`, with the keys and tokens that it knows. Default: a new one.
 * @throws like `createJwt`
 */
export function createAuth(
  { jwt, keys = [], shared, devToken }: AuthOptions,
  deps: JwtDeps,
  signed = jwt && createJwt(jwt, deps),
) {
  const ways: readonly Identify[] = [
    ...(devToken === undefined ? [] : [createDevToken(devToken)]),
    createApiKeys(keys),
    ...(shared === undefined ? [] : [createSharedToken(shared)]),
    ...(signed === undefined ? [] : [signed.identify]),
  ]

  /**
   * Identifies the caller; undefined for an unknown one. Returns a promise only if necessary, because every request
   * calls this function.
   */
  const identify = (request: Request): Identity | undefined | Promise<Identity | undefined> => {
    const token = bearerToken(request)
    if (token === undefined) return undefined
    for (const way of ways) {
      const identity = way(token)
      if (identity !== undefined) return identity
    }
    if (signed?.isOne(token) !== true) deps.onRefused?.('neither a key of auth.keys nor a JWT')
    return undefined
  }
  /** Creates the `authenticate` of an API. `callerOf` decides which identities the API accepts. */
  const authenticate = <Who extends Caller>(callerOf: (identity?: Identity) => Who | undefined): Authenticate<Who> =>
    Object.assign((request: Request) => then(identify(request), callerOf), {
      recall: (request: Request) => callerOf(signed?.recall(bearerToken(request) ?? '')),
      isSigned: (request: Request) => signed?.isOne(bearerToken(request) ?? '') === true,
    })

  return {
    /** The check of signed tokens; undefined without `jwt`. */
    signed,
    /** For the ticket API: players and backends. */
    tickets: authenticate(ticketCaller),
    /** For the lobby API: players. */
    lobbies: authenticate(lobbyCaller),
    /**
     * Identifies an operator of the console. Undefined for an unknown token, and for a token whose role cannot use the
     * console.
     */
    operatorOf: async (request: Request): Promise<Operator | undefined> => operatorOf(await identify(request)),
  }
}

const then = <T>(found: Identity | undefined | Promise<Identity | undefined>, next: (identity?: Identity) => T) =>
  found instanceof Promise ? found.then(next) : next(found)

function ticketCaller(identity?: Identity): TicketCaller | undefined {
  if (identity === undefined) return undefined
  const { id, profile, sharedKey } = identity
  if (may(identity, 'backend')) return { id, role: 'backend' }
  if (sharedKey !== undefined) return { id, sharedKey }
  if (may(identity, 'player')) return profile === undefined ? { id } : { id, profile }
  throw wrongRole('players and backends')
}

function lobbyCaller(identity?: Identity): LobbyCaller | undefined {
  if (identity === undefined) return undefined
  if (identity.sharedKey !== undefined) throw new Problem(403, 'shared-token', 'Lobbies need a token of one player.')
  if (may(identity, 'player')) return { id: identity.id }
  throw wrongRole('players')
}

function operatorOf(identity?: Identity): Operator | undefined {
  if (identity === undefined) return undefined
  const role = consoleRoles.find((wanted) => may(identity, wanted))
  return role && { who: identity.id, role }
}

const may = (identity: Identity, role: Role) => identity.roles.includes(role)

const wrongRole = (who: string) => new Problem(403, 'wrong-role', `This is for ${who}; the token has another role.`)
