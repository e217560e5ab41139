// pure: the numbers of many tickets side by side, to compare two of them
import { VALUES, X, type Columns } from './columns.js'
import type { Levels } from './levels.js'
import type { Model, Slot } from './model.js'
import { units } from './scales.js'

/** The index of a ticket's rows. */
export type Id = number

/** In a row the place comes first, then low and high of each span. */
const VALUES_AT = 3

/**
 * Copies of tickets, for rules that all compare `each` pair, and tickets that have a place and values. A model without
 * difference rules has one without a limit, and values of 0.
 */
export class TicketRows {
  /** `stride` numbers for each ticket. */
  rows = new Float64Array(0)
  level = new Uint8Array(0)
  readonly stride: number
  /** For each span the limit of each level. */
  readonly limits: readonly Float64Array[]
  /** That of the first span. */
  readonly limit: Float64Array
  /** Whether there are more spans. */
  readonly hasFurther: boolean
  /** The greatest squared chord of each level. */
  readonly squared: Float64Array
  /** The units of cost: see `cost.ts`. */
  readonly perChord: number
  readonly perWidth: number
  readonly #hasPlaces: boolean
  readonly #spans: number
  readonly #columns: Columns
  readonly #levels: Levels

  constructor(model: Model<never>, columns: Columns, levels: Levels) {
    const anything = new Float64Array(model.levels.length).fill(Infinity)
    const [first = { limit: anything }, ...further] = model.spans
    const unit = units(model)
    this.limits = [first.limit, ...further.map(({ limit }) => limit)]
    this.limit = first.limit
    this.hasFurther = further.length > 0
    this.squared = model.radius?.squared ?? anything
    this.stride = VALUES_AT + 2 * this.limits.length
    this.#hasPlaces = model.radius !== undefined
    this.#spans = model.spans.length
    this.perChord = this.#hasPlaces ? 1 / unit.chord : 0
    this.perWidth = 1 / unit.width
    this.#columns = columns
    this.#levels = levels
  }

  bytes(): number {
    return this.rows.byteLength + this.level.byteLength
  }

  /** Whether all tickets have a place, and a value for each span. */
  areKnown(slots: Int32Array): boolean {
    const { rows, stride } = this.#columns
    for (let at = 0; at < slots.length; at++) {
      const row = (slots[at] as Slot) * stride
      if (this.#hasPlaces && Number.isNaN(rows[row + X] as number)) return false
      for (let span = 0; span < this.#spans; span++) if (rows[row + VALUES + 2 * span] === Infinity) return false
    }
    return true
  }

  /** Replaces the tickets by the first `count` of the slots. */
  fill(slots: Int32Array, count: number): void {
    const { rows: from, stride: apart } = this.#columns
    const { stride } = this
    if (this.level.length < count) {
      this.level = new Uint8Array(count)
      this.rows = new Float64Array(count * stride)
    }
    for (let id = 0; id < count; id++) {
      const slot = slots[id] as Slot
      this.level[id] = this.#levels.of(slot)
      this.#copy(from, slot * apart, id * stride)
    }
  }

  /** Copies the place and the values of a ticket. A function of its own, so that V8 compiles it once. */
  #copy(from: Float64Array, row: number, to: number): void {
    const { rows } = this
    const values = 2 * this.#spans
    if (this.#hasPlaces) {
      rows[to] = from[row + X] as number
      rows[to + 1] = from[row + X + 1] as number
      rows[to + 2] = from[row + X + 2] as number
    }
    for (let at = 0; at < values; at++) rows[to + VALUES_AT + at] = from[row + VALUES + at] as number
  }

  /** Whether the values of the ticket's own players keep the rules. */
  isEven(id: Id): boolean {
    const level = this.level[id] as number
    return this.limits.every((limit, span) => {
      const at = id * this.stride + VALUES_AT + 2 * span
      return (this.rows[at + 1] as number) - (this.rows[at] as number) <= (limit[level] as number)
    })
  }

  /** Whether two tickets keep the limits of the spans after the first at a level. */
  agreeFurther(one: Id, other: Id, level: number): boolean {
    const { rows, stride, limits } = this
    for (let span = 1; span < limits.length; span++) {
      const a = one * stride + VALUES_AT + 2 * span
      const b = other * stride + VALUES_AT + 2 * span
      const high = Math.max(rows[a + 1] as number, rows[b + 1] as number)
      const low = Math.min(rows[a] as number, rows[b] as number)
      if (high - low > ((limits[span] as Float64Array)[level] as number)) return false
    }
    return true
  }

  /**
   * Writes to `fitting` which of the tickets `wanted` may be matched with the one at `at`; both are sets of positions
   * in `ids`, a bit for each. Gives up, and returns false, once those that may not have more than `spare` players.
   */
  compare(ids: Int32Array, sizes: Uint16Array, at: number, wanted: Int32Array, fitting: Int32Array, spare: number) {
    const { rows, level: levels, squared, limit, hasFurther, stride } = this
    const one = ids[at] as Id
    const own = one * stride
    const x = rows[own] as number
    const y = rows[own + 1] as number
    const z = rows[own + 2] as number
    const low = rows[own + 3] as number
    const high = rows[own + 4] as number
    const level = levels[one] as number
    let left = spare
    // The last fit worst: so it shows soonest that too many may not.
    for (let word = wanted.length - 1; word >= 0; word--) {
      const all = wanted[word] as number
      let apart = 0
      for (let bits = all; bits !== 0;) {
        const place = 31 - Math.clz32(bits)
        const bit = 1 << place
        bits ^= bit
        const next = 32 * word + place
        const other = ids[next] as Id
        const otherLevel = levels[other] as number
        const between = level < otherLevel ? level : otherLevel
        const row = other * stride
        const dx = x - (rows[row] as number)
        const dy = y - (rows[row + 1] as number)
        const dz = z - (rows[row + 2] as number)
        const otherLow = rows[row + 3] as number
        const otherHigh = rows[row + 4] as number
        const gap = (high > otherHigh ? high : otherHigh) - (low < otherLow ? low : otherLow)
        if (
          gap <= (limit[between] as number) &&
          dx * dx + dy * dy + dz * dz <= (squared[between] as number) &&
          !(hasFurther && !this.agreeFurther(one, other, between))
        )
          continue
        apart |= bit
        left -= sizes[next] as number
        if (left < 0) return false
      }
      fitting[word] = all & ~apart
    }
    return true
  }
}
