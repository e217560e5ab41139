import { type Role as ConsoleRole, permissionsOf } from '@muster/console/internal'
import { Problem } from '@muster/core/http'
import { isWellFormed } from '@muster/core/internal'
import type { Attributes, PlayerProfile } from '@muster/matchmaker'
import type { Config } from '../config/index.js'

/**
 * A `player` plays. A `backend` acts for any player. The other roles use the console with the rights in
 * `permissionsOf`.
 */
export type Role = 'player' | 'backend' | ConsoleRole

/** Roles of the console. */
export const consoleRoles = Object.keys(permissionsOf) as readonly ConsoleRole[]

const roles: readonly Role[] = ['player', 'backend', ...consoleRoles]

/** The owner of a token, and what the owner may do. */
export interface Identity {
  /** The player's id, or the name of the key. */
  readonly id: string
  readonly roles: readonly Role[]
  /** The profile in the token. It is trusted, because the token is signed. */
  readonly profile?: PlayerProfile | undefined
  /** The key of a token that many players share: see `TicketCaller.sharedKey`. */
  readonly sharedKey?: string | undefined
}

/** Identifies the owner of a token; undefined for an unknown token. */
export type Identify = (token: string) => Identity | undefined | Promise<Identity | undefined>

type ClaimsSection = NonNullable<Config['auth']['jwt']>['claims']
/**
 * The names of the claims that are read: see the section `auth.jwt.claims`. Without `role`, every caller is a player.
 */
export type ClaimNames = Pick<ClaimsSection, 'id'> & Partial<ClaimsSection>
/** The name of a claim, or the path to a nested one: `['game', 'mmr']`. */
type ClaimName = ClaimsSection['id']

type Claims = Readonly<Record<string, unknown>>

/** Maximum length of a player's id, like the matchmaker's own. */
const LONGEST_ID = 128

/**
 * Reads the claims of a token whose signature is valid.
 * @throws {Problem} 403 naming the claim, and never its value
 */
export function readClaims(claims: Claims, names: ClaimNames): Identity {
  const id = readId(claims, names.id)
  const role = readRole(claims, names.role)
  return role === 'player' ? { id, roles: [role], profile: readProfile(claims, names) } : { id, roles: [role] }
}

function readId(claims: Claims, name: ClaimName): string {
  const value = claimOf(claims, name)
  const id = Number.isSafeInteger(value) ? String(value) : value
  if (typeof id === 'string' && id !== '' && id.length <= LONGEST_ID && isWellFormed(id)) return id
  if (Number.isInteger(value)) throw unfit(name, 'is a number over 2^53, of which JSON loses digits: send it as a text')
  throw unfit(name, `must be a text of 1 to ${LONGEST_ID} characters, or a whole number`)
}

function readRole(claims: Claims, name: ClaimName | undefined): Role {
  const value = claimOf(claims, name)
  if (value === undefined) return 'player'
  const role = roles.find((known) => known === value)
  if (role === undefined) throw unfit(name, `must be one of ${roles.join(', ')}`)
  return role
}

function readProfile(claims: Claims, names: ClaimNames): PlayerProfile | undefined {
  const attributes = readAttributes(claims, names.attributes ?? {})
  const playRoles = readTexts(claims, names.roles)
  const avoid = readTexts(claims, names.avoid)
  if (attributes === undefined && playRoles === undefined && avoid === undefined) return undefined
  return { ...(attributes && { attributes }), ...(playRoles && { roles: playRoles }), ...(avoid && { avoid }) }
}

function readTexts(claims: Claims, name: ClaimName | undefined): readonly string[] | undefined {
  const value = claimOf(claims, name)
  if (value === undefined || isTexts(value)) return value
  throw unfit(name, 'must be a list of texts')
}

function readAttributes(claims: Claims, names: Readonly<Record<string, ClaimName>>): PlayerProfile['attributes'] {
  const entries: [string, Attributes[string]][] = []
  for (const [attribute, name] of Object.entries(names)) {
    const value = claimOf(claims, name)
    if (value === undefined) continue
    if (!isAttribute(value)) throw unfit(name, 'must be a number, a text, true, false or a list of texts')
    entries.push([attribute, value])
  }
  return entries.length === 0 ? undefined : Object.fromEntries(entries)
}

/**
 * Returns a claim; undefined if it is missing or null. Reads own members only, so that `constructor` is not a claim.
 */
function claimOf(claims: Claims, name: ClaimName | undefined): unknown {
  if (name === undefined) return undefined
  let value: unknown = claims
  for (const part of [name].flat()) {
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, part)) return undefined
    value = (value as Claims)[part]
  }
  return value ?? undefined
}

const isTexts = (value: unknown): value is readonly string[] =>
  Array.isArray(value) && value.every((item) => typeof item === 'string')
const isAttribute = (value: unknown): value is Attributes[string] =>
  Number.isFinite(value) || typeof value === 'string' || typeof value === 'boolean' || isTexts(value)

const unfit = (name: ClaimName | undefined, message: string) =>
  new Problem(403, 'unfit-token', `The claim ${[name].flat().join('.')} of the token ${message}.`)
