import { growingTo, messageOf, scrub, validate, within } from '@muster/core/internal'
import type { Clock } from '@muster/core/clock'
import { Problem } from '@muster/core/http'
import type { Attributes } from '@muster/hosting/internal'
import { LRUCache } from 'lru-cache'
import { z } from 'zod'

interface BatchOptions<Found> {
  /** Looks up all ids in one call. The signal is aborted once the answer is no longer needed. */
  readonly ask: (ids: readonly string[], signal: AbortSignal) => Promise<ReadonlyMap<string, Found>>
  /** Maximum number of ids in one call. */
  readonly most: number
  readonly timeoutMs: number
  readonly clock: Clock
  /** Called with the error of each call that failed or took too long. */
  readonly onError: (error: unknown) => void
}

/** Maximum number of concurrent calls. Ids requested meanwhile wait for the next call. */
const MOST_CALLS = 4
/** Maximum number of waiting ids. Further ids are refused immediately, because their answers would take too long. */
const MOST_WAITING = 20_000

interface PendingProfile<Found> {
  readonly resolve: (found: Found | undefined) => void
  readonly reject: (error: unknown) => void
}

/**
 * Combines the ids requested within one turn of the event loop, or while the maximum of calls runs, into one call. A
 * waiting id is not requested twice. The promise rejects if the call fails or takes too long.
 */
function createBatches<Found>(options: BatchOptions<Found>): (id: string) => Promise<Found | undefined> {
  const { ask, most, timeoutMs, clock, onError } = options
  const pending = new Map<string, PendingProfile<Found>>()
  const answers = new Map<string, Promise<Found | undefined>>()
  const gathered: string[] = []
  let calls = 0
  let isDue = false

  const settle = (ids: readonly string[], how: (one: PendingProfile<Found>, id: string) => void) => {
    for (const id of ids) {
      const one = pending.get(id)
      pending.delete(id)
      answers.delete(id)
      if (one !== undefined) how(one, id)
    }
  }
  const call = async (ids: readonly string[]): Promise<void> => {
    const over = new AbortController()
    try {
      const found = await within(ask(ids, over.signal), timeoutMs, clock)
      if (found === undefined) throw new Error(`the backend did not answer within ${timeoutMs} ms`)
      settle(ids, (one, id) => one.resolve(found.get(id)))
    } catch (error) {
      onError(error)
      settle(ids, (one) => one.reject(error))
    } finally {
      over.abort()
    }
  }
  const send = (): void => {
    isDue = false
    while (gathered.length > 0 && calls < MOST_CALLS) {
      calls += 1
      void call(gathered.splice(0, most)).finally(() => {
        calls -= 1
        send()
      })
    }
  }

  return (id) => {
    const before = answers.get(id)
    if (before !== undefined) return before
    if (pending.size >= MOST_WAITING)
      return Promise.reject(new Error(`${MOST_WAITING} players already wait for their profiles, which is the maximum`))
    gathered.push(id)
    if (!isDue) setImmediate(send)
    isDue = true
    const answer = new Promise<Found | undefined>((resolve, reject) => pending.set(id, { resolve, reject }))
    answers.set(id, answer)
    return answer
  }
}

/** Your trusted facts about a player. They override the player's own statements. */
export interface PlayerProfile {
  /** The attributes that the queue's rules compare. */
  readonly attributes?: Attributes | undefined
  /** Roles that the player may play, instead of the stated ones. */
  readonly roles?: readonly string[] | undefined
  /** Ids of players not to be matched with, in addition to the stated ones. */
  readonly avoid?: readonly string[] | undefined
}

/**
 * Finds the profiles of players by their ids. A player missing in the answer has no profile. The signal is aborted once
 * the answer is no longer needed.
 */
export type ProfileResolver = (
  playerIds: readonly string[],
  signal: AbortSignal,
) => ReadonlyMap<string, PlayerProfile> | Promise<ReadonlyMap<string, PlayerProfile>>

export interface ProfileOptions {
  readonly resolve: ProfileResolver
  /** Milliseconds for which a profile is cached. Default 60,000; 0 caches none. */
  readonly cacheMs?: number | undefined
  /** Maximum number of profiles in the cache. Default 100,000. */
  readonly cacheSize?: number | undefined
  /** Milliseconds to wait for the answer. Default 2000. */
  readonly timeoutMs?: number | undefined
  /** Maximum number of players in one call. Default 500. */
  readonly batchSize?: number | undefined
  /**
   * What happens without a usable answer. `refuse` (default): the request is answered with 503. A profile: it is used
   * instead.
   */
  readonly whenFailed?: 'refuse' | PlayerProfile | undefined
}

const texts = z.array(z.string())

/** Checks the shape of a profile. The matchmaker checks its values. */
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

/**
 * Finds the profile of a player. Returns no promise if the profile is cached.
 * @throws {Problem} 503 if the profile cannot be found now; a promise rejects with it.
 */
export type Profiles = (playerId: string) => PlayerProfile | Promise<PlayerProfile>

const UNKNOWN: PlayerProfile = Object.freeze({})
/** Stands for an invalid profile. */
const UNUSABLE = Symbol('a profile that is wrong')

/**
 * Creates the cached, batched lookup of profiles.
 * @param onError receives the error of each failed call.
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

  const report = (error: unknown) => onError(new Error(`reading player profiles failed: ${scrub(messageOf(error))}`))
  const batched = createBatches({
    ask: async (ids, signal) => checked(await resolve(ids, signal), report),
    most: batchSize,
    timeoutMs,
    clock,
    onError: report,
  })

  const failed = (): PlayerProfile => {
    if (whenFailed !== 'refuse') return whenFailed
    throw new Problem(503, 'profile-unavailable', 'The profile of the player is unavailable. Retry later.', {
      retryAfterMs: 1000,
    })
  }
  return (playerId) => {
    const cached = known?.get(playerId)
    if (cached !== undefined) return cached
    return batched(playerId).then((found) => {
      if (found === UNUSABLE) return failed()
      // Missing profiles are not cached, because they may exist a moment later.
      if (found !== undefined) known?.set(playerId, found)
      return found ?? UNKNOWN
    }, failed)
  }
}

/**
 * Checks the profiles of an answer one by one, so that one invalid profile does not fail the others.
 * @param report receives an error with the index of the first invalid entry, but without the player or profile.
 * @throws {Error} if the answer is not a Map
 */
function checked(
  answer: ReadonlyMap<string, PlayerProfile>,
  report: (error: Error) => void,
): ReadonlyMap<string, PlayerProfile | typeof UNUSABLE> {
  if (!(answer instanceof Map)) throw new Error('resolve() must return a Map from player id to profile')
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
