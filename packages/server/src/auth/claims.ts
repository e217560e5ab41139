// pure: a token's claims are read as a player's id, role and attributes
import { Problem } from '@muster/core/http'
import type { PlayerProfile } from '@muster/matchmaker'
import { roles, type Identity, type Role } from './identity.js'

/** Names of claims. A name is looked for as it is, and then as a path: `app.player.mmr`. */
export interface ClaimNames {
  /** The player's id: a text, or a whole number. */
  readonly id: string
  /** The caller's role. Default: every caller is a player. */
  readonly role?: string | undefined
  /** The claim of each attribute, by the attribute's name. */
  readonly attributes?: Readonly<Record<string, string>> | undefined
  /** Roles that the player may play in a match. */
  readonly playRoles?: string | undefined
}

type Claims = Readonly<Record<string, unknown>>

/** Characters of a player's id, at most; the matchmaker's own bound. */
const LONGEST_ID = 128

/**
 * Reads the claims of a token whose signature is right.
 * @throws {Problem} 403 naming the claim, and never its value
 */
export function readClaims(claims: Claims, names: ClaimNames): Identity {
  const id = readId(claims, names.id)
  const role = readRole(claims, names.role)
  return role === 'player' ? { id, roles: [role], profile: readProfile(claims, names) } : { id, roles: [role] }
}

function readId(claims: Claims, name: string): string {
  const value = claimOf(claims, name)
  const id = Number.isSafeInteger(value) ? String(value) : value
  if (typeof id === 'string' && id !== '' && id.length <= LONGEST_ID) return id
  throw unfit(name, `must be a text of 1 to ${LONGEST_ID} characters, or a whole number`)
}

function readRole(claims: Claims, name: string | undefined): Role {
  const value = name === undefined ? undefined : claimOf(claims, name)
  if (value === undefined || value === null) return 'player'
  const role = roles.find((known) => known === value)
  if (role === undefined) throw unfit(name as string, `must be one of ${roles.join(', ')}`)
  return role
}

function readProfile(claims: Claims, names: ClaimNames): PlayerProfile | undefined {
  const attributes = readAttributes(claims, names.attributes ?? {})
  const playRoles = names.playRoles === undefined ? undefined : claimOf(claims, names.playRoles)
  if (playRoles !== undefined && playRoles !== null && !isTexts(playRoles))
    throw unfit(names.playRoles as string, 'must be a list of texts')
  if (attributes === undefined && !isTexts(playRoles)) return undefined
  return { ...(attributes && { attributes }), ...(isTexts(playRoles) && { roles: playRoles }) }
}

function readAttributes(claims: Claims, names: Readonly<Record<string, string>>): PlayerProfile['attributes'] {
  const entries: [string, number | string | readonly string[]][] = []
  for (const [attribute, name] of Object.entries(names)) {
    const value = claimOf(claims, name)
    if (value === undefined || value === null) continue
    if (!isAttribute(value)) throw unfit(name, 'must be a number, a text or a list of texts')
    entries.push([attribute, value])
  }
  return entries.length === 0 ? undefined : Object.fromEntries(entries)
}

/** Own members only, so that `constructor` is no claim. */
function claimOf(claims: Claims, name: string): unknown {
  if (Object.hasOwn(claims, name)) return claims[name]
  let value: unknown = claims
  for (const part of name.split('.')) {
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, part)) return undefined
    value = (value as Claims)[part]
  }
  return value
}

const isTexts = (value: unknown): value is readonly string[] =>
  Array.isArray(value) && value.every((item) => typeof item === 'string')
const isAttribute = (value: unknown): value is number | string | readonly string[] =>
  Number.isFinite(value) || typeof value === 'string' || isTexts(value)

const unfit = (name: string, message: string) =>
  new Problem(403, 'unfit-token', `the claim ${name} of the token ${message}`)
