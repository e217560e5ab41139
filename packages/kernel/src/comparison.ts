// pure: distances and differences between two candidates
import type { Candidate, CandidateCache } from './candidate-cache.js'
import { VALUES, X, Y, Z, type Columns } from './columns.js'
import type { Model, Slot } from './model.js'

/** Compares candidates by their rows in the cache. */
export class Comparison {
  readonly #columns: Columns
  readonly #cache: CandidateCache
  readonly #stride: number
  readonly #spans: number
  readonly #limits: readonly Float64Array[]
  readonly #squared: Float64Array | undefined
  readonly #unknownIsNear: boolean

  constructor({ radius, spans }: Model<never>, columns: Columns, cache: CandidateCache) {
    this.#columns = columns
    this.#cache = cache
    this.#stride = columns.stride
    this.#spans = spans.length
    this.#limits = spans.map(({ limit }) => limit)
    this.#squared = radius?.squared
    this.#unknownIsNear = radius?.unknown === 'any'
  }

  /** The squared chord between two candidates. */
  square(one: Candidate, other: Candidate): number {
    const { rows } = this.#cache
    const a = one * this.#stride
    const b = other * this.#stride
    const dx = (rows[a + X] as number) - (rows[b + X] as number)
    const dy = (rows[a + Y] as number) - (rows[b + Y] as number)
    const dz = (rows[a + Z] as number) - (rows[b + Z] as number)
    const square = dx * dx + dy * dy + dz * dz
    return Number.isNaN(square)
      ? this.#squareUnknown(this.#cache.slots[one] as Slot, this.#cache.slots[other] as Slot)
      : square
  }

  /** Stands in for the squared chord where a place is unknown: 0 (near) or Infinity. */
  #squareUnknown(one: Slot, other: Slot): number {
    if (this.#unknownIsNear) return 0
    const network = this.#columns.network[one] as number
    return network !== -1 && network === this.#columns.network[other] ? 0 : Infinity
  }

  /** The greatest difference among the values of two candidates in one span; their own ranges count too. */
  gap(one: Candidate, other: Candidate, span: number): number {
    const { rows } = this.#cache
    const value = VALUES + 2 * span
    const least = rows[one * this.#stride + value] as number
    const most = rows[one * this.#stride + value + 1] as number
    const low = rows[other * this.#stride + value] as number
    const high = rows[other * this.#stride + value + 1] as number
    return (high > most ? high : most) - (low < least ? low : least)
  }

  /**
   * The greatest difference between a running match and a candidate in one span. The differences within the running
   * match do not count against the candidate.
   */
  gapToOpening(opening: Candidate, candidate: Candidate, span: number): number {
    const { rows } = this.#cache
    const value = VALUES + 2 * span
    const least = rows[opening * this.#stride + value] as number
    const most = rows[opening * this.#stride + value + 1] as number
    const low = rows[candidate * this.#stride + value] as number
    const high = rows[candidate * this.#stride + value + 1] as number
    return Math.max(high - least, most - low)
  }

  /** Whether two candidates keep the column rules together. Only for models whose rules all compare `each` pair. */
  agree(one: Candidate, other: Candidate, oneIsOpening: boolean): boolean {
    const { level: levels } = this.#cache
    const level = Math.min(levels[one] as number, levels[other] as number)
    const spans = this.#spans
    for (let span = 0; span < spans; span++) {
      const gap = oneIsOpening ? this.gapToOpening(one, other, span) : this.gap(one, other, span)
      if (gap > ((this.#limits[span] as Float64Array)[level] as number)) return false
    }
    return this.#squared === undefined || this.square(one, other) <= (this.#squared[level] as number)
  }

  /**
   * Whether a candidate's own ranges keep the difference rules. Only for models whose rules all compare `each` pair.
   */
  isEven(candidate: Candidate): boolean {
    const level = this.#cache.level[candidate] as number
    for (let span = 0; span < this.#spans; span++) {
      const value = candidate * this.#stride + VALUES + 2 * span
      const own = (this.#cache.rows[value + 1] as number) - (this.#cache.rows[value] as number)
      if (own > ((this.#limits[span] as Float64Array)[level] as number)) return false
    }
    return true
  }
}
