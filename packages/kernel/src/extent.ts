// pure: how far apart the members of a match in the making are
import type { Candidate, CandidateCache } from './candidate-cache.js'
import { VALUES } from './columns.js'
import type { Comparison } from './comparison.js'
import type { MatchWaits } from './match-waits.js'
import type { Model } from './model.js'

export interface ExtentInput {
  readonly model: Model<never>
  readonly cache: CandidateCache
  readonly comparison: Comparison
  readonly waits: MatchWaits
  /** The cache index of each member. */
  readonly members: Int32Array
  readonly stride: number
  /** The most members. */
  readonly largest: number
}

/**
 * The greatest distance between two members, and the lowest and highest value of each span, of the first n + 1 members
 * at index n: so the last member can be dropped.
 */
export class Extent {
  /** Whether the first member is a running match. */
  isOpening = false
  readonly #input: ExtentInput
  readonly #spans: number
  readonly #farthest: Float64Array
  readonly #low: Float64Array
  readonly #high: Float64Array

  constructor(input: ExtentInput) {
    const { model, largest } = input
    this.#input = input
    this.#spans = model.spans.length
    this.#farthest = new Float64Array(largest)
    this.#low = new Float64Array(largest * this.#spans)
    this.#high = new Float64Array(largest * this.#spans)
  }

  /** Whether the column rules let a candidate join the first `count` members, as far as can be told before the end. */
  admits(candidate: Candidate, count: number): boolean {
    return this.#isNear(candidate, count) && this.#isAlike(candidate, count)
  }

  /** Whether the rules by the youngest, the oldest or the average hold for the first `count` members in the end. */
  isSound(count: number): boolean {
    const { model, waits } = this.#input
    const { radius, spans } = model
    const last = count - 1
    if (
      radius !== undefined &&
      radius.by !== 'each' &&
      (this.#farthest[last] as number) > (radius.squared[waits.levelOf(radius.by, count)] as number)
    )
      return false
    return spans.every(({ by, limit }, span) => {
      if (by === 'each') return true
      const widest = limit[waits.levelOf(by, count)] as number
      const at = last * this.#spans + span
      return this.#isWithin(span, this.#low[at] as number, this.#high[at] as number, widest)
    })
  }

  #isNear(candidate: Candidate, count: number): boolean {
    const { model, cache, comparison, waits, members } = this.#input
    const { radius } = model
    if (radius === undefined) return true
    const level = cache.level[candidate] as number
    const pairwise = radius.by === 'each' && !waits.isLastResort(count + 1)
    let wide = count === 0 ? 0 : (this.#farthest[count - 1] as number)
    for (let at = 0; at < count; at++) {
      const member = members[at] as Candidate
      const square = comparison.square(member, candidate)
      if (square > wide) wide = square
      if (pairwise && square > (radius.squared[Math.min(level, cache.level[member] as number)] as number)) return false
    }
    this.#farthest[count] = wide
    return pairwise || wide <= (radius.squared[waits.levelAtMost(radius.by, count + 1)] as number)
  }

  #isAlike(candidate: Candidate, count: number): boolean {
    const { model, waits } = this.#input
    const { spans } = model
    for (let span = 0; span < spans.length; span++) {
      const { by, limit } = spans[span] as (typeof spans)[number]
      const isAlike =
        by === 'each'
          ? this.#isAlikeEach(candidate, count, span, limit)
          : this.#isAlikeInAll(candidate, count, span, limit[waits.levelAtMost(by, count + 1)] as number)
      if (!isAlike) return false
    }
    return true
  }

  #isAlikeEach(candidate: Candidate, count: number, span: number, limit: Float64Array): boolean {
    const { model, cache, comparison, waits, members, stride } = this.#input
    if (waits.isLastResort(count + 1))
      return this.#isAlikeInAll(candidate, count, span, limit[model.lastResortLevel] as number)
    this.#widen(candidate, count, span)
    if (count === 0 && this.isOpening) return true
    const { rows, level: levels } = cache
    const level = levels[candidate] as number
    const value = candidate * stride + VALUES + 2 * span
    if ((rows[value + 1] as number) - (rows[value] as number) > (limit[level] as number)) return false
    for (let at = 0; at < count; at++) {
      const member = members[at] as Candidate
      const gap =
        at === 0 && this.isOpening
          ? comparison.gapToOpening(member, candidate, span)
          : comparison.gap(member, candidate, span)
      if (gap > (limit[Math.min(level, levels[member] as number)] as number)) return false
    }
    return true
  }

  #isAlikeInAll(candidate: Candidate, count: number, span: number, widest: number): boolean {
    const at = this.#widen(candidate, count, span)
    return (
      (count === 0 && this.isOpening) ||
      this.#isWithin(span, this.#low[at] as number, this.#high[at] as number, widest)
    )
  }

  /**
   * Writes the lowest and highest value of the members and the candidate; returns the index written. An opening's own
   * values do not count.
   */
  #widen(candidate: Candidate, count: number, span: number): number {
    const { cache, stride } = this.#input
    const to = count * this.#spans + span
    const before = to - this.#spans
    const value = candidate * stride + VALUES + 2 * span
    const isAlone = count === 0 && this.isOpening
    const least = isAlone ? Infinity : (cache.rows[value] as number)
    const greatest = isAlone ? -Infinity : (cache.rows[value + 1] as number)
    this.#low[to] = count === 0 ? least : Math.min(this.#low[before] as number, least)
    this.#high[to] = count === 0 ? greatest : Math.max(this.#high[before] as number, greatest)
    return to
  }

  #isWithin(span: number, low: number, high: number, widest: number): boolean {
    if (high - low > widest) return false
    if (!this.isOpening) return true
    const { rows } = this.#input.cache
    const value = VALUES + 2 * span
    return Math.max(high - (rows[value] as number), (rows[value + 1] as number) - low) <= widest
  }
}
