// pure: where the members of each match of a round are, to pass over the matches that are too far from a ticket
import { VALUES, X, Y, Z, type Columns } from './columns.js'
import type { Grouped, Slot } from './model.js'
import type { SearchScale } from './scales.js'

/** The place of the first member, how far others are from it, and the lowest and highest value of the first span. */
const PER_MATCH = 6
const AROUND = 3
const LOW = 4
const HIGH = 5
/** A margin for the rounding of squares and sums. */
const ROUNDING = 1 + 1e-9

/**
 * A ball and a range of values around the members of each match. Every match that a ticket is near to is found, and few
 * others.
 */
export class MatchBounds {
  readonly matches: readonly Grouped[]
  readonly #bounds: Float64Array
  readonly #columns: Columns
  readonly #hasValues: boolean

  constructor(matches: readonly Grouped[], columns: Columns, hasValues: boolean) {
    this.matches = matches
    this.#columns = columns
    this.#hasValues = hasValues
    this.#bounds = new Float64Array(PER_MATCH * matches.length)
    for (const [at, { slots }] of matches.entries()) this.#bound(at * PER_MATCH, slots)
  }

  /** The first match from `from` on with a member that may be near a ticket at a scale; their number if none is. */
  nextNear(slot: Slot, { chord, width }: Pick<SearchScale, 'chord' | 'width'>, from: number): number {
    const { rows, stride } = this.#columns
    const bounds = this.#bounds
    const own = slot * stride
    const x = rows[own + X] as number
    const y = rows[own + Y] as number
    const z = rows[own + Z] as number
    const low = this.#hasValues ? (rows[own + VALUES] as number) : 0
    const many = this.matches.length
    for (let at = from; at < many; at++) {
      const first = at * PER_MATCH
      if (low - (bounds[first + HIGH] as number) > width || (bounds[first + LOW] as number) - low > width) continue
      const dx = x - (bounds[first] as number)
      const dy = y - (bounds[first + 1] as number)
      const dz = z - (bounds[first + 2] as number)
      const within = chord + (bounds[first + AROUND] as number)
      // Where a place is unknown this is not a number, and the match is taken as near.
      if (dx * dx + dy * dy + dz * dz > within * within * ROUNDING) continue
      return at
    }
    return many
  }

  #bound(to: number, slots: readonly Slot[]): void {
    const { rows, stride } = this.#columns
    const bounds = this.#bounds
    const first = (slots[0] as Slot) * stride
    let farthest = 0
    let [low, high] = [Infinity, -Infinity]
    for (const slot of slots) {
      const row = slot * stride
      const dx = (rows[row + X] as number) - (rows[first + X] as number)
      const dy = (rows[row + Y] as number) - (rows[first + Y] as number)
      const dz = (rows[row + Z] as number) - (rows[first + Z] as number)
      farthest = Math.max(farthest, dx * dx + dy * dy + dz * dz)
      const value = this.#hasValues ? (rows[row + VALUES] as number) : 0
      // A ticket that matches any value is near every other.
      low = Math.min(low, value === Infinity ? -Infinity : value)
      high = Math.max(high, value)
    }
    for (let axis = 0; axis < AROUND; axis++) bounds[to + axis] = rows[first + X + axis] as number
    bounds[to + AROUND] = Math.sqrt(farthest)
    bounds[to + LOW] = low
    bounds[to + HIGH] = high
  }
}
