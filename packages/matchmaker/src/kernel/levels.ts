// pure: how far a ticket has relaxed
import { SINCE, UNTIL, type Columns } from './columns.js'
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
  const { stride } = columns
  let now = -Infinity

  const renewed = (slot: Slot): number => {
    const since = columns.rows[slot * stride + SINCE] as number
    const waited = now - since
    const current = levelAt(levels, waited)
    const next = levels[current + 1] ?? Infinity
    columns.level[slot] = current
    columns.rows[slot * stride + UNTIL] = Math.min(since + (waited < fillForMs ? Math.min(next, fillForMs) : next), now + askAgainMs)
    return current
  }

  return {
    get now() {
      return now
    },
    renew: (to) => {
      now = Math.max(now, to)
    },
    of: (slot) => (now < (columns.rows[slot * stride + UNTIL] as number) ? (columns.level[slot] as number) : renewed(slot)),
    due: (slot) => now >= (columns.rows[slot * stride + UNTIL] as number),
  }
}
