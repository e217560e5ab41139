import { createHash, timingSafeEqual } from 'node:crypto'
import type { Role as ConsoleRole } from '@muster/console/internal'
import { type Authenticate, bearerToken, type Caller, Problem } from '@muster/core/http'
import type { TicketCaller } from '@muster/matchmaker'
import type { LobbyCaller } from '@muster/relay'
import type { Config } from '../config/index.js'
import { consoleRoles, type Identify, type Identity, type Role } from './identity.js'
import { createJwt, type JwtDeps, type JwtOptions } from './jwt.js'

/** A key of the section `auth.keys`, as a string. While a key is rotated, the new one has a name of its own. */
type ApiKey = Omit<Config['auth']['keys'][number], 'key'> & { readonly key: string }

/** Stores digests only, and compares each of them in constant time. */
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

/** The token that many players share, of the section `auth.shared`, as a string. */
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
 * The only token of `muster dev`: a backend that may operate the console; followed by a colon and an id, that player.
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

/** An operator of the console, as the log names them. */
export interface Operator {
  readonly who: string
  readonly role: ConsoleRole
}

/** Identifies the callers of the program's APIs. @throws like `createJwt` */
export function createAuth(options: AuthOptions, deps: JwtDeps) {
  const { jwt, keys = [], shared, devToken } = options
  const signed = jwt && createJwt(jwt, deps)
  const ways: readonly Identify[] = [
    ...(devToken === undefined ? [] : [createDevToken(devToken)]),
    createApiKeys(keys),
    ...(shared === undefined ? [] : [createSharedToken(shared)]),
    ...(signed === undefined ? [] : [signed.identify]),
  ]

  /** Undefined for an unknown caller. Returns no promise if none is needed, because every request calls it. */
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
  /** Creates the `authenticate` of an API from the check of which callers it accepts. */
  const authenticate = <Who extends Caller>(callerOf: (identity?: Identity) => Who | undefined): Authenticate<Who> =>
    Object.assign((request: Request) => then(identify(request), callerOf), {
      recall: (request: Request) => callerOf(signed?.recall(bearerToken(request) ?? '')),
      isSigned: (request: Request) => signed?.isOne(bearerToken(request) ?? '') === true,
    })

  return {
    /** For the ticket API: players and backends. */
    tickets: authenticate(ticketCaller),
    /** For the lobby API: players. */
    lobbies: authenticate(lobbyCaller),
    /** For the console. Undefined for an unknown token, and for one whose role is not of the console. */
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
