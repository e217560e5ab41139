// pure: makes many pairs at once, as near and alike as one search after the other would
import { keepFree, type Bulk, type BulkInput } from './bulk-input.js'
import { VALUES, X, Y, Z } from './columns.js'
import { createCurveOrder } from './curve-order.js'
import type { Slot } from './model.js'
import { RECORD, SLOT } from './pair-records.js'
import { createPairScan, GREATEST_COST, type PairTerms } from './pair-scan.js'
import { units } from './scales.js'

/** With fewer tickets than this, each is searched for, and matches are rearranged for those left over. */
const FEWEST = 501
/** With fewer tickets left than this, the bulk ends. */
const FEWEST_LEFT = 64
/** The bulk ends as useless when other rules have refused this many more pairs than were made. */
const REFUSED = 64
/** Tickets scanned between two pauses; fewer where pairs are checked one by one. */
const CHUNK = 1024
const CHECKED_CHUNK = 256
/** The cost of a pair is below this, pass by pass, so that the nearest tickets are matched first. */
const ANY_COST = 1e100
const MOST_COST = [0.3, 0.6, 1, 4, 16, ANY_COST, ANY_COST, ANY_COST]
/** Among fewer tickets than this, the first pass would pair only few. */
const DENSE = 30_000
/** Passes at any cost end when they match less than a pair per so many tickets left: searches are quicker then. */
const WORTH = 16
/** Places and values are rounded to 32 bits, twice; by no greater parts of the greatest of them than these. */
const ROUNDED_PLACE = 1e-6
const ROUNDED_VALUE = 2 ** -21

/**
 * In each pass, tickets are sorted along a curve through places and values, and compared with those next to them there.
 * Those that are each other's best are paired; the others go on to the next pass, along a curve that runs elsewhere. In
 * the first passes a cost alone proves a pair legal, so that levels are read only for the few tickets left over.
 */
export function createPairBulk(input: BulkInput): Bulk {
  const { model, columns, levels, group, free } = input
  const { radius, spans } = model
  const unit = units(model)
  const chunk = model.checks === undefined ? CHUNK : CHECKED_CHUNK
  const sorted = createCurveOrder(model, columns)
  const scan = createPairScan(model, columns, sorted)
  const pairs = new Int32Array(chunk + 2)
  const slotsOfPairs = new Int32Array(chunk)
  let made = 0
  let refused = 0

  const useless = () => refused > made + REFUSED

  /** Whether two tickets keep the distance and difference rules at the lower one of their levels: exactly. */
  const may = (one: Slot, other: Slot): boolean => {
    const { rows, stride, level: levelOf } = columns
    const level = Math.min(levelOf[one] as number, levelOf[other] as number)
    const a = one * stride
    const b = other * stride
    for (let span = 0; span < spans.length; span++) {
      const value = VALUES + 2 * span
      const least = Math.min(rows[a + value] as number, rows[b + value] as number)
      const greatest = Math.max(rows[a + value + 1] as number, rows[b + value + 1] as number)
      if (greatest - least > ((spans[span] as (typeof spans)[number]).limit[level] as number)) return false
    }
    if (radius === undefined) return true
    const dx = (rows[a + X] as number) - (rows[b + X] as number)
    const dy = (rows[a + Y] as number) - (rows[b + Y] as number)
    const dz = (rows[a + Z] as number) - (rows[b + Z] as number)
    return dx * dx + dy * dy + dz * dz <= (radius.squared[level] as number)
  }

  /**
   * The cost below which two tickets keep the rules at any level: one limit, less the rounding; 0 where a cost proves
   * nothing, as there are other difference rules, the strictest limit is 0, or some tickets are too many limits apart.
   */
  const certainCost = (): number => {
    const [span] = spans
    if (spans.length > 1 || columns.ranges) return 0
    if (radius !== undefined && Math.sqrt(radius.squared[0] as number) < unit.chord) return 0
    if (span !== undefined && (span.limit[0] as number) < unit.width) return 0
    const greatest = span === undefined ? 0 : Math.max(0, columns.highest, -columns.lowest) / unit.width
    // No two places are farther apart than this: half a turn north and a turn east.
    const farthest = radius === undefined ? 0 : (3 * Math.PI) / unit.chord
    if (farthest + 2 * greatest >= GREATEST_COST) return 0
    return 1 - ROUNDED_PLACE * (1 + farthest) - ROUNDED_VALUE * greatest
  }

  const termsOf = (pass: number): PairTerms => {
    const most = MOST_COST[pass] as number
    const certain = certainCost()
    if (most <= 1 && certain > 0.5) return { most: Math.min(most, certain), certain: true, may }
    return { most, certain: false, may }
  }

  /** Makes matches of the pairs found in a part of the order, and keeps the tickets left over. */
  function* settle(first: number, until: number, paired: number): Generator<number, void> {
    const { integers } = sorted.sorted
    listSlots(pairs, paired, integers, slotsOfPairs)
    sorted.keep(sorted.order, first, until - paired)
    group(slotsOfPairs, 0, paired)
    const refusals = yield* input.settle()
    refused += refusals
    made += paired / 2 - refusals
    if (refusals === 0) return
    for (let at = 0; at < paired; at++) if (free(slotsOfPairs[at] as Slot)) sorted.keep(pairs, at, at + 1)
  }

  /** Pairs the sorted tickets. */
  function* pair(count: number, terms: PairTerms): Generator<number, void> {
    for (let first = 0, end = 0; first < count; first = end) {
      end = sorted.open(first)
      for (let from = 0; from < end - first; from += chunk) {
        const until = Math.min(end - first, from + chunk)
        const paired = useless() ? 0 : scan.run(from, until, terms, pairs)
        yield* settle(from, until, paired)
        yield chunk >> 2
      }
    }
  }

  return {
    bytes: sorted.bytes,
    *run(slots, count) {
      made = 0
      refused = 0
      if (count < FEWEST) return count
      let left = 0
      const leave = (slot: Slot) => {
        slots[left++] = slot
      }
      let renewed = false
      yield* sorted.begin(slots, count, leave)
      for (let pass = count < DENSE ? 1 : 0; pass < MOST_COST.length; pass++) {
        if (input.disturbed()) yield* sorted.keepOnly(free)
        if (sorted.waiting < FEWEST_LEFT || useless()) break
        const terms = termsOf(pass)
        // Levels are read from the columns.
        if (!terms.certain && !renewed) sorted.each((slot) => levels.of(slot))
        renewed ||= !terms.certain
        const before = made
        yield* pair(yield* sorted.sortAlong(pass), terms)
        if (MOST_COST[pass] === ANY_COST && (made - before) * WORTH < sorted.waiting) break
      }
      sorted.each(leave)
      if (input.disturbed()) left = yield* keepFree(input, slots, left)
      return left
    },
  }
}

function listSlots(records: Int32Array, count: number, integers: Int32Array, slots: Int32Array): void {
  for (let at = 0; at < count; at++) slots[at] = integers[RECORD * (records[at] as number) + SLOT] as Slot
}
