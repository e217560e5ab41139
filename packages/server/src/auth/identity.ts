// pure: who calls, and what they may do
import { permissionsOf, type Role as ConsoleRole } from '@muster/console/wire'
import type { PlayerProfile } from '@muster/matchmaker'

/**
 * What a caller may do: a `player` plays, a `backend` acts for any player, and the others use the console, each as
 * `permissionsOf` says.
 */
export type Role = 'player' | 'backend' | ConsoleRole

/** Roles of the console. */
export const consoleRoles = Object.keys(permissionsOf) as readonly ConsoleRole[]

export const roles: readonly Role[] = ['player', 'backend', ...consoleRoles]

/** Whom a token belongs to. */
export interface Identity {
  /** The player's id, or the name of the key. */
  readonly id: string
  readonly roles: readonly Role[]
  /** What the token says of the player. It is trusted. */
  readonly profile?: PlayerProfile | undefined
}

/** Finds whom a token belongs to; undefined for a token that nobody gave out. */
export type Identify = (token: string) => Identity | undefined | Promise<Identity | undefined>

/** Tokens that are signed, and remembered once they were verified. */
export interface SignedTokens {
  readonly identify: Identify
  /** Whom a token belongs to that was verified before. */
  readonly recall: (token: string) => Identity | undefined
  /** Whether a token looks like one of these. */
  readonly isOne: (token: string) => boolean
}
