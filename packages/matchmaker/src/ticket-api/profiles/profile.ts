// pure: profiles, which hold what is known of a player from other sources than the player
import { z } from 'zod'
import type { Attributes } from '@muster/servers'

/** What you know about a player. It is trusted, and overrides what the player states. */
export interface PlayerProfile {
  /** The attributes that the queue's rules compare. */
  readonly attributes?: Attributes | undefined
  /** Roles that the player may play, in place of those that the player states. */
  readonly roles?: readonly string[] | undefined
  /** Ids of players not to be matched with, in addition to those that the player states. */
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
  /** Most players in one call. Default 500. */
  readonly batchSize?: number | undefined
  /** What happens without a usable answer: the player gets 503 (`refuse`, the default), or has this profile. */
  readonly whenFailed?: 'refuse' | PlayerProfile | undefined
}

const texts = z.array(z.string())

/** Checks the shape of a profile; the matchmaker checks the bounds of its values. */
export const profileSchema: z.ZodType<PlayerProfile> = z.strictObject({
  attributes: z
    .record(
      z.string(),
      z.union([z.number(), z.string(), z.boolean(), texts], 'must be a number, a text, true, false or a list of texts'),
    )
    .optional(),
  roles: texts.optional(),
  avoid: texts.optional(),
})
