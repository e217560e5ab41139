// pure: known facts about a player override what the player states
import type { Player } from '@muster/servers'
import type { PlayerProfile } from './profiles/profile.js'

/**
 * The player with all known facts applied.
 * @param profile the profile found for the player.
 * @param claims the profile from the player's token; it overrides `profile`.
 */
export function withKnown(
  stated: Player,
  profile: PlayerProfile | undefined,
  claims: PlayerProfile | undefined,
): Player {
  if (profile === undefined && claims === undefined) return stated
  return {
    ...stated,
    attributes: { ...stated.attributes, ...profile?.attributes, ...claims?.attributes },
    roles: claims?.roles ?? profile?.roles ?? stated.roles,
    avoid: together(stated.avoid, profile?.avoid, claims?.avoid),
  }
}

const NOBODY: readonly string[] = Object.freeze([])

const together = (...lists: readonly (readonly string[] | undefined)[]): readonly string[] =>
  lists.every((list) => list === undefined) ? NOBODY : [...new Set(lists.flatMap((list) => list ?? []))]
