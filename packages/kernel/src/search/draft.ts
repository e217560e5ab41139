// pure: a partial match, and which tickets may still join it
import { DISTANCE } from '../data/compare.js'
import { levelAt } from '../data/levels.js'
import type { MatchLevels, Slot } from '../data/model.js'
import type { PoolParts } from '../data/parts.js'

type WaitOf = 'each' | 'youngest' | 'oldest' | 'average'

/** A column rule: the maximum distance or difference in one dimension. */
interface ColumnLimit {
  readonly dimension: number
  readonly by: WaitOf
  /** The maximum at each level. */
  readonly most: Float64Array
}

/**
 * A partial match, checked member by member against the column rules and the pair check. Teams are checked elsewhere.
 *
 * Limits only loosen with the level. As others join, a rule by the youngest can only become stricter, but a rule by the
 * oldest or the average can loosen. Until the match is complete, it is checked at the highest level that a candidate
 * may still bring (`expect`). `isSound` returns whether it holds in the end. The values for the first n + 1 members are
 * stored at index n, so that the last member can be dropped.
 */
export class Draft<Facts> {
  /** The first `count` entries are the members. */
  readonly members: Int32Array
  count = 0
  /**
   * True if every column rule compares each pair of tickets, and there is no last resort. `mayMeet` of each pair then
   * decides everything.
   */
  readonly isPairwise: boolean
  readonly #parts: PoolParts<Facts>
  readonly #limits: readonly ColumnLimit[]
  readonly #loosens: boolean
  #isOpening = false
  /** The highest level, except the last resort, that any member may have in the end. */
  #ceiling = 0
  readonly #youngest: Uint8Array
  readonly #oldest: Uint8Array
  /** Sums of waits. If limits adapt: sums of levels. */
  readonly #sum: Float64Array
  readonly #longest: Float64Array
  /** For each limit, the maximum distance between any two members. */
  readonly #widest: Float64Array

