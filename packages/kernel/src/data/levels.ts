// pure: the relaxation level of each ticket
import { UNTIL, type Columns } from './columns.js'
import { grown } from './columns.js'
import type { Model, Slot } from './model.js'

/** What has changed for a ticket. The greater number matters more. */
export type News = typeof NOTHING | typeof TIME | typeof RELAXED
export const NOTHING = 0
/** The ticket has waited longer, so an average or a timed check may give another result now. */
export const TIME = 1
/** The ticket's level, or the minimum match size that it accepts, has changed. */
export const RELAXED = 2

/** Number of milliseconds of waiting after which a ticket has `TIME` news. */
const ASK_AGAIN_MS = 1000
/** The region of tickets and openings without a head start, i.e. whose level follows from their wait alone. */
const NOWHERE = 255

/** Returns the level after `waitedMs` milliseconds of waiting. */
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

/**
 * The level of each ticket, cached until it changes. Call `renew` with the current time before you read levels. Time
 * must never go back. In models with `adaptive`, a level follows from the wait plus the head start of the ticket's
 * region.
 */
export class Levels {
  now = -Infinity
  readonly #model: Model<never>
  readonly #columns: Columns
  readonly #askAgainMs: number
  /** The waits at which more matches become possible although no limit relaxes. */
  readonly #turns: readonly number[]
  /** For an adaptive model: the loosest level except the last resort, and when the last resort begins. */
  readonly #loosest: number
  readonly #lastResortMs: number
  /** The `News` of each slot that `news` has not returned yet, and the slot's region. */
  #unread = new Uint8Array(0)
  #regions = new Uint8Array(0)
  /** The head start of each region. */
  #headStarts = new Float64Array(NOWHERE + 1)

  constructor(model: Model<never>, columns: Columns) {
    const { levels, lastResortLevel, radius, spans, checks } = model
    const averages = [radius, ...spans].some((rule) => rule?.by === 'average')
    this.#model = model
    this.#columns = columns
    this.#askAgainMs = averages || checks?.timed === true ? ASK_AGAIN_MS : Infinity
    const { untilMs = 0, thoroughMs = 0 } = model.patience ?? {}
    this.#turns = [model.fillForMs, untilMs, thoroughMs].filter((turn) => turn > 0)
    this.#loosest = Math.min(levels.length, lastResortLevel) - 1
    this.#lastResortMs = levels[lastResortLevel] ?? Infinity
  }

  renew(now: number): void {
    this.now = Math.max(this.now, now)
  }

