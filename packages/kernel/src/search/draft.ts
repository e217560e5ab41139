// pure: a partial match, and which tickets may still join it
import { KEY, SINCE, VALUES, type Columns } from '../data/columns.js'
import type { Compare } from '../data/compare.js'
import { levelAt, type Levels } from '../data/levels.js'
import type { MatchLevels, Model, Slot } from '../data/model.js'

export interface DraftInput<Facts> {
  readonly model: Model<Facts>
  readonly columns: Columns
  readonly levels: Levels
  readonly compare: Compare
  /** The facts of each ticket, by slot. */
  readonly facts: readonly (Facts | undefined)[]
  /** The players present in an opening. */
  present(opening: Slot): readonly Facts[]
  /** The most members. */
  readonly largest: number
}

type WaitOf = 'each' | 'youngest' | 'oldest' | 'average'

/**
 * A partial match, checked member by member against the column rules and the pair check; teams are checked elsewhere.
 *
 * Limits only loosen with the level. A rule by the youngest can only become stricter as others join. A rule by the
 * oldest or the average can loosen, so until the match is complete it is checked at the highest level that a candidate
 * may still bring (`expect`); `isSound` tells whether it holds in the end. What is known of the first n + 1 members is
 * kept at index n, so that the last member can be dropped.
 */
export class Draft<Facts> {
  /** The first `count` entries are the members. */
  readonly members: Int32Array
  count = 0
  /** Whether all column rules compare `each` pair, and no wait overrides them: then `mayMeet` decides all. */
  readonly isPairwise: boolean
  readonly #input: DraftInput<Facts>
  readonly #model: Model<Facts>
  readonly #columns: Columns
  readonly #compare: Compare
  readonly #stride: number
  readonly #spans: number
  readonly #loosens: boolean
  #isOpening = false
  /** The highest level, last resort aside, that any member may have in the end. */
  #ceiling = 0
  readonly #youngest: Uint8Array
  readonly #oldest: Uint8Array
  /** Sums of waits; where limits adapt, of levels. */
  readonly #sum: Float64Array
  readonly #longest: Float64Array
  /** The greatest squared chord between two members. */
  readonly #farthest: Float64Array
  /** The lowest and highest value of each span. */
  readonly #low: Float64Array
  readonly #high: Float64Array

  constructor(input: DraftInput<Facts>) {
    const { model, columns, compare, largest } = input
    const rules = [model.radius, ...model.spans]
    this.#input = input
    this.#model = model
    this.#columns = columns
    this.#compare = compare
    this.#stride = columns.stride
    this.#spans = model.spans.length
    this.isPairwise =
      model.lastResortLevel === Infinity && rules.every((rule) => rule === undefined || rule.by === 'each')
    this.#loosens = rules.some((rule) => rule?.by === 'oldest' || rule?.by === 'average')
    this.members = new Int32Array(largest)
    this.#youngest = new Uint8Array(largest)
    this.#oldest = new Uint8Array(largest)
    this.#sum = new Float64Array(largest)
    this.#longest = new Float64Array(largest)
    this.#farthest = new Float64Array(largest)
    this.#low = new Float64Array(largest * this.#spans)
    this.#high = new Float64Array(largest * this.#spans)
  }

  /** Starts with one ticket or opening. False if no match can hold it. */
  begin(slot: Slot): boolean {
    const { levels, lastResortLevel } = this.#model
    this.count = 0
    this.#isOpening = this.#columns.size[slot] === 0
    this.#ceiling = Math.max(0, levels.length - (lastResortLevel === Infinity ? 1 : 2))
    if (!this.admits(slot)) return false
    this.push(slot)
    return true
  }