  /** @param largest maximum number of members. */
  constructor(parts: PoolParts<Facts>, largest: number) {
    const { radius, spans, lastResortLevel } = parts.model
    this.#parts = parts
    this.#limits = [
      ...(radius === undefined ? [] : [{ dimension: DISTANCE, by: radius.by, most: radius.squared }]),
      ...spans.map(({ by, limit }, span) => ({ dimension: span + 1, by, most: limit })),
    ]
    this.isPairwise = lastResortLevel === Infinity && this.#limits.every(({ by }) => by === 'each')
    this.#loosens = this.#limits.some(({ by }) => by === 'oldest' || by === 'average')
    this.members = new Int32Array(largest)
    this.#youngest = new Uint8Array(largest)
    this.#oldest = new Uint8Array(largest)
    this.#sum = new Float64Array(largest)
    this.#longest = new Float64Array(largest)
    this.#widest = new Float64Array(largest * this.#limits.length)
  }

  /** Starts with one ticket, or with the free places of a running match. Returns false if no match can hold it. */
  begin(slot: Slot): boolean {
    const { levels, lastResortLevel } = this.#parts.model
    this.count = 0
    this.#isOpening = this.#parts.columns.size[slot] === 0
    this.#ceiling = Math.max(0, levels.length - (lastResortLevel === Infinity ? 1 : 2))
    if (!this.admits(slot)) return false
    this.push(slot)
    return true
  }

  /** Declares that only these tickets may still join. */
  expect(slots: Int32Array, from: number, to: number): void {
    if (!this.#loosens) return
    const { level } = this.#parts.columns
    const { lastResortLevel } = this.#parts.model
    this.#ceiling = 0
    const see = (slot: Slot) => {
      const own = level[slot] as number
      if (own > this.#ceiling && own < lastResortLevel) this.#ceiling = own
    }
    for (let at = 0; at < this.count; at++) see(this.members[at] as Slot)
    for (let at = from; at < to; at++) see(slots[at] as Slot)
  }

  /** True if the ticket may be in a match with all members, as far as is known before the end. */
  admits(slot: Slot): boolean {
    const { columns } = this.#parts
    const { count } = this
    if (count === this.members.length) return false
    if (count > 0 && columns.keyOf(slot) !== columns.keyOf(this.members[0] as Slot)) return false
    if (!this.isPairwise || this.#isOpening || count === 0) {
      this.#note(slot)
      return this.#extends(slot) && this.#mayMeetAll(slot)
    }
    for (let at = 0; at < count; at++) if (!this.mayMeet(this.members[at] as Slot, slot)) return false
    return true
  }

  /** Adds a ticket that `admits` has accepted, or that passes `mayMeet` with each member. */
  push(slot: Slot): void {
    this.#note(slot)
    if (!this.isPairwise) this.#extends(slot)
    this.members[this.count++] = slot
  }

  /** Removes the last member. */
  drop(): void {
    this.count -= 1
  }

  /** True if two tickets may be in a match. Requires `isPairwise`, and that `begin` accepts both. */
  mayMeet(one: Slot, other: Slot): boolean {
    const { compare, columns, facts, model } = this.#parts
    if (!compare.agree(one, other)) return false
    const pair = model.checks?.pair
    if (pair === undefined) return true
    const { level } = columns
    const [own, others] = [level[one] as number, level[other] as number]
    return pair(facts[one] as Facts, facts[other] as Facts, Math.min(own, others), own, others)
  }

  /**
   * True if two tickets alone are a match by the column rules and the pair check. Begins a new draft unless
   * `isPairwise`.
   */
  isPair(one: Slot, other: Slot): boolean {
    if (this.isPairwise) return this.mayMeet(one, other)
    if (!this.begin(one) || !this.admits(other)) return false
    this.push(other)
    return this.isSound()
  }

  levels(): MatchLevels {
    const last = this.count - 1
    const [youngest, oldest] = [this.#levelOf('youngest', last), this.#levelOf('oldest', last)]
    return { youngest, oldest, average: this.#levelOf('average', last), now: this.#parts.levels.now }
  }

  /** Returns the lowest level of the members. If one of them is at the last resort: that level. */
  youngest(): number {
    return this.#levelOf('youngest', this.count - 1)
  }

  /** True if the rules hold for the members when nobody else joins. */
  isSound(): boolean {
    if (!this.#loosens) return true
    const last = this.count - 1
    const first = last * this.#limits.length
    return this.#limits.every(
      ({ by, most }, at) =>
        by === 'each' || (this.#widest[first + at] as number) <= (most[this.#levelOf(by, last)] as number),
    )
  }

  /** Returns the longest wait of the members, in milliseconds. */
  longestWait(): number {
    return this.#longest[this.count - 1] as number
  }

  /** Records the wait and level of the ticket as those of the next member. */
  #note(slot: Slot): void {
    const { columns, levels, model } = this.#parts
    const { count } = this
    const level = columns.level[slot] as number
    const wait = levels.now - columns.sinceOf(slot)
    const counts = model.adaptive === true ? level : wait
    const before = count - 1
    this.#youngest[count] = count === 0 ? level : Math.min(level, this.#youngest[before] as number)
    this.#oldest[count] = count === 0 ? level : Math.max(level, this.#oldest[before] as number)
    this.#sum[count] = count === 0 ? counts : counts + (this.#sum[before] as number)
    this.#longest[count] = count === 0 ? wait : Math.max(wait, this.#longest[before] as number)
  }

  /** Records how far any two members, including the ticket, are apart. Returns true if that is within all limits. */
  #extends(slot: Slot): boolean {
    const { columns, compare, model } = this.#parts
    const { count } = this
    const { level } = columns
    const own = level[slot] as number
    const isLast = this.#isLastResort(count)
    const many = this.#limits.length
    for (let limit = 0; limit < many; limit++) {
      const { dimension, by, most } = this.#limits[limit] as ColumnLimit
      const isEach = by === 'each' && !isLast
      // The differences among the players of an opening do not count.
      const alone = count === 0 && this.#isOpening ? 0 : compare.width(dimension, slot)
      if (isEach && alone > (most[own] as number)) return false
      let widest = count === 0 ? alone : Math.max(alone, this.#widest[(count - 1) * many + limit] as number)
      for (let at = 0; at < count; at++) {
        const member = this.members[at] as Slot
        const apart =
          at === 0 && this.#isOpening
            ? this.#apartFromOpening(dimension, member, slot)
            : compare.apart(dimension, member, slot)
        if (apart > widest) widest = apart
        if (isEach && apart > (most[Math.min(own, level[member] as number)] as number)) return false
      }
      this.#widest[count * many + limit] = widest
      const counts = by === 'each' ? model.lastResortLevel : this.#levelAtMost(by, count)
      if (!isEach && widest > (most[counts] as number)) return false
    }
    return true
  }

  /** Returns the distance of a ticket from an opening: the greatest one from any of its players. */
  #apartFromOpening(dimension: number, opening: Slot, slot: Slot): number {
    const { compare, facts, present, model } = this.#parts
    let farthest = Number.NaN
    if (dimension === DISTANCE && model.apart !== undefined) {
      for (const player of present(opening)) {
        const apart = model.apart(player, facts[slot] as Facts)
        if (!(apart <= farthest)) farthest = apart
      }
    }
    return Number.isNaN(farthest) ? compare.apartFromOpening(dimension, opening, slot) : farthest
  }

  #mayMeetAll(slot: Slot): boolean {
    const { facts, present, columns, model } = this.#parts
    const pair = model.checks?.pair
    if (pair === undefined) return true
    const { level } = columns
    const isLast = this.#isLastResort(this.count)
    const own = facts[slot] as Facts
    const levelOf = (one: Slot) => (isLast ? model.lastResortLevel : (level[one] as number))
    for (let at = 0; at < this.count; at++) {
      const member = this.members[at] as Slot
      const [there, here] = [levelOf(member), levelOf(slot)]
      const between = Math.min(there, here)
      if (at === 0 && this.#isOpening) {
        for (const player of present(member)) if (!pair(player, own, between, there, here)) return false
      } else if (!pair(facts[member] as Facts, own, between, there, here)) return false
    }
    return true
  }

  #isLastResort(at: number): boolean {
    return (this.#oldest[at] as number) >= this.#parts.model.lastResortLevel
  }

  /** Returns the level that counts for a rule about the whole match, with the first `at + 1` members. */
  #levelOf(by: WaitOf, at: number): number {
    const { model } = this.#parts
    if (this.#isLastResort(at)) return model.lastResortLevel
    if (by === 'oldest') return this.#oldest[at] as number
    if (by !== 'average') return this.#youngest[at] as number
    const average = (this.#sum[at] as number) / (at + 1)
    return model.adaptive === true ? Math.floor(average) : levelAt(model.levels, average)
  }

  /** Returns the loosest level that may count for the rule as others join. */
  #levelAtMost(by: WaitOf, at: number): number {
    if (by !== 'oldest' && by !== 'average') return this.#levelOf(by, at)
    return Math.max(this.#levelOf('oldest', at), this.#ceiling)
  }
}
