// pure: compares two tickets: how far apart they are, whether that is within their limits, and its cost
import { VALUES, X, Y, Z, type Columns } from './columns.js'
import type { Model, Slot } from './model.js'

/** The index of the distance among the dimensions of a match. The spans follow. */
export const DISTANCE = 0

/**
 * Compares tickets by the column rules. A dimension is either the distance (as a squared chord) or a span. Reads
 * `columns.level`, which must be up to date.
 */
export class Compare {
  /** Cost of a unit of the chord and of each span: its weight divided by the strictest finite limit above 0. */
  readonly perChord: number
  readonly perSpan: readonly number[]
  /** Cost of an unknown distance and of an unknown value of each span: its weight. */
  readonly #unknownPlace: number
  readonly #unknownValue: readonly number[]
  readonly #columns: Columns
  readonly #stride: number
  readonly #limits: readonly Float64Array[]
  readonly #squared: Float64Array | undefined
  readonly #unknownIsNear: boolean
  /** The spans beyond the first that have a cost. */
  readonly #further: readonly number[]

  constructor({ radius, spans, prefer = {} }: Pick<Model<never>, 'radius' | 'spans' | 'prefer'>, columns: Columns) {
    const strictest = (limits: Float64Array | undefined) => limits?.find((limit) => limit > 0 && limit < Infinity) ?? 1
    this.#unknownPlace = prefer.distance ?? 1
    this.#unknownValue = spans.map((_, at) => prefer.spans?.[at] ?? (at === 0 ? 1 : 0))
    this.perChord = radius === undefined ? 0 : this.#unknownPlace / Math.sqrt(strictest(radius.squared))
    this.perSpan = spans.map(({ limit }, at) => (this.#unknownValue[at] as number) / strictest(limit))
    this.#further = this.perSpan.flatMap((weight, at) => (at > 0 && weight > 0 ? [at] : []))
    this.#columns = columns
    this.#stride = columns.stride
    this.#limits = spans.map(({ limit }) => limit)
    this.#squared = radius?.squared
    this.#unknownIsNear = radius?.unknown === 'any'
  }

  /**
   * Returns the weighted sum of the distance and the differences, each in units of its strictest limit. A lower cost is
   * a better fit. An unknown distance or difference counts as one unit.
   */
  cost(one: Slot, other: Slot): number {
    const { rows } = this.#columns
    const a = one * this.#stride
    const b = other * this.#stride
    let cost = 0
    if (this.perChord > 0) {
      const dx = (rows[a + X] as number) - (rows[b + X] as number)
      const dy = (rows[a + Y] as number) - (rows[b + Y] as number)
      const dz = (rows[a + Z] as number) - (rows[b + Z] as number)
      const apart = Math.sqrt(dx * dx + dy * dy + dz * dz) * this.perChord
      cost = Number.isNaN(apart) ? this.#unknownPlace : apart
    }
    if (this.perSpan.length > 0) cost += this.#costOf(a, b, 0)
    for (const span of this.#further) cost += this.#costOf(a, b, span)
    return cost
  }

  #costOf(a: number, b: number, span: number): number {
    const { rows } = this.#columns
    const at = VALUES + 2 * span
    const gap = Math.abs((rows[a + at] as number) - (rows[b + at] as number))
    return gap < Infinity ? gap * (this.perSpan[span] as number) : (this.#unknownValue[span] as number)
  }

  /** Returns how far two tickets are apart in a dimension. With an unknown location: 0 (near) or Infinity. */
  apart(dimension: number, one: Slot, other: Slot): number {
    const { rows, network } = this.#columns
    const a = one * this.#stride
    const b = other * this.#stride
    if (dimension !== DISTANCE) {
      // Measure the range over both tickets, because each ticket may have a range of values.
      const at = VALUES + 2 * (dimension - 1)
      const high = Math.max(rows[a + at + 1] as number, rows[b + at + 1] as number)
      return high - Math.min(rows[a + at] as number, rows[b + at] as number)
    }
    const dx = (rows[a + X] as number) - (rows[b + X] as number)
    const dy = (rows[a + Y] as number) - (rows[b + Y] as number)
    const dz = (rows[a + Z] as number) - (rows[b + Z] as number)
    const square = dx * dx + dy * dy + dz * dz
    if (!Number.isNaN(square)) return square
    return this.#unknownIsNear || (network[one] !== -1 && network[one] === network[other]) ? 0 : Infinity
  }

  /** Like `apart`, for a running match and a ticket. Differences within the match do not count against the ticket. */
  apartFromOpening(dimension: number, opening: Slot, ticket: Slot): number {
    if (dimension === DISTANCE) return this.apart(DISTANCE, opening, ticket)
    const { rows } = this.#columns
    const a = opening * this.#stride + VALUES + 2 * (dimension - 1)
    const b = ticket * this.#stride + VALUES + 2 * (dimension - 1)
    return Math.max((rows[b + 1] as number) - (rows[a] as number), (rows[a + 1] as number) - (rows[b] as number))
  }

  /** Returns the width of a ticket's own range in a dimension. */
  width(dimension: number, slot: Slot): number {
    if (dimension === DISTANCE) return 0
    const at = slot * this.#stride + VALUES + 2 * (dimension - 1)
    return (this.#columns.rows[at + 1] as number) - (this.#columns.rows[at] as number)
  }

  /**
   * True if two tickets keep all column rules at the lower of their levels. Used for rules that compare `each` pair.
   */
  agree(one: Slot, other: Slot): boolean {
    const { level: levels } = this.#columns
    const level = Math.min(levels[one] as number, levels[other] as number)
    for (let span = 0; span < this.#limits.length; span++)
      if (this.apart(span + 1, one, other) > ((this.#limits[span] as Float64Array)[level] as number)) return false
    return this.#squared === undefined || this.apart(DISTANCE, one, other) <= (this.#squared[level] as number)
  }
}
