// pure: pairs of tickets that are neighbours in the sort order, each the other's best partner there
import { COARSE, LEVEL, RECORD, SLOT, type CurveOrder } from './curve-order.js'
import type { Model, Slot } from './model.js'
import { units } from './scales.js'

/** Each ticket is compared with so many that are sorted after it. */
const WINDOW = 4
/** How often the tickets left over look for each other. */
const TURNS = 2
/** Numbers per ticket in `points`: place and value in units of the strictest limits. */
const PARTS = 4
const NORTH = 0
const EAST = 1
const COSINE = 2
const VALUE = 3
/** A value that no other is near to, for tickets that match any: searches are better for these. */
const ANY = 2 ** 16
/** A place too far from all others, in limits. */
const NOWHERE = 2 ** 17
/**
 * Costs are compared as integers, in such parts of a limit: the least of two integers takes no branch, and half of the
 * branches would be mispredicted. The lower two bits say which of the next tickets the cost is of.
 */
const STEPS = 1024
const MOST_STEPS = 2 ** 30
/** Steps by which limits are widened, as rounded numbers are compared; `may` then decides exactly. */
const MARGIN = 2

/** In units of the strictest limits. */
export const GREATEST_COST = 2 ** 19

/** How the tickets of a pass are paired. */
export interface PairTerms {
  /** The cost that a pair stays below. */
  readonly most: number
  /**
   * Whether a cost below `most` proves that two tickets keep the rules, whoever they are. Costs start again from 0 at
   * `GREATEST_COST`, so none may reach it then.
   */
  readonly certain: boolean
  /** Whether two tickets keep the rules; asked of each pair found, where the cost proves nothing. */
  may(one: Slot, other: Slot): boolean
}

export interface PairScan {
  /**
   * Pairs tickets of the opened records from `first` to `end` in the order. Writes the slots of each pair, one after
   * the other, to `into`; returns how many slots.
   */
  run(first: number, end: number, terms: PairTerms, into: Int32Array): number
}

/** @param longest the greatest number of tickets of one scan. */
export function createPairScan(model: Model<never>, sorted: CurveOrder, longest: number): PairScan {
  const { radius, spans } = model
  const unit = units(model)
  const perRadian = radius === undefined ? 0 : 1 / unit.chord
  const perTurn = 2 * Math.PI * perRadian
  const perValue = spans.length === 0 ? 0 : 1 / unit.width
  const farthest = Int32Array.from(model.levels, (_, level) =>
    limitOf(Math.sqrt(radius?.squared[level] ?? 0) * perRadian),
  )
  const widest = Int32Array.from(model.levels, (_, level) => limitOf((spans[0]?.limit[level] ?? 0) * perValue))
  const points = new Float64Array(PARTS * (longest + WINDOW))
  const best = new Int32Array(longest + WINDOW)
  const slots = new Int32Array(longest)
  const limits = new Int32Array(2 * (longest + WINDOW))

  /** Copies what the comparison needs, side by side. */
  const read = (first: number, count: number): void => {
    const { records, integers, order } = sorted
    for (let at = 0; at < count; at++) {
      const record = RECORD * (order[first + at] as number)
      const point = PARTS * at
      slots[at] = integers[record + SLOT] as Slot
      if (perRadian > 0) {
        points[point + NORTH] = (records[record + COARSE] as number) * perRadian
        points[point + EAST] = (records[record + COARSE + 1] as number) * perTurn
        points[point + COSINE] = records[record + COARSE + 3] as number
      } else points.fill(0, point, point + PARTS)
      const value = records[record + COARSE + 2] as number
      const level = records[record + LEVEL] as number
      points[point + VALUE] = value === Infinity ? ANY : value * perValue
      limits[2 * at] = farthest[level] as number
      limits[2 * at + 1] = widest[level] as number
    }
  }

  return {
    run: (first, end, terms, into) => {
      let count = end - first
      let paired = 0
      read(first, count)
      for (let turn = 0; turn < TURNS && count > 1; turn++) {
        for (let next = PARTS * count; next < PARTS * (count + WINDOW); next++)
          points[next] = next % PARTS === NORTH ? NOWHERE : (points[next - PARTS] as number)
        if (terms.certain) look(count, points, stepsOf(terms), best)
        else lookWithin(count, points, limits, stepsOf(terms), best)
        const found = pick(count, points, limits, best, slots, terms, into, paired)
        paired += found
        count -= found
        if (found === 0) break
      }
      return paired
    },
  }
}

/** The cost that a pair stays below, as `costOf` counts. As a proof it is two steps less, as costs are rounded down. */
const stepsOf = ({ most, certain }: PairTerms): number =>
  Math.min(MOST_STEPS, 4 * (certain ? Math.floor(STEPS * most) - 2 : Math.ceil(STEPS * most)))
