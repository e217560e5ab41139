// pure: a match in the making, and which candidates may still join it
import { createCandidateCache, type Candidate, type CandidateCache } from './candidate-cache.js'
import { KEY, VALUES, type Columns } from './columns.js'
import { Comparison } from './comparison.js'
import type { Levels } from './levels.js'
import { MatchWaits } from './match-waits.js'
import type { MatchLevels, Model, Slot } from './model.js'

export interface DraftInput<Facts> {
  readonly model: Model<Facts>
  readonly columns: Columns
  readonly levels: Levels
  /** The facts of each ticket, by slot. */
  readonly facts: readonly (Facts | undefined)[]
  /** The players present in an opening. */
  present(opening: Slot): readonly Facts[]
  /** The most members a draft may have. */
  readonly largest: number
}

/**
 * A match in the making, checked member by member against the column rules and the pair check; teams are checked
 * elsewhere.
 *
 * Limits only loosen with the level. A rule by the youngest can only become stricter as others join. A rule by the
 * oldest or the average can loosen, so until the match is complete such a rule is checked at the highest level that a
 * candidate may still bring (`expect`); `isSound` tells whether the rule holds in the end.
 */
export class Draft<Facts = never> {
  /** The first `count` entries are the members. */
  readonly members: Int32Array
  count = 0
  /** All candidates invited since `begin`. */
  readonly cache: CandidateCache
  readonly #model: Model<Facts>
  readonly #columns: Columns
  readonly #input: DraftInput<Facts>
  readonly #comparison: Comparison
  readonly #stride: number
  /**
   * Whether all column rules compare `each` pair: then a candidate that the first member allows need not be compared
   * with that member again.
   */
  readonly #eachTwo: boolean
  /** Whether some rule is by the oldest or by the average. */
  readonly #loosens: boolean
  /** The cache index of each member. */
  readonly #candidateAt: Int32Array
  readonly #waits: MatchWaits
  // State of the first n + 1 members, at index n, so that the last member can be dropped.
  readonly #farthest: Float64Array
  readonly #low: Float64Array
  readonly #high: Float64Array
  /** Whether the first member is a running match. */
  #isOpening = false

  constructor(input: DraftInput<Facts>) {
    const { model, columns, levels, largest } = input
    const { radius, spans, lastResortLevel } = model
    const rules = [radius, ...spans]
    this.#input = input
    this.#model = model
    this.#columns = columns
    this.#stride = columns.stride
    this.cache = createCandidateCache(columns, levels)
    this.#comparison = new Comparison(model as unknown as Model<never>, columns, this.cache)
    this.#eachTwo = lastResortLevel === Infinity && rules.every((rule) => rule === undefined || rule.by === 'each')
    this.#loosens = rules.some((rule) => rule?.by === 'oldest' || rule?.by === 'average')
    this.#waits = new MatchWaits(model, levels, this.cache, columns.stride, largest)
    this.members = new Int32Array(largest)
    this.#candidateAt = new Int32Array(largest)
    this.#farthest = new Float64Array(largest)
    this.#low = new Float64Array(largest * spans.length)
    this.#high = new Float64Array(largest * spans.length)
  }

