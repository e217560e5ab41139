// pure: how far a ticket has relaxed
import { copied, type Columns } from './columns.js'
import type { Model, Slot } from './model.js'

/**
 * The level of each ticket, kept until it changes. `renew` says the time before anything is asked; it never goes
 * back.
 */
export interface Levels {
  readonly now: number
  renew(now: number): void
  of(slot: Slot): number
  /** Whether its level, or how small a match it takes, has changed since `of` was last asked. */
  due(slot: Slot): boolean
  /** For a slot that was just filled. */
  forget(slot: Slot): void
  readonly bytes: number
}

/** The level after so many milliseconds of waiting. */
export function levelAt(levels: Float64Array, waitedMs: number): number {
  let level = 0
  let above = levels.length
  while (above - level > 1) {
    const middle = (level + above) >> 1
    if (waitedMs >= (levels[middle] as number)) level = middle
    else above = middle
  }
  return level
}

/** What an average or a check says may change by mere waiting. Milliseconds after which it is asked again. */
const ASK_AGAIN_MS = 1000

export function createLevels(model: Model<never>, columns: Columns): Levels {
  const { levels, fillForMs, checks } = model
  const averages = [model.radius, ...model.spans].some((rule) => rule?.by === 'average')
  const askAgainMs = averages || checks?.part !== undefined || checks?.whole !== undefined ? ASK_AGAIN_MS : Infinity
  let level = new Uint8Array(0)
  /** Until when that is its level, and nothing else changes by mere waiting. */
  let until = new Float64Array(0)
  let now = -Infinity

  const renewed = (slot: Slot): number => {
    const since = columns.since[slot] as number
    const waited = now - since
    const current = levelAt(levels, waited)
    const next = levels[current + 1] ?? Infinity
    level[slot] = current
    until[slot] = Math.min(since + (waited < fillForMs ? Math.min(next, fillForMs) : next), now + askAgainMs)
    return current
  }

  return {
    get now() {
      return now
    },
    renew: (to) => {
      now = Math.max(now, to)
    },
    of: (slot) => (now < (until[slot] as number) ? (level[slot] as number) : renewed(slot)),
    due: (slot) => now >= (until[slot] as number),
    forget: (slot) => {
      if (slot >= level.length) {
        level = copied(new Uint8Array(columns.since.length), level)
        until = copied(new Float64Array(columns.since.length), until)
      }
      until[slot] = -Infinity
    },
    get bytes() {
      return 9 * level.length
    },
  }
}
