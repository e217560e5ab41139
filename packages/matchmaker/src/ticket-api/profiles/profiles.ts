import { scrub } from '@muster/core'
import type { Clock } from '@muster/core/clock'
import { Problem } from '@muster/core/http'
import { growingTo } from '@muster/core/runtime'
import { validate } from '@muster/core/validation'
import { LRUCache } from 'lru-cache'
import { createBatches } from './batches.js'
import { profileSchema, type PlayerProfile, type ProfileOptions, type ProfileResolver } from './profile.js'

/**
 * Finds the profile of a player; it returns no promise if the profile is in the cache.
 * @throws {Problem} 503 if the profile cannot be found now; a promise rejects with it.
 */
export type Profiles = (playerId: string) => PlayerProfile | Promise<PlayerProfile>

const UNKNOWN: PlayerProfile = Object.freeze({})
/** Stands for a profile that is wrong. */
const UNUSABLE = Symbol('a profile that is wrong')

/**
 * Creates the cached, batched lookup of profiles.
 * @param onError is told of each call that failed.
 */
export function createProfiles(
  given: ProfileResolver | ProfileOptions,
  clock: Clock,
  onError: (error: unknown) => void,
): Profiles {
  const options = typeof given === 'function' ? { resolve: given } : given
  const {
    resolve,
    cacheMs = 60_000,
    cacheSize = 100_000,
    timeoutMs = 2000,
    batchSize = 500,
    whenFailed = 'refuse',
  } = options
  const perf = { now: () => clock.now() }
  const known =
    cacheMs === 0
      ? undefined
      : new LRUCache<string, PlayerProfile>({ ...growingTo(cacheSize), ttl: cacheMs, ttlResolution: 0, perf })

  const report = (error: unknown) => onError(new Error(`profile failed: ${messageOf(error)}`))
  const batched = createBatches({
    ask: async (ids, signal) => checked(await resolve(ids, signal), report),
    most: batchSize,
    timeoutMs,
    clock,
    onError: report,
  })

  const failed = (): PlayerProfile => {
    if (whenFailed !== 'refuse') return whenFailed
    throw new Problem(503, 'profile-unavailable', 'it cannot be found out now what is known of the player: try again', {
      retryAfterMs: 1000,
    })
  }
  return (playerId) => {
    const cached = known?.get(playerId)
    if (cached !== undefined) return cached
    return batched(playerId).then((found) => {
      if (found === UNUSABLE) return failed()
      // Missing profiles are not cached: they may exist in a moment.
      if (found !== undefined) known?.set(playerId, found)
      return found ?? UNKNOWN
    }, failed)
  }
}

/**
 * The profiles of an answer, checked one by one: a player whose profile is wrong keeps nobody else waiting.
 * @param report is told of the first wrong entry by its place in the answer; neither player nor profile is named.
 * @throws {Error} if the answer is no Map
 */
function checked(
  answer: ReadonlyMap<string, PlayerProfile>,
  report: (error: Error) => void,
): ReadonlyMap<string, PlayerProfile | typeof UNUSABLE> {
  if (!(answer instanceof Map)) throw new Error('the answer must be a Map, of profiles by the ids of the players')
  const profiles = new Map<string, PlayerProfile | typeof UNUSABLE>()
  let firstWrong: string | undefined
  for (const [id, profile] of answer as ReadonlyMap<unknown, unknown>) {
    const { success, data, fault } = validate(profileSchema, profile)
    if (!success) {
      const where = fault.field === undefined ? '' : `${fault.field}: `
      firstWrong ??= `entry ${profiles.size} of the answer: ${where}${fault.wrong}`
    }
    profiles.set(String(id), success ? data : UNUSABLE)
  }
  if (firstWrong !== undefined) report(new Error(firstWrong))
  return profiles
}

const messageOf = (error: unknown) => scrub(error instanceof Error ? error.message : String(error))
