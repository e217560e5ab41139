// pure: the waits of the members of a match in the making, and the level that counts for each rule
import type { Candidate, CandidateCache } from './candidate-cache.js'
import { SINCE } from './columns.js'
import { levelAt } from './level-at.js'
import type { Levels } from './levels.js'
import type { MatchLevels, Model } from './model.js'

export type WaitOf = 'each' | 'youngest' | 'oldest' | 'average'

/** Waits and levels of the first n + 1 members, kept at index n, so that the last member can be dropped. */
export class MatchWaits {
  readonly #levels: Levels
  readonly #table: Float64Array
  readonly #lastResort: number
  readonly #cache: CandidateCache
  readonly #stride: number
  readonly #youngest: Uint8Array
  readonly #oldest: Uint8Array
  /** Sums of waits; where limits adapt, of levels: those are what their average is made from. */
  readonly #sum: Float64Array
  readonly #adapts: boolean
  readonly #longest: Float64Array
  /** The highest level, that of last resort aside, that any member may have in the end. */
  #ceiling = 0

  constructor(
    { levels: table, lastResortLevel, adaptive }: Pick<Model<never>, 'levels' | 'lastResortLevel' | 'adaptive'>,
    levels: Levels,
    cache: CandidateCache,
    stride: number,
    largest: number,
  ) {
    this.#table = table
    this.#lastResort = lastResortLevel
    this.#levels = levels
    this.#cache = cache
    this.#stride = stride
    this.#youngest = new Uint8Array(largest)
    this.#oldest = new Uint8Array(largest)
    this.#sum = new Float64Array(largest)
    this.#adapts = adaptive === true
    this.#longest = new Float64Array(largest)
  }

  /** Declares that any ticket may still join. */
  expectAnybody(): void {
    this.#ceiling = Math.max(0, this.#table.length - (this.#lastResort === Infinity ? 1 : 2))
  }

  /** Declares that only the first `count` of these candidates may still join the first `members` members. */
  expect(candidates: Int32Array, count: number, members: number): void {
    let highest = 0
    for (let at = 0; at < members; at++)
      highest = Math.max(highest, (this.#oldest[at] as number) < this.#lastResort ? (this.#oldest[at] as number) : 0)
    for (let at = 0; at < count; at++) {
      const level = this.#cache.level[candidates[at] as Candidate] as number
      if (level > highest && level < this.#lastResort) highest = level
    }
    this.#ceiling = highest
  }

  waitOf(candidate: Candidate): number {
    return this.#levels.now - (this.#cache.rows[candidate * this.#stride + SINCE] as number)
  }

  /** Records the waits of the first `count` members and the candidate. */
  note(candidate: Candidate, count: number): void {
    const level = this.#cache.level[candidate] as number
    const waits = this.waitOf(candidate)
    const before = count - 1
    this.#youngest[count] = count === 0 ? level : Math.min(level, this.#youngest[before] as number)
    this.#oldest[count] = count === 0 ? level : Math.max(level, this.#oldest[before] as number)
    const counts = this.#adapts ? level : waits
    this.#sum[count] = count === 0 ? counts : counts + (this.#sum[before] as number)
    this.#longest[count] = count === 0 ? waits : Math.max(waits, this.#longest[before] as number)
  }

  /** The longest wait of the first `all` members, in milliseconds. */
  longest(all: number): number {
    return this.#longest[all - 1] as number
  }

  isLastResort(all: number): boolean {
    return (this.#oldest[all - 1] as number) >= this.#lastResort
  }

  /** The level that counts for a rule about the whole match, with the first `all` members. */
  levelOf(by: WaitOf, all: number): number {
    if (this.isLastResort(all)) return this.#lastResort
    if (by === 'oldest') return this.#oldest[all - 1] as number
    if (by === 'average') {
      const average = (this.#sum[all - 1] as number) / all
      return this.#adapts ? Math.floor(average) : levelAt(this.#table, average)
    }
    return this.#youngest[all - 1] as number
  }

  /** The loosest level that may count for the rule as others join. */
  levelAtMost(by: WaitOf, all: number): number {
    const level = this.levelOf(by === 'average' ? 'oldest' : by, all)
    return (by === 'oldest' || by === 'average') && level < this.#ceiling ? this.#ceiling : level
  }

  all(count: number): MatchLevels {
    return {
      youngest: this.levelOf('youngest', count),
      oldest: this.levelOf('oldest', count),
      average: this.levelOf('average', count),
      now: this.#levels.now,
    }
  }
}
