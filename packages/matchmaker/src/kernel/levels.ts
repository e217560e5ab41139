// pure: the relaxation level of each ticket
import { copied, SINCE, UNTIL, type Columns } from './columns.js'
import type { Model, Slot } from './model.js'
import type { Mutable } from './mutable.js'

/**
 * The level of each ticket, cached until it changes. Call `renew` with the time before reading levels; time never goes
 * back.
 */
export interface Levels {
  readonly now: number
  renew(now: number): void
  of(slot: Slot): number
  /**
   * What has changed for a ticket since the last call for it, or since its level was first read. Calls of `of` in
   * between lose no news.
   */
  news(slot: Slot): News
}

/** Kinds of news, the weightier with the greater number. */
export type News = typeof NOTHING | typeof TIME | typeof RELAXED
export const NOTHING = 0
/** The ticket has waited on, so an average or a timed check may decide differently now. */
export const TIME = 1
/** The ticket's level has changed, or the smallest match it accepts. */
export const RELAXED = 2

/** The level after `waitedMs` milliseconds of waiting. */
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

/** Milliseconds of waiting after which a ticket has `TIME` news. */
const ASK_AGAIN_MS = 1000

export function createLevels(model: Model<never>, columns: Columns): Levels {
  const { levels, fillForMs, checks } = model
  const averages = [model.radius, ...model.spans].some((rule) => rule?.by === 'average')
  const askAgainMs = averages || checks?.timed === true ? ASK_AGAIN_MS : Infinity
  const { stride } = columns
  /** For each slot the `News` that `news` has not returned yet. */
  let unread = new Uint8Array(0)

  const keep = (slot: Slot, news: News) => {
    if (slot >= unread.length) unread = copied(new Uint8Array(columns.level.length), unread)
    unread[slot] = news
  }

  const renewed = (slot: Slot): number => {
    const { rows } = columns
    const since = rows[slot * stride + SINCE] as number
    const until = rows[slot * stride + UNTIL] as number
    const waited = state.now - since
    const level = levelAt(levels, waited)
    const next = levels[level + 1] ?? Infinity
    const isFirst = until === -Infinity
    // While the ticket waited for full matches, `until` was at most `since + fillForMs`.
    const hasRelaxed = level !== columns.level[slot] || (waited >= fillForMs && until <= since + fillForMs)
    if (isFirst) keep(slot, NOTHING)
    else if (hasRelaxed) keep(slot, RELAXED)
    else if (unread[slot] === NOTHING) keep(slot, TIME)
    columns.level[slot] = level
    rows[slot * stride + UNTIL] = Math.min(
      since + (waited < fillForMs ? Math.min(next, fillForMs) : next),
      state.now + askAgainMs,
    )
    return level
  }
  const due = (slot: Slot) => state.now >= (columns.rows[slot * stride + UNTIL] as number)

  const state: Mutable<Levels> = {
    now: -Infinity,
    renew: (to) => {
      state.now = Math.max(state.now, to)
    },
    of: (slot) => (due(slot) ? renewed(slot) : (columns.level[slot] as number)),
    news: (slot) => {
      if (due(slot)) renewed(slot)
      const news = unread[slot] as News
      if (news !== NOTHING) unread[slot] = NOTHING
      return news
    },
  }
  return state
}