  /** Declares that only these tickets may still join. */
  expect(slots: Int32Array, from: number, to: number): void {
    if (!this.#loosens) return
    const { level } = this.#columns
    const { lastResortLevel } = this.#model
    let highest = 0
    const see = (slot: Slot) => {
      const own = level[slot] as number
      if (own > highest && own < lastResortLevel) highest = own
    }
    for (let at = 0; at < this.count; at++) see(this.members[at] as Slot)
    for (let at = from; at < to; at++) see(slots[at] as Slot)
    this.#ceiling = highest
  }

  /** Whether the ticket may be in a match with all members, as far as can be told before the end. */
  admits(slot: Slot): boolean {
    const { count } = this
    if (count === this.members.length || (count > 0 && !this.#hasKey(slot))) return false
    this.#note(slot)
    if (!this.isPairwise || this.#isOpening) return this.#isNear(slot) && this.#isAlike(slot) && this.#mayMeetAll(slot)
    if (count === 0) return this.#isEven(slot)
    for (let at = 0; at < count; at++) if (!this.#compare.agree(this.members[at] as Slot, slot)) return false
    return this.#mayMeetAll(slot)
  }

  /** Adds a ticket that `admits` has just admitted, or that `mayMeet` each member. */
  push(slot: Slot): void {
    if (this.isPairwise) this.#note(slot)
    else this.#widenAll(slot)
    this.members[this.count++] = slot
  }

  /** Removes the last member. */
  drop(): void {
    this.count -= 1
  }

  /** Whether two tickets may be in a match: for `isPairwise`, and tickets that `begin` with success. */
  mayMeet(one: Slot, other: Slot): boolean {
    if (!this.#compare.agree(one, other)) return false
    const pair = this.#model.checks?.pair
    if (pair === undefined) return true
    const { facts } = this.#input
    const { level } = this.#columns
    return pair(facts[one] as Facts, facts[other] as Facts, Math.min(level[one] as number, level[other] as number))
  }

  levels(): MatchLevels {
    const { now } = this.#input.levels
    const last = this.count - 1
    const [youngest, oldest] = [this.#levelOf('youngest', last), this.#levelOf('oldest', last)]
    return { youngest, oldest, average: this.#levelOf('average', last), now }
  }

  /** The lowest level of the members; the last resort's if one of them is there. */
  youngest(): number {
    return this.#levelOf('youngest', this.count - 1)
  }

  /** Whether the rules hold for the members if nobody else joins. */
  isSound(): boolean {
    if (!this.#loosens) return true
    const { radius, spans } = this.#model
    const last = this.count - 1
    if (radius !== undefined && radius.by !== 'each') {
      const most = radius.squared[this.#levelOf(radius.by, last)] as number
      if ((this.#farthest[last] as number) > most) return false
    }
    return spans.every(
      ({ by, limit }, span) =>
        by === 'each' || this.#isWithin(last, span, limit[this.#levelOf(by, last)] as number),
    )
  }

  /** The longest wait of the members, in milliseconds. */
  longestWait(): number {
    return this.#longest[this.count - 1] as number
  }

  #hasKey(slot: Slot): boolean {
    const { rows } = this.#columns
    return rows[slot * this.#stride + KEY] === rows[(this.members[0] as Slot) * this.#stride + KEY]
  }

  /** Records the wait and level of the ticket as those of the next member. */
  #note(slot: Slot): void {
    const { count } = this
    const level = this.#columns.level[slot] as number
    const wait = this.#input.levels.now - (this.#columns.rows[slot * this.#stride + SINCE] as number)
    const counts = this.#model.adaptive === true ? level : wait
    const before = count - 1
    this.#youngest[count] = count === 0 ? level : Math.min(level, this.#youngest[before] as number)
    this.#oldest[count] = count === 0 ? level : Math.max(level, this.#oldest[before] as number)
    this.#sum[count] = count === 0 ? counts : counts + (this.#sum[before] as number)
    this.#longest[count] = count === 0 ? wait : Math.max(wait, this.#longest[before] as number)
  }

  #isLastResort(at: number): boolean {
    return (this.#oldest[at] as number) >= this.#model.lastResortLevel
  }

  /** The level that counts for a rule about the whole match, with the first `at + 1` members. */
  #levelOf(by: WaitOf, at: number): number {
    if (this.#isLastResort(at)) return this.#model.lastResortLevel
    if (by === 'oldest') return this.#oldest[at] as number
    if (by !== 'average') return this.#youngest[at] as number
    const average = (this.#sum[at] as number) / (at + 1)
    return this.#model.adaptive === true ? Math.floor(average) : levelAt(this.#model.levels, average)
  }

  /** The loosest level that may count for the rule as others join. */
  #levelAtMost(by: WaitOf, at: number): number {
    if (by !== 'oldest' && by !== 'average') return this.#levelOf(by, at)
    return Math.max(this.#levelOf('oldest', at), this.#ceiling)
  }

  /** Tickets whose own range is too wide are in no match. */
  #isEven(slot: Slot): boolean {
    const level = this.#columns.level[slot] as number
    for (let span = 0; span < this.#spans; span++)
      if (this.#compare.ownGap(slot, span) > (this.#model.spans[span]?.limit[level] as number)) return false
    return true
  }

  #mayMeetAll(slot: Slot): boolean {
    const { checks, lastResortLevel } = this.#model
    const pair = checks?.pair
    if (pair === undefined) return true
    const { facts, present } = this.#input
    const { level } = this.#columns
    const last = this.#isLastResort(this.count)
    const own = facts[slot] as Facts
    for (let at = 0; at < this.count; at++) {
      const member = this.members[at] as Slot
      const between = last ? lastResortLevel : Math.min(level[slot] as number, level[member] as number)
      if (at === 0 && this.#isOpening) {
        for (const player of present(member)) if (!pair(player, own, between)) return false
      } else if (!pair(facts[member] as Facts, own, between)) return false
    }
    return true
  }

  #isNear(slot: Slot): boolean {
    const { radius } = this.#model
    if (radius === undefined) return true
    const { count } = this
    const { level } = this.#columns
    const own = level[slot] as number
    const pairwise = radius.by === 'each' && !this.#isLastResort(count)
    let wide = count === 0 ? 0 : (this.#farthest[count - 1] as number)
    for (let at = 0; at < count; at++) {
      const member = this.members[at] as Slot
      const square = this.#compare.square(member, slot)
      if (square > wide) wide = square
      if (pairwise && square > (radius.squared[Math.min(own, level[member] as number)] as number)) return false
    }
    this.#farthest[count] = wide
    return pairwise || wide <= (radius.squared[this.#levelAtMost(radius.by, count)] as number)
  }

  #isAlike(slot: Slot): boolean {
    const { spans, lastResortLevel } = this.#model
    const { count } = this
    const { level } = this.#columns
    for (let span = 0; span < spans.length; span++) {
      const { by, limit } = spans[span] as (typeof spans)[number]
      this.#widen(slot, span)
      if (count === 0 && this.#isOpening) continue
      if (by !== 'each' || this.#isLastResort(count)) {
        const counts = by === 'each' ? lastResortLevel : this.#levelAtMost(by, count)
        if (!this.#isWithin(count, span, limit[counts] as number)) return false
        continue
      }
      const own = level[slot] as number
      if (this.#compare.ownGap(slot, span) > (limit[own] as number)) return false
      for (let at = 0; at < count; at++) {
        const member = this.members[at] as Slot
        const gap =
          at === 0 && this.#isOpening
            ? this.#compare.gapToOpening(member, slot, span)
            : this.#compare.gap(member, slot, span)
        if (gap > (limit[Math.min(own, level[member] as number)] as number)) return false
      }
    }
    return true
  }

  #widenAll(slot: Slot): void {
    this.#note(slot)
    for (let span = 0; span < this.#spans; span++) this.#widen(slot, span)
    if (this.#model.radius === undefined) return
    let wide = this.count === 0 ? 0 : (this.#farthest[this.count - 1] as number)
    for (let at = 0; at < this.count; at++)
      wide = Math.max(wide, this.#compare.square(this.members[at] as Slot, slot))
    this.#farthest[this.count] = wide
  }

  /** Records the lowest and highest value of the members and the ticket. An opening's own values do not count. */
  #widen(slot: Slot, span: number): void {
    const { count } = this
    const to = count * this.#spans + span
    const at = slot * this.#stride + VALUES + 2 * span
    const isAlone = count === 0 && this.#isOpening
    const low = isAlone ? Infinity : (this.#columns.rows[at] as number)
    const high = isAlone ? -Infinity : (this.#columns.rows[at + 1] as number)
    this.#low[to] = count === 0 ? low : Math.min(low, this.#low[to - this.#spans] as number)
    this.#high[to] = count === 0 ? high : Math.max(high, this.#high[to - this.#spans] as number)
  }

  #isWithin(at: number, span: number, widest: number): boolean {
    const low = this.#low[at * this.#spans + span] as number
    const high = this.#high[at * this.#spans + span] as number
    if (high - low > widest) return false
    if (!this.#isOpening) return true
    const { rows } = this.#columns
    const own = (this.members[0] as Slot) * this.#stride + VALUES + 2 * span
    return Math.max(high - (rows[own] as number), (rows[own + 1] as number) - low) <= widest
  }
}