  /** Starts a new draft with one ticket or opening. False if no match can hold it. */
  begin(slot: Slot): boolean {
    this.count = 0
    this.cache.count = 0
    this.#waits.expectAnybody()
    this.#isOpening = this.#columns.size[slot] === 0
    const candidate = this.cache.put(slot)
    if (this.#eachTwo && !this.#isOpening && !this.#comparison.isEven(candidate)) return false
    if (!this.#mayJoin(candidate, 0)) return false
    this.#seat(candidate)
    return true
  }

  /** Adds a ticket if it may be in a match with all members; false otherwise. */
  add(slot: Slot): boolean {
    const candidate = this.invite(slot)
    if (candidate === undefined) return false
    this.#seat(candidate)
    return true
  }

  /** Whether `add` would add the ticket. */
  admits(slot: Slot): boolean {
    if (this.invite(slot) === undefined) return false
    this.cache.count -= 1
    return true
  }

  /** Caches a ticket for `join` if `add` would add it now, undefined otherwise. Valid until the next `begin`. */
  invite(slot: Slot): Candidate | undefined {
    const candidate = this.cache.put(slot)
    const isEven = !this.#eachTwo || this.#comparison.isEven(candidate)
    if (this.#hasKey(candidate) && isEven && this.#mayJoin(candidate, 0)) return candidate
    this.cache.count -= 1
    return undefined
  }

  /** Adds an invited candidate if it may be in a match with all members; false otherwise. */
  join(candidate: Candidate): boolean {
    if (!this.#mayJoin(candidate, 1)) return false
    this.#seat(candidate)
    return true
  }

  /** Removes the last member. */
  drop(): void {
    this.count -= 1
  }

  /** Declares that only these candidates may still join. */
  expect(candidates: Int32Array, count: number): void {
    if (this.#loosens) this.#waits.expect(candidates, count, this.count)
  }

  levels(): MatchLevels {
    return this.#waits.all(this.count)
  }

  /** Whether the rules hold for the members if nobody else joins. */
  isSound(): boolean {
    if (!this.#loosens) return true
    const { radius, spans } = this.#model
    const last = this.count - 1
    if (
      radius !== undefined &&
      (this.#farthest[last] as number) > (radius.squared[this.#waits.levelOf(radius.by, this.count)] as number) &&
      radius.by !== 'each'
    )
      return false
    return spans.every(({ by, limit }, span) => {
      if (by === 'each') return true
      const widest = limit[this.#waits.levelOf(by, this.count)] as number
      const at = last * spans.length + span
      return this.#isWithin(span, this.#low[at] as number, this.#high[at] as number, widest)
    })
  }

  /** Whether the oldest member has waited long enough for a match that is not full. */
  mayBeSmall(): boolean {
    return this.#waits.longest(this.count) >= this.#model.fillForMs
  }

  /** Whether a member or one of these candidates has waited long enough for a match that is not full. */
  mayBecomeSmall(candidates: Int32Array, count: number): boolean {
    for (let at = 0; at < count; at++)
      if (this.#waits.waitOf(candidates[at] as Candidate) >= this.#model.fillForMs) return true
    return this.mayBeSmall()
  }

  #isNear(candidate: Candidate): boolean {
    const { count } = this
    const { radius } = this.#model
    if (radius === undefined) return true
    const level = this.cache.level[candidate] as number
    const pairwise = radius.by === 'each' && !this.#waits.isLastResort(count + 1)
    let wide = count === 0 ? 0 : (this.#farthest[count - 1] as number)
    for (let at = 0; at < count; at++) {
      const member = this.#candidateAt[at] as Candidate
      const square = this.#comparison.square(member, candidate)
      if (square > wide) wide = square
      if (pairwise && square > (radius.squared[Math.min(level, this.cache.level[member] as number)] as number))
        return false
    }
    this.#farthest[count] = wide
    return pairwise || wide <= (radius.squared[this.#waits.levelAtMost(radius.by, count + 1)] as number)
  }

  #isAlike(candidate: Candidate): boolean {
    const { spans } = this.#model
    for (let span = 0; span < spans.length; span++) {
      const { by, limit } = spans[span] as (typeof spans)[number]
      if (
        !(by === 'each'
          ? this.#isAlikeEach(candidate, span, limit)
          : this.#isAlikeInAll(candidate, span, limit[this.#waits.levelAtMost(by, this.count + 1)] as number))
      )
        return false
    }
    return true
  }

  #isAlikeEach(candidate: Candidate, span: number, limit: Float64Array): boolean {
    if (this.#waits.isLastResort(this.count + 1))
      return this.#isAlikeInAll(candidate, span, limit[this.#model.lastResortLevel] as number)
    this.#widen(candidate, span)
    if (this.count === 0 && this.#isOpening) return true
    const { rows, level: levels } = this.cache
    const level = levels[candidate] as number
    const value = candidate * this.#stride + VALUES + 2 * span
    if ((rows[value + 1] as number) - (rows[value] as number) > (limit[level] as number)) return false
    for (let at = 0; at < this.count; at++) {
      const member = this.#candidateAt[at] as Candidate
      const gap =
        at === 0 && this.#isOpening
          ? this.#comparison.gapToOpening(member, candidate, span)
          : this.#comparison.gap(member, candidate, span)
      if (gap > (limit[Math.min(level, levels[member] as number)] as number)) return false
    }
    return true
  }

  #isAlikeInAll(candidate: Candidate, span: number, widest: number): boolean {
    const at = this.#widen(candidate, span)
    return (
      (this.count === 0 && this.#isOpening) ||
      this.#isWithin(span, this.#low[at] as number, this.#high[at] as number, widest)
    )
  }

  /**
   * Writes the lowest and highest value of the members and the candidate; returns the index written. An opening's own
   * values do not count.
   */
  #widen(candidate: Candidate, span: number): number {
    const { count } = this
    const many = this.#model.spans.length
    const to = count * many + span
    const value = candidate * this.#stride + VALUES + 2 * span
    const least = count === 0 && this.#isOpening ? Infinity : (this.cache.rows[value] as number)
    const greatest = count === 0 && this.#isOpening ? -Infinity : (this.cache.rows[value + 1] as number)
    this.#low[to] = count === 0 ? least : Math.min(this.#low[to - many] as number, least)
    this.#high[to] = count === 0 ? greatest : Math.max(this.#high[to - many] as number, greatest)
    return to
  }

  #isWithin(span: number, low: number, high: number, widest: number): boolean {
    if (high - low > widest) return false
    if (!this.#isOpening) return true
    const value = VALUES + 2 * span
    return Math.max(high - (this.cache.rows[value] as number), (this.cache.rows[value + 1] as number) - low) <= widest
  }

  #mayMeet(candidate: Candidate, from: number): boolean {
    const pair = this.#model.checks?.pair
    if (pair === undefined) return true
    const { facts, present } = this.#input
    const { lastResortLevel } = this.#model
    const last = this.#waits.isLastResort(this.count + 1)
    const level = this.cache.level[candidate] as number
    const own = facts[this.cache.slots[candidate] as Slot] as Facts
    for (let at = from; at < this.count; at++) {
      const between = last
        ? lastResortLevel
        : Math.min(level, this.cache.level[this.#candidateAt[at] as Candidate] as number)
      if (at === 0 && this.#isOpening) {
        for (const player of present(this.members[0] as Slot)) if (!pair(player, own, between)) return false
      } else if (!pair(facts[this.members[at] as Slot] as Facts, own, between)) return false
    }
    return true
  }

  #hasKey(candidate: Candidate): boolean {
    return this.count === 0 || this.cache.rows[candidate * this.#stride + KEY] === this.cache.rows[KEY]
  }

  /**
   * Whether a candidate may join. @param from members before this index have already been compared with the candidate.
   */
  #mayJoin(candidate: Candidate, from: number): boolean {
    const { count } = this
    if (count === this.members.length) return false
    if (!this.#eachTwo) {
      this.#waits.note(candidate, count)
      return this.#isNear(candidate) && this.#isAlike(candidate) && this.#mayMeet(candidate, 0)
    }
    for (let at = from; at < count; at++)
      if (!this.#comparison.agree(this.#candidateAt[at] as Candidate, candidate, at === 0 && this.#isOpening))
        return false
    this.#waits.note(candidate, count)
    return this.#mayMeet(candidate, from)
  }

  #seat(candidate: Candidate): void {
    this.members[this.count] = this.cache.slots[candidate] as Slot
    this.#candidateAt[this.count] = candidate
    this.count += 1
  }
}
