// pure: the comparison of two tickets: how far apart they are, whether that is within their limits, what it costs
import { VALUES, X, Y, Z, type Columns } from './columns.js'
import type { Model, Slot } from './model.js'

/** Compares tickets by the column rules. Reads `columns.level`, which must be up to date. */
export class Compare {
  /** The units of distances and differences: the strictest finite limits above 0; 1 where there is none. */
  readonly chordUnit: number
  readonly spanUnit: number
  readonly #columns: Columns
  readonly #stride: number
  readonly #spans: number
  readonly #limits: readonly Float64Array[]
  readonly #squared: Float64Array | undefined
  readonly #unknownIsNear: boolean

  constructor({ radius, spans }: Model<never>, columns: Columns) {
    const strictest = (limits: Float64Array | undefined) => limits?.find((limit) => limit > 0 && limit < Infinity) ?? 1
    this.chordUnit = Math.sqrt(strictest(radius?.squared))
    this.spanUnit = strictest(spans[0]?.limit)
    this.#columns = columns
    this.#stride = columns.stride
    this.#spans = spans.length
    this.#limits = spans.map(({ limit }) => limit)
    this.#squared = radius?.squared
    this.#unknownIsNear = radius?.unknown === 'any'
  }

  /**
   * The distance and the difference (first span), each in units of its strictest limit, added up; less is a better fit.
   * An unknown distance or difference counts 1.
   */
  cost(one: Slot, other: Slot): number {
    const { rows } = this.#columns
    const a = one * this.#stride
    const b = other * this.#stride
    let cost = 0
    if (this.#squared !== undefined) {
      const dx = (rows[a + X] as number) - (rows[b + X] as number)
      const dy = (rows[a + Y] as number) - (rows[b + Y] as number)
      const dz = (rows[a + Z] as number) - (rows[b + Z] as number)
      const apart = Math.sqrt(dx * dx + dy * dy + dz * dz) / this.chordUnit
      cost = Number.isNaN(apart) ? 1 : apart
    }
    if (this.#spans === 0) return cost
    const gap = Math.abs((rows[a + VALUES] as number) - (rows[b + VALUES] as number)) / this.spanUnit
    return cost + (gap < Infinity ? gap : 1)
  }

  /** The squared chord. Where a place is unknown: 0 (near) or Infinity. */
  square(one: Slot, other: Slot): number {
    const { rows, network } = this.#columns
    const a = one * this.#stride
    const b = other * this.#stride
    const dx = (rows[a + X] as number) - (rows[b + X] as number)
    const dy = (rows[a + Y] as number) - (rows[b + Y] as number)
    const dz = (rows[a + Z] as number) - (rows[b + Z] as number)
    const square = dx * dx + dy * dy + dz * dz
    if (!Number.isNaN(square)) return square
    return this.#unknownIsNear || (network[one] !== -1 && network[one] === network[other]) ? 0 : Infinity
  }

  /** The greatest difference among the values of two tickets in one span; their own ranges count too. */
  gap(one: Slot, other: Slot, span: number): number {
    const { rows } = this.#columns
    const a = one * this.#stride + VALUES + 2 * span
    const b = other * this.#stride + VALUES + 2 * span
    const high = Math.max(rows[a + 1] as number, rows[b + 1] as number)
    return high - Math.min(rows[a] as number, rows[b] as number)
  }

  /** The same to a running match: the differences within it do not count against the ticket. */
  gapToOpening(opening: Slot, ticket: Slot, span: number): number {
    const { rows } = this.#columns
    const a = opening * this.#stride + VALUES + 2 * span
    const b = ticket * this.#stride + VALUES + 2 * span
    return Math.max((rows[b + 1] as number) - (rows[a] as number), (rows[a + 1] as number) - (rows[b] as number))
  }

  /** Whether two tickets keep all column rules at the lower of their levels: for rules that compare `each` pair. */
  agree(one: Slot, other: Slot): boolean {
    const { level: levels } = this.#columns
    const level = Math.min(levels[one] as number, levels[other] as number)
    for (let span = 0; span < this.#spans; span++)
      if (this.gap(one, other, span) > ((this.#limits[span] as Float64Array)[level] as number)) return false
    return this.#squared === undefined || this.square(one, other) <= (this.#squared[level] as number)
  }

  /** The width of a ticket's own range. */
  ownGap(slot: Slot, span: number): number {
    const at = slot * this.#stride + VALUES + 2 * span
    return (this.#columns.rows[at + 1] as number) - (this.#columns.rows[at] as number)
  }
}
