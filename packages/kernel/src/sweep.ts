// pure: tickets in an order in which those that may be matched are near each other
import { VALUES, X, Z, type Columns } from './columns.js'
import type { Levels } from './levels.js'
import type { Model, Slot } from './model.js'

/** A number of each ticket, and how far those of two tickets that may be matched are from each other at most. */
interface Axis {
  /** Infinity: near any. */
  of(slot: Slot): number
  /** At each level of relaxation. */
  reachAt(level: number): number
}

/** By no greater part of a number is a sum or difference rounded, with a margin. */
const ROUNDED = 2 ** -48

/**
 * Tickets along the axis (a value, or how far north they are) on which the fewest are near each other. Without any axis
 * all are.
 */
export class Sweep {
  slots: Int32Array = new Int32Array(0)
  /** For each ticket the position in `slots` at which those end that it may be matched with; they begin after it. */
  ends: Int32Array = new Int32Array(0)
  /** Pairs of tickets that are near each other. */
  pairs = 0
  readonly #levels: Levels
  readonly #axes: readonly Axis[]

  /** For models whose rules all compare two and two. */
  constructor({ radius, spans }: Model<never>, columns: Columns, levels: Levels) {
    this.#levels = levels
    const numberAt = (slot: Slot, at: number) => columns.rows[slot * columns.stride + at] as number
    const alongValues = spans.map(({ limit }, span): Axis => ({
      of: (slot) => numberAt(slot, VALUES + 2 * span),
      reachAt: (level) => limit[level] as number,
    }))
    const northwards: Axis = {
      of: (slot) => (Number.isNaN(numberAt(slot, X)) ? Infinity : numberAt(slot, Z)),
      reachAt: (level) => Math.sqrt(radius?.squared[level] as number),
    }
    this.#axes = radius === undefined ? alongValues : [...alongValues, northwards]
  }

  /**
   * Puts tickets in order; those that are equal stay in the order given. False, and nothing is done, if more pairs than
   * this are near each other on every axis.
   */
  arrange(slots: Int32Array, most: number): boolean {
    const level = slots.reduce((highest, slot) => Math.max(highest, this.#levels.of(slot)), 0)
    this.pairs = Infinity
    let positions = new Float64Array(0)
    for (const { of, reachAt } of this.#axes) {
      const along = Float64Array.from(slots, of)
      const ends = endsOf(along.toSorted(), reachAt(level))
      const pairs = ends.reduce((sum, end, at) => sum + end - at - 1, 0)
      if (pairs >= this.pairs) continue
      positions = along
      this.pairs = pairs
      this.ends = ends
    }
    if (this.pairs > most) return false
    const inOrder = Int32Array.from(slots.keys()).toSorted((one, other) =>
      positions[one] === positions[other] ? one - other : (positions[one] as number) - (positions[other] as number),
    )
    this.slots = inOrder.map((each) => slots[each] as Slot)
    return true
  }
}

/** For each of the sorted numbers the position of the first that is out of reach; those near any come last. */
function endsOf(sorted: Float64Array, reach: number): Int32Array {
  const ends = new Int32Array(sorted.length).fill(sorted.length)
  if (sorted.at(-1) === Infinity) return ends
  for (let at = 0, end = 0; at < sorted.length; at++) {
    const last = (sorted[at] as number) + reach + (reach + Math.abs(sorted[at] as number)) * ROUNDED
    while (end < sorted.length && (sorted[end] as number) <= last) end += 1
    ends[at] = end
  }
  return ends
}
