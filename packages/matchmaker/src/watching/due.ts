// pure: whose status to read next

/** A deployment that is followed. Times are epoch milliseconds. */
export interface Watched {
  readonly requestId: string
  /** Since when. */
  readonly since: number
  /** Until it is READY; then `running`. */
  phase: 'starting' | 'running'
  /** When its status was last read, successfully or not. */
  readAt: number
  /** When a list last showed it. */
  listedAt: number
  /** Whether its status is being read now. */
  reading: boolean
  /** Whether something suggests that it has changed: a webhook, or that it has left the list. */
  suspect: boolean
  /** Whether the last read failed. */
  unreadable: boolean
}

/** Milliseconds for which a list tells that it is not READY; only a status tells of an error. */
const LIST_COUNTS_MS = 3000
/** Milliseconds between two reads of one deployment at least. */
const GAP_MS = { unlisted: 200, listed: 1000, suspect: 1000 }

/**
 * How much a status read of this deployment would tell now, 0 for nothing: for one that starts, the time
 * since the last read, and less while lists show it; one that runs is read on suspicion only.
 */
export function readingWorth({ phase, reading, suspect, readAt, listedAt }: Watched, now: number): number {
  if (reading) return 0
  const unread = now - readAt
  if (suspect) return unread >= GAP_MS.suspect ? 10 * unread : 0
  if (phase === 'running') return 0
  const listed = now - listedAt < LIST_COUNTS_MS
  if (unread < (listed ? GAP_MS.listed : GAP_MS.unlisted)) return 0
  return listed ? unread / 5 : unread
}

/** Those most worth reading, at most so many. */
export function mostWorthReading(watched: Iterable<Watched>, now: number, most: number): Watched[] {
  if (most <= 0) return []
  return Array.from(watched, (one) => ({ one, worth: readingWorth(one, now) }))
    .filter(({ worth }) => worth > 0)
    .toSorted((a, b) => b.worth - a.worth)
    .slice(0, most)
    .map(({ one }) => one)
}
