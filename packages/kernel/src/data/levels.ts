// pure: the relaxation level of each ticket
import { SINCE, UNTIL, type Columns } from './columns.js'
import { grown } from './growing.js'
import type { Model, Slot } from './model.js'

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

  const state: { -readonly [Field in keyof Levels]: Levels[Field] } = {
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

/** The region of tickets and openings that have no head start. */
const NONE = 255

/** The head starts of all regions, and the region of each slot. For models with `adaptive`. */
interface HeadStarts {
  /** Whether any of them grew: then `grownBy` tells by how much. */
  set(headStarts: Float64Array): boolean
  /** Milliseconds by which the last `set` has grown the head start of a slot; 0 if it has not. */
  grownBy(slot: Slot): number
  enter(slot: Slot, region: number | undefined): void
  /** The level of a ticket. @param before its level so far, below which it never falls. */
  levelAfter(slot: Slot, waitedMs: number, before: number): number
  /** Milliseconds of waiting at which the next level begins, unless head starts change. */
  nextAfter(slot: Slot, level: number): number
  /** Milliseconds by which the ticket's level is ahead of its wait. */
  aheadOf(slot: Slot, level: number, waitedMs: number): number
}

function createHeadStarts(
  { levels, lastResortLevel }: Pick<Model<never>, 'levels' | 'lastResortLevel'>,
  columns: Pick<Columns, 'level'>,
): HeadStarts {
  const lastResortMs = levels[lastResortLevel] ?? Infinity
  const loosest = Math.min(levels.length, lastResortLevel) - 1
  let headStarts = new Float64Array(NONE + 1)
  let growth = new Float64Array(NONE + 1)
  let regions = new Uint8Array(0)
  const of = (slot: Slot) => headStarts[regions[slot] as number] as number

  return {
    set: (to) => {
      const before = headStarts
      headStarts = new Float64Array(NONE + 1)
      headStarts.set(to.subarray(0, NONE))
      growth = headStarts.map((headStart, region) => Math.max(0, headStart - (before[region] as number)))
      return growth.some((ms) => ms > 0)
    },
    grownBy: (slot) => growth[regions[slot] as number] as number,
    enter: (slot, region = NONE) => {
      if (slot >= regions.length) regions = grown(regions, columns.level.length)
      regions[slot] = region
    },
    levelAfter: (slot, waitedMs, before) => {
      if (waitedMs >= lastResortMs) return lastResortLevel
      return Math.max(before, Math.min(loosest, levelAt(levels, waitedMs + of(slot))))
    },
    nextAfter: (slot, level) => {
      const next = level < loosest ? (levels[level + 1] as number) - of(slot) : Infinity
      return level < lastResortLevel ? Math.min(next, lastResortMs) : Infinity
    },
    aheadOf: (slot, level, waitedMs) => {
      if (level === lastResortLevel) return 0
      return level === 0 ? of(slot) : Math.max(of(slot), (levels[level] as number) - waitedMs)
    },
  }
}
