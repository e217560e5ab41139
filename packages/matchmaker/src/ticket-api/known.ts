// pure: what is known of a player stands over what they say
import type { Player } from '../player.js'
import type { PlayerProfile } from './profiles/profile.js'

/** @param profile found for them. @param claims of their token; where both know something, these count. */
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

const together = (...lists: readonly (readonly string[] | undefined)[]): readonly string[] => [
  ...new Set(lists.flatMap((list) => list ?? [])),
]