  /** Like `setHeadStarts` of `Pool`. Returns true if any of them grew. */
  setHeadStarts(headStarts: Float64Array): boolean {
    const before = this.#headStarts
    this.#headStarts = new Float64Array(NOWHERE + 1)
    this.#headStarts.set(headStarts.subarray(0, NOWHERE))
    const growth = this.#headStarts.map((headStart, region) => Math.max(0, headStart - (before[region] as number)))
    if (!growth.some((ms) => ms > 0)) return false
    // Tickets reach their next level earlier by the growth of their region's head start.
    const { rows, stride, end } = this.#columns
    for (let slot = 0; slot < end; slot++) {
      const at = slot * stride + UNTIL
      rows[at] = (rows[at] as number) - (growth[this.#regions[slot] as number] as number)
    }
    return true
  }

  /** Called when a ticket or opening takes a slot. @param region like `region` of `Entry`. */
  enter(slot: Slot, region = NOWHERE): void {
    if (slot >= this.#regions.length) {
      this.#regions = grown(this.#regions, this.#columns.capacity)
      this.#unread = grown(this.#unread, this.#columns.capacity)
    }
    this.#regions[slot] = region
  }

  of(slot: Slot): number {
    return this.#isDue(slot) ? this.#renewed(slot) : (this.#columns.level[slot] as number)
  }

  /** Returns the number of milliseconds by which a ticket's level is ahead of its wait, like `aheadOf` of `Pool`. */
  aheadOf(slot: Slot): number {
    const level = this.of(slot)
    if (level === this.#model.lastResortLevel) return 0
    const waited = this.now - this.#columns.sinceOf(slot)
    const headStart = this.#headStartOf(slot)
    return level === 0 ? headStart : Math.max(headStart, (this.#model.levels[level] as number) - waited)
  }

  /**
   * Returns what has changed for a ticket since the last call, or since its level was first read. Calls of `of` in
   * between do not reset it.
   */
  news(slot: Slot): News {
    if (this.#isDue(slot)) this.#renewed(slot)
    const news = this.#unread[slot] as News
    if (news !== NOTHING) this.#unread[slot] = NOTHING
    return news
  }

  /** True if the model's `patience` delays a match of this mean cost whose oldest member waits since `since`. */
  isHeldBack(cost: number, since: number): boolean {
    const { patience } = this.#model
    const waited = this.now - since
    return patience !== undefined && waited < patience.untilMs && cost > (patience.cost * waited) / patience.untilMs
  }

  /** True if matches that are hard to find are not searched for the ticket yet. */
  isPatient(slot: Slot): boolean {
    const { patience, lastResortLevel } = this.#model
    if (patience === undefined || (this.#columns.level[slot] as number) >= lastResortLevel) return false
    return this.now - this.#columns.sinceOf(slot) < patience.thoroughMs
  }

  #isDue(slot: Slot): boolean {
    return this.now >= (this.#columns.rows[slot * this.#columns.stride + UNTIL] as number)
  }

  #headStartOf(slot: Slot): number {
    return this.#headStarts[this.#regions[slot] as number] as number
  }

  #renewed(slot: Slot): number {
    const { rows, stride, level: levels } = this.#columns
    const since = this.#columns.sinceOf(slot)
    const until = rows[slot * stride + UNTIL] as number
    const before = levels[slot] as number
    const waited = this.now - since
    const isFirst = until === -Infinity
    const level = this.#levelAfter(slot, waited, isFirst ? 0 : before)
    let next = this.#nextAfter(slot, level)
    let hasRelaxed = level !== before
    // The last update set `until` to the next turn at the latest. So a turn that has come, and is not before `until`,
    // has come since that update.
    for (const turn of this.#turns) {
      if (waited < turn) next = Math.min(next, turn)
      else if (until <= since + turn) hasRelaxed = true
    }
    if (isFirst) this.#unread[slot] = NOTHING
    else if (hasRelaxed) this.#unread[slot] = RELAXED
    // A head start that grew without changing the level is not reported.
    else if (this.#unread[slot] === NOTHING && this.#askAgainMs < Infinity) this.#unread[slot] = TIME
    levels[slot] = level
    rows[slot * stride + UNTIL] = Math.min(since + next, this.now + this.#askAgainMs)
    return level
  }

  /**
   * Returns the level after a wait of `waitedMs`. @param before the previous level, below which an adapted level never
   * falls.
   */
  #levelAfter(slot: Slot, waitedMs: number, before: number): number {
    const { levels, adaptive, lastResortLevel } = this.#model
    if (adaptive !== true) return levelAt(levels, waitedMs)
    if (waitedMs >= this.#lastResortMs) return lastResortLevel
    return Math.max(before, Math.min(this.#loosest, levelAt(levels, waitedMs + this.#headStartOf(slot))))
  }

  /** Returns the milliseconds of waiting at which the next level begins, unless head starts change. */
  #nextAfter(slot: Slot, level: number): number {
    const { levels, adaptive, lastResortLevel } = this.#model
    if (adaptive !== true) return levels[level + 1] ?? Infinity
    if (level >= lastResortLevel) return Infinity
    const next = level < this.#loosest ? (levels[level + 1] as number) - this.#headStartOf(slot) : Infinity
    return Math.min(next, this.#lastResortMs)
  }
}
