// pure: tickets in the order of a curve, copied to where they are read one after the other
import type { Columns } from './columns.js'
import type { Model, Slot } from './model.js'
import { createSorter } from './radix-sort.js'
import { createCurve } from './z-order.js'

/** Numbers of a record: the key and the slot are integers, the others 32-bit floats. */
export const RECORD = 8
const KEY = 0
export const SLOT = 1
/** See `coarse` of the columns: two coordinates, a value and the cosine of the latitude. */
export const COARSE = 2
export const LEVEL = 6

/**
 * Sorts tickets along the curve in two steps: first whole records into buckets by the upper bits of their keys, then
 * bucket by bucket by the lower bits, in the processor's cache. In a crowd neighbours on the curve are far apart in the
 * columns, and reading each of them from there would take longer than all else.
 */
export interface CurveOrder {
  /** Read key and slot of a record from `integers`, the same memory as `records`. `fill` may replace both. */
  records: Float32Array
  integers: Int32Array
  /** The sorted records of the block that `open` opened; it may replace the array. */
  order: Int32Array
  /** Sorts into buckets; returns how many tickets have a record. See `Curve.write`. */
  fill(slots: Int32Array, count: number, shift: number): number
  /**
   * Sorts the records from `first` to the end of some bucket, about `BLOCK` of them, and returns this end. Call it for
   * 0 and then for each end.
   */
  open(first: number): number
  bytes(): number
}

/** Bits of a key by which records are sorted into buckets. */
const BUCKET_BITS = 11
const BLOCK = 1024
/** Of the bits in which the keys of a block differ, the upper ones that it is sorted by: the others hardly matter. */
const SORTED_BITS = 16
/** Bits sorted in one pass: for a block, more counters would cost more than a pass. */
const SORTED_DIGIT = 8

export function createCurveOrder(model: Model<never>, columns: Columns): CurveOrder {
  const curve = createCurve(model, columns)
  const sorter = createSorter()
  const ends = new Int32Array(1 << BUCKET_BITS)
  let keys = new Uint32Array(0)
  let items = new Int32Array(0)
  /** Lower bits of a key, by which a bucket is sorted. */
  const rest = Math.max(0, curve.bits - BUCKET_BITS)
  let bucket = 0

  const reserve = (count: number) => {
    if (count <= keys.length) return
    const size = 2 ** Math.ceil(Math.log2(count))
    keys = new Uint32Array(size)
    items = new Int32Array(size)
    const records = new Float32Array(RECORD * size)
    state.records = records
    state.integers = new Int32Array(records.buffer)
  }

  const state: CurveOrder = {
    records: new Float32Array(0),
    integers: new Int32Array(0),
    order: new Int32Array(0),
    bytes: () => sorter.bytes() + (8 + 4 * RECORD) * keys.length,
    fill: (slots, count, shift) => {
      reserve(count)
      const total = curve.write(slots, count, shift, keys, items)
      bucket = 0
      ends.fill(0)
      tally(keys, total, rest, ends)
      accumulate(ends)
      scatter(keys, items, total, rest, ends, columns, state.records, state.integers)
      return total
    },
    open: (first) => {
      let end = ends[bucket++] as number
      while (bucket < ends.length && (end === first || (ends[bucket] as number) - first <= BLOCK))
        end = ends[bucket++] as number
      sorter.reserve(end - first)
      const count = end - first
      const bits = list(state.integers, first, count, sorter.keys, sorter.items)
      const unsorted = Math.max(0, bits - SORTED_BITS)
      if (unsorted > 0) coarsen(sorter.keys, count, unsorted)
      sorter.sort(count, bits - unsorted, SORTED_DIGIT)
      state.order = sorter.items
      return end
    },
  }
  return state
}

// Each loop has a function of its own, so that V8 compiles each once and does not deoptimize it.

/** Lists the keys of a block; returns the number of lower bits in which they differ. */
function list(integers: Int32Array, first: number, count: number, keys: Uint32Array, items: Int32Array): number {
  const own = integers[RECORD * first + KEY] as number
  let differing = 0
  for (let at = 0; at < count; at++) {
    const key = integers[RECORD * (first + at) + KEY] as number
    differing |= key ^ own
    keys[at] = key
    items[at] = first + at
  }
  return 32 - Math.clz32(differing)
}

/** Drops lower bits, in which neighbours may differ unsorted. */
function coarsen(keys: Uint32Array, count: number, bits: number): void {
  for (let at = 0; at < count; at++) keys[at] = (keys[at] as number) >>> bits
}

function tally(keys: Uint32Array, count: number, rest: number, counts: Int32Array): void {
  const mask = counts.length - 1
  for (let at = 0; at < count; at++) {
    const bucket = ((keys[at] as number) >>> rest) & mask
    counts[bucket] = (counts[bucket] as number) + 1
  }
}

/** Turns the count of each bucket into the position where it begins. */
function accumulate(counts: Int32Array): void {
  for (let bucket = 0, sum = 0; bucket < counts.length; bucket++) {
    const many = counts[bucket] as number
    counts[bucket] = sum
    sum += many
  }
}

/** Copies each ticket to its bucket; afterwards `starts` holds where each bucket ends. */
function scatter(
  keys: Uint32Array,
  items: Int32Array,
  count: number,
  rest: number,
  starts: Int32Array,
  { coarse, level }: Columns,
  records: Float32Array,
  integers: Int32Array,
): void {
  const mask = starts.length - 1
  for (let at = 0; at < count; at++) {
    const key = keys[at] as number
    const slot = items[at] as Slot
    const bucket = (key >>> rest) & mask
    const to = starts[bucket] as number
    starts[bucket] = to + 1
    const record = RECORD * to
    integers[record + KEY] = key
    integers[record + SLOT] = slot
    records[record + COARSE] = coarse[4 * slot] as number
    records[record + COARSE + 1] = coarse[4 * slot + 1] as number
    records[record + COARSE + 2] = coarse[4 * slot + 2] as number
    records[record + COARSE + 3] = coarse[4 * slot + 3] as number
    records[record + LEVEL] = level[slot] as number
  }
}