const limitOf = (limit: number): number => Math.min(MOST_STEPS, Math.ceil(STEPS * limit) + MARGIN)

/** The distance of two tickets, never less than the chord: with Δ for differences, chord² ≤ Δlat² + cos·cos·Δlon². */
function apart(points: Float64Array, one: number, other: number): number {
  const north = (points[other + NORTH] as number) - (points[one + NORTH] as number)
  const east = (points[other + EAST] as number) - (points[one + EAST] as number)
  const cosines = (points[other + COSINE] as number) * (points[one + COSINE] as number)
  return Math.sqrt(north * north + cosines * east * east)
}
const gap = (points: Float64Array, one: number, other: number): number =>
  Math.abs((points[other + VALUE] as number) - (points[one + VALUE] as number))

/**
 * The cost of matching a ticket with the one `next` after it, in steps, and `next` − 1 in the lower two bits. Written
 * out, as V8 inlines no calls of calls where it is used.
 */
function costOf(points: Float64Array, at: number, next: number): number {
  const other = at + PARTS * next
  const north = (points[other + NORTH] as number) - (points[at + NORTH] as number)
  const east = (points[other + EAST] as number) - (points[at + EAST] as number)
  const cosines = (points[other + COSINE] as number) * (points[at + COSINE] as number)
  const distance = (STEPS * Math.sqrt(north * north + cosines * east * east)) | 0
  const difference = (STEPS * Math.abs((points[other + VALUE] as number) - (points[at + VALUE] as number))) | 0
  return ((distance + difference) << 2) | (next - 1)
}

const lesser = (one: number, other: number): number => {
  const by = (one - other) | 0
  return (other + (by & (by >> 31))) | 0
}

/** Writes to `best` the least cost of each ticket with the four before and after it, at most `most`. */
function look(count: number, points: Float64Array, most: number, best: Int32Array): void {
  // The least costs so far of this ticket and of the next three.
  let [own, second, third, fourth] = [most, most, most, most]
  for (let one = 0; one < count; one++) {
    const at = PARTS * one
    const a = costOf(points, at, 1)
    const b = costOf(points, at, 2)
    const c = costOf(points, at, 3)
    const d = costOf(points, at, 4)
    best[one] = lesser(lesser(own, lesser(a, b)), lesser(c, d))
    own = lesser(second, a)
    second = lesser(third, b)
    third = lesser(fourth, c)
    fourth = lesser(most, d)
  }
}

/** `look` for tickets that may be beyond each other's limits; two such cost `MOST_STEPS`. */
function lookWithin(count: number, points: Float64Array, limits: Int32Array, most: number, best: Int32Array): void {
  best.fill(most, 0, count + WINDOW)
  for (let one = 0; one < count; one++) {
    const at = PARTS * one
    const farthest = limits[2 * one] as number
    const widest = limits[2 * one + 1] as number
    let least = best[one] as number
    for (let next = 1; next <= WINDOW; next++) {
      const distance = (STEPS * apart(points, at, at + PARTS * next)) | 0
      const difference = (STEPS * gap(points, at, at + PARTS * next)) | 0
      // Negative if one of the limits is exceeded.
      const left =
        (lesser(farthest, limits[2 * (one + next)] as number) - distance) |
        (lesser(widest, limits[2 * (one + next) + 1] as number) - difference)
      const cost = ((distance + difference) << 2) | (next - 1) | ((left >> 31) & MOST_STEPS)
      least = lesser(least, cost)
      best[one + next] = lesser(best[one + next] as number, cost)
    }
    best[one] = least
  }
}

/** Moves pairs that are each other's best to `into` and those left over to the front; returns how many are paired. */
function pick(
  count: number,
  points: Float64Array,
  limits: Int32Array,
  best: Int32Array,
  slots: Int32Array,
  terms: PairTerms,
  into: Int32Array,
  from: number,
): number {
  const { certain, may } = terms
  const dearest = stepsOf(terms)
  let to = from
  let left = 0
  for (let one = 0; one < count; one++) {
    const least = best[one] as number
    if (least === TAKEN) continue
    const next = (least & 3) + 1
    const other = one + next
    if (
      least < dearest &&
      other < count &&
      best[other] === least &&
      costOf(points, PARTS * one, next) === least &&
      (certain || may(slots[one] as Slot, slots[other] as Slot))
    ) {
      into[to++] = slots[one] as Slot
      into[to++] = slots[other] as Slot
      best[other] = TAKEN
      continue
    }
    if (left < one) {
      slots[left] = slots[one] as Slot
      for (let part = 0; part < PARTS; part++) points[PARTS * left + part] = points[PARTS * one + part] as number
      limits[2 * left] = limits[2 * one] as number
      limits[2 * left + 1] = limits[2 * one + 1] as number
    }
    left += 1
  }
  return to - from
}
const TAKEN = -1
