// pure: the rate limit of status reads, and which deployment or page of the list is read next
import type { DeployTimes } from './deploy-times.js'

/** Creates a token bucket with `perSecond` tokens a second. It holds the tokens of a quarter of a second. */
export function createAllowance(perSecond: number, start: number) {
  const most = Math.max(1, perSecond / 4)
  let tokens = most
  let filledAt = start
  const left = (now: number) => {
    tokens = Math.min(most, tokens + ((now - filledAt) / 1000) * perSecond)
    filledAt = now
    return tokens
  }
  return {
    /**
     * Returns the number of tokens that are left.
     * @param now epoch milliseconds, never less than in an earlier call
     */
    left,
    /** Takes a token, even if none is left. */
    use: (now: number) => {
      tokens = left(now) - 1
    },
    /** True if at least half of the tokens are left. Reads that can wait require that. */
    isAmple: (now: number) => left(now) >= most / 2,
  }
}

/** A deployment whose status Muster follows until it has ended. Times are epoch milliseconds. */
export type Watched = ReturnType<typeof newWatched>

/** @param kind application version: deployments of the same kind take about the same time until READY */
export const newWatched = (requestId: string, kind: string, now: number) => ({
  requestId,
  kind,
  /** When the deployment was followed first, which is about when it was created. */
  since: now,
  /** `starting` until the deployment is READY, then `running`. */
  phase: 'starting' as 'starting' | 'running',
  /** When the deployment was last seen not READY. */
  seenAt: now,
  /** When the last read of the status ended, even with an error. */
  readAt: 0,
  /** When a list last contained the deployment. */
  listedAt: 0,
  /** When the list request in flight that will show the deployment was sent. 0 if there is none. */
  coveredAt: 0,
  reading: false,
  /** True if the deployment has probably changed: by a webhook, or because the list no longer contains it. */
  suspect: false,
  /** True if a read of the whole list has shown others but not this running one, and no later list has. */
  isUnlisted: false,
  unreadable: false,
})

/** Typical milliseconds of a request. A deployment that becomes READY meanwhile is seen too. */
const LOOK_MS = 50
/** Probability that a starting deployment with a hint (e.g. a webhook) is READY. */
const CHANCE_OF_SUSPECT = 0.95
/** Milliseconds after which a deployment with a hint takes precedence over newer ones. */
const PATIENCE_MS = 200
/** Minimum number of milliseconds between two reads of one deployment. */
const READ_GAP_MS = { starting: 200, running: 1000 }
/**
 * Milliseconds without a status read of a starting deployment that weigh as much as 1 ms of players' waiting. Lists do
 * not show errors, so the status must be read now and then.
 */
const UNREAD_PER_MS = 200
/** Minimum worth of a request, in milliseconds of players' waiting that it is expected to save. */
const LEAST_WORTH = { read: 25, page: 25 }

/** Returns the worth of seeing a deployment: the probability that it is READY × the milliseconds since last seen. */
export function seeingWorth(one: Watched, now: number, times: DeployTimes): number {
  if (one.phase === 'running') return 0
  if (one.suspect && one.coveredAt === 0) {
    const unseen = LOOK_MS + now - one.seenAt
    return CHANCE_OF_SUSPECT * unseen * (1 + unseen / PATIENCE_MS)
  }
  const unseenSince = Math.max(one.seenAt, one.coveredAt)
  return times.chance(one.kind, unseenSince - one.since, now + LOOK_MS - one.since) * (LOOK_MS + now - unseenSince)
}

/** Returns the worth of reading a status, which also shows errors and the end. 0 if it must not be read now. */
export function readingWorth(one: Watched, now: number, times: DeployTimes): number {
  const { phase, reading, suspect, readAt } = one
  const unread = now - readAt
  if (reading || unread < READ_GAP_MS[phase]) return 0
  if (phase === 'running') return suspect ? unread / 10 : 0
  const worth = seeingWorth(one, now, times) + (now - Math.max(readAt, one.since)) / UNREAD_PER_MS
  return worth < LEAST_WORTH.read ? 0 : worth
}

/** Returns the deployments whose status is most worth reading, at most `most` of them. */
export function mostWorthReading(watched: Iterable<Watched>, now: number, times: DeployTimes, most: number): Watched[] {
  if (most < 1) return []
  return Array.from(watched, (one) => ({ one, worth: readingWorth(one, now, times) }))
    .filter(({ worth }) => worth > 0)
    .toSorted((a, b) => b.worth - a.worth)
    .slice(0, most)
    .map(({ one }) => one)
}

/**
 * Returns the number, from 1, of the list's page that is most worth reading. Undefined if none is worth it.
 * @param newestFirst the followed deployments in the order of the list, up to the last one that is starting
 */
export function mostWorthListing(
  newestFirst: readonly Watched[],
  now: number,
  times: DeployTimes,
  perPage: number,
): number | undefined {
  let best: { readonly page: number; readonly worth: number } = { page: 0, worth: LEAST_WORTH.page }
  for (let start = 0; start < newestFirst.length; start += perPage) {
    let worth = 0
    for (let index = start; index < Math.min(start + perPage, newestFirst.length); index++) {
      worth += seeingWorth(newestFirst[index] as Watched, now, times)
    }
    if (worth > best.worth) best = { page: start / perPage + 1, worth }
  }
  return best.page === 0 ? undefined : best.page
}
