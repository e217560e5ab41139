// pure: what is known of a player, other than by their own word
import { z } from 'zod'
import type { Attributes } from '../../player.js'

/** What you know about a player. It is trusted, and overrides what the player states. */
export interface PlayerProfile {
  /** What the queue's rules look at. */
  readonly attributes?: Attributes | undefined
  /** Roles that the player may play, instead of those that they name. */
  readonly roles?: readonly string[] | undefined
  /** Ids of players not to be matched with, besides those whom they name. */
  readonly avoid?: readonly string[] | undefined
}

/**
 * Finds the profiles of players by their ids. A player missing in the answer has no profile. The signal is aborted when
 * the answer is no longer awaited.
 */
export type ProfileResolver = (
  playerIds: readonly string[],
  signal: AbortSignal,
) => ReadonlyMap<string, PlayerProfile> | Promise<ReadonlyMap<string, PlayerProfile>>

export interface ProfileOptions {
  readonly resolve: ProfileResolver
  /** Milliseconds for which a profile is cached. Default 60,000; 0 caches none. */
  readonly cacheMs?: number | undefined
  /** Most profiles in the cache. Default 100,000. */
  readonly cacheSize?: number | undefined
  /** Milliseconds to wait for the answer. Default 2000. */
  readonly timeoutMs?: number | undefined
  /** Players in one call at most. Default 500. */
  readonly batchSize?: number | undefined
  /** What happens if no usable answer comes: the player gets 503 (default), or counts as having this profile. */
  readonly whenFailed?: 'refuse' | PlayerProfile | undefined
}

const texts = z.array(z.string())

/** The bounds of each are the matchmaker's to check. */
export const profileSchema: z.ZodType<PlayerProfile> = z.strictObject({
  attributes: z
    .record(z.string(), z.union([z.number(), z.string(), texts], 'must be a number, a text or a list of texts'))
    .optional(),
  roles: texts.optional(),
  avoid: texts.optional(),
})
