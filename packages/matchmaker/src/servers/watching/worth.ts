// pure: where to look next
import type { DeployTimes } from './deploy-times.js'

/** A deployment that is followed. Times are epoch milliseconds. */
export interface Watched {
  readonly requestId: string
  /** Those of one kind take about as long as one another. */
  readonly kind: string
  /** Since when it is followed, which is about since its create. */
  readonly since: number
  /** Until it is READY; then `running`. */
  phase: 'starting' | 'running'
  /** When it was last seen not to be READY. */
  seenAt: number
  /** When its status was last read, successfully or not. */
  readAt: number
  /** When a list last showed it. */
  listedAt: number
  /** Since when a list is under way that should show it; 0 for none. */
  coveredAt: number
  /** Whether its status is being read now. */
  reading: boolean
  /** Whether something suggests that it has changed: a webhook, or that it has left the list. */
  suspect: boolean
  /** Whether the last read failed. */
  unreadable: boolean
}

export const newWatched = (requestId: string, kind: string, now: number): Watched => ({
  requestId,
  kind,
  since: now,
  phase: 'starting',
  seenAt: now,
  readAt: 0,
  listedAt: 0,
  coveredAt: 0,
  reading: false,
  suspect: false,
  unreadable: false,
})

/** Milliseconds that a look takes about: what becomes READY in the meantime is seen too. */
const LOOK_MS = 50
/** A webhook that says so is nearly always right. */
const CHANCE_OF_SUSPECT = 0.95
/** There may be more of these than can be read: those who wait much longer than this come before several others. */
const PATIENCE_MS = 200
/** Milliseconds between two reads of one deployment at least. */
const READ_GAP_MS = { starting: 200, running: 1000 }
/** A list does not tell of errors: a status unread for so many milliseconds is worth as much as one of waiting. */
const UNREAD_PER_MS = 200
/** Below this a read is not worth its request: milliseconds of somebody's waiting that it is expected to save. */
const LEAST_WORTH = { read: 25, page: 25 }

/** Milliseconds of waiting that seeing it now should end: the chance of its being READY × how long it was not seen. */
export function seeingWorth(one: Watched, now: number, times: DeployTimes): number {
  if (one.phase === 'running') return 0
  if (one.suspect && one.coveredAt === 0) {
    const unseen = LOOK_MS + now - one.seenAt
    return CHANCE_OF_SUSPECT * unseen * (1 + unseen / PATIENCE_MS)
  }
  const unseenSince = Math.max(one.seenAt, one.coveredAt)
  return times.chance(one.kind, unseenSince - one.since, now + LOOK_MS - one.since) * (LOOK_MS + now - unseenSince)
}

/** The same for a read of its status, which also tells of errors, and of the end of one that runs; 0 for not now. */
export function readingWorth(one: Watched, now: number, times: DeployTimes): number {
  const { phase, reading, suspect, readAt } = one
  const unread = now - readAt
  if (reading || unread < READ_GAP_MS[phase]) return 0
  if (phase === 'running') return suspect ? unread / 10 : 0
  const worth = seeingWorth(one, now, times) + (now - Math.max(readAt, one.since)) / UNREAD_PER_MS
  return worth < LEAST_WORTH.read ? 0 : worth
}

/** Those most worth reading, at most so many. */
export function mostWorthReading(watched: Iterable<Watched>, now: number, times: DeployTimes, most: number): Watched[] {
  if (most < 1) return []
  return Array.from(watched, (one) => ({ one, worth: readingWorth(one, now, times) }))
    .filter(({ worth }) => worth > 0)
    .toSorted((a, b) => b.worth - a.worth)
    .slice(0, most)
    .map(({ one }) => one)
}

/**
 * The number of the page, from 1, most worth listing; undefined if none is.
 * @param newestFirst all that are followed, in the order in which the list should show them.
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
