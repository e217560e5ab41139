// pure: the relaxation level of each ticket
import { SINCE, UNTIL, type Columns } from './columns.js'
import { grown } from './growing.js'
import { createHeadStarts } from './head-starts.js'
import { levelAt } from './level-at.js'
import type { Model, Slot } from './model.js'
import type { Mutable } from './mutable.js'

/**
 * The level of each ticket, cached until it changes. Call `renew` with the time before reading levels; time never goes
 * back.
 */
export interface Levels {
  readonly now: number
  renew(now: number): void
  /** As in `Pool`; returns whether they are others than before. */
  setHeadStarts(headStarts: Float64Array): boolean
  /** A ticket or opening takes a slot. @param region as in `Entry`. */
  enter(slot: Slot, region: number | undefined): void
  of(slot: Slot): number
  /** As in `Pool`. */
  aheadOf(slot: Slot): number
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

/** Milliseconds of waiting after which a ticket has `TIME` news. */
const ASK_AGAIN_MS = 1000

export function createLevels(model: Model<never>, columns: Columns): Levels {
  const { levels, fillForMs, checks, adaptive = false } = model
  const headStarts = createHeadStarts(model, columns)
  const averages = [model.radius, ...model.spans].some((rule) => rule?.by === 'average')
  const askAgainMs = averages || checks?.timed === true ? ASK_AGAIN_MS : Infinity
  const { stride } = columns
  /** For each slot the `News` that `news` has not returned yet. */
  let unread = new Uint8Array(0)

  const keep = (slot: Slot, news: News) => {
    if (slot >= unread.length) unread = grown(unread, columns.level.length)
    unread[slot] = news
  }

  const renewed = (slot: Slot): number => {
    const { rows } = columns
    const since = rows[slot * stride + SINCE] as number
    const until = rows[slot * stride + UNTIL] as number
    const waited = state.now - since
    const isFirst = until === -Infinity
    const level =
      adaptive
        ? headStarts.levelAfter(slot, waited, isFirst ? 0 : (columns.level[slot] as number))
        : levelAt(levels, waited)
    const next = adaptive ? headStarts.nextAfter(slot, level) : (levels[level + 1] ?? Infinity)
    // While the ticket waited for full matches, `until` was at most `since + fillForMs`.
    const hasRelaxed = level !== columns.level[slot] || (waited >= fillForMs && until <= since + fillForMs)
    if (isFirst) keep(slot, NOTHING)
    else if (hasRelaxed) keep(slot, RELAXED)
    // A head start that has grown without a new level is no news.
    else if (unread[slot] === NOTHING && askAgainMs < Infinity) keep(slot, TIME)
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
    setHeadStarts: (to) => {
      if (!headStarts.set(to)) return false
      // Tickets come to their next level by so much sooner.
      const { rows, end } = columns
      for (let slot = 0; slot < end; slot++) {
        const at = slot * stride + UNTIL
        rows[at] = (rows[at] as number) - headStarts.grownBy(slot)
      }
      return true
    },
    enter: (slot, region) => {
      if (adaptive) headStarts.enter(slot, region)
    },
    aheadOf: (slot) => {
      const level = state.of(slot)
      return headStarts.aheadOf(slot, level, state.now - (columns.rows[slot * stride + SINCE] as number))
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
