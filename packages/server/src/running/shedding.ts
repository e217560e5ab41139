// pure: which requests are refused while answers come late

/** In the order in which they are refused: what begins something, what changes it, and what reads or ends it. */
export const URGENCIES = ['begin', 'change', 'keep'] as const
export type Urgency = (typeof URGENCIES)[number]

export interface SheddingOptions {
  /** Milliseconds by which an answer may be late in the worst case. */
  readonly delayMs: number
}

/** Decides which requests are refused, from how late the process is. */
export interface Shedding {
  /** Notes how late the process is at an instant. Both in milliseconds. */
  note(delayMs: number, now: number): void
  /**
   * Whether a request is refused.
   * @param lateMs how late the process is at this request.
   */
  refuses(urgency: Urgency, lateMs: number): boolean
  /** From 0, nothing is refused, to 3, everything is. */
  level(): number
}

/** The part of the delay that is taken for granted (our choice). */
export const CALM_PART = 1 / 4
/** A request that begins something is refused beyond this part of the delay, others beyond twice and four times it. */
const LATE_PART = 1 / 2
/** A delay counts once it has lasted this long: no single pause does. */
const STANDING_MS = 500
/** Levels per second by which refusing grows at twice the calm delay, and shrinks without any delay (our choice). */
const RISE_PER_S = 1
const FALL_PER_S = 0.5
/** A process that slept for long, as a laptop does, says nothing about its load (our choice). */
const LONGEST_STEP_MS = 1000

/**
 * Refuses no more than is needed: a share of the requests of one urgency, then all of them and a share of the next. The
 * share grows while the process is late for more than a moment, and shrinks when it no longer is. A request that comes
 * when the process is very late already is refused whatever the share.
 */
export function createShedding({ delayMs }: SheddingOptions): Shedding {
  const calmMs = delayMs * CALM_PART
  let level = 0
  let notedAt: number | undefined
  /** Delays of the last moments: what none of them is below has lasted. */
  let recent: { readonly at: number; readonly delay: number }[] = []
  const owed = new Map<Urgency, number>()

  return {
    note: (delay, now) => {
      const seconds = Math.min(LONGEST_STEP_MS, Math.max(0, now - (notedAt ?? now))) / 1000
      notedAt = now
      // The last one before the window still counts.
      const from = recent.findLastIndex(({ at }) => at <= now - STANDING_MS)
      recent = [...recent.slice(Math.max(0, from)), { at: now, delay }]
      const hasLasted = (recent[0] as { at: number }).at <= now - STANDING_MS
      const standing = hasLasted ? Math.min(...recent.map((one) => one.delay)) : 0
      const excess = Math.min(1, standing / calmMs - 1)
      const change = excess * (excess > 0 ? RISE_PER_S : FALL_PER_S)
      level = Math.min(URGENCIES.length, Math.max(0, level + change * seconds))
    },
    refuses: (urgency, lateMs) => {
      const rank = URGENCIES.indexOf(urgency)
      if (lateMs > delayMs * LATE_PART * 2 ** rank) return true
      const share = Math.min(1, Math.max(0, level - rank))
      if (share === 0) return false
      const due = (owed.get(urgency) ?? 0) + share
      const isRefused = due >= 1
      owed.set(urgency, isRefused ? due - 1 : due)
      return isRefused
    },
    level: () => level,
  }
}
