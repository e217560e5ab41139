// pure: tickets in the order of a curve, copied to where they are read one after the other
import type { Columns } from './columns.js'
import type { Model, Slot } from './model.js'
import {
  copyRecord,
  copyRecords,
  createReadRecords,
  createRecords,
  grownRecords,
  KEY,
  RECORD,
  SLOT,
  type Records,
} from './pair-records.js'
import { createSorter } from './radix-sort.js'
import { createCurve } from './z-order.js'

/**
 * Sorts tickets along the curve in two steps: first whole records into blocks by the upper bits of their keys, then
 * block by block by the lower bits, in the processor's cache. In a crowd neighbours on the curve are far apart in the
 * columns, so each ticket is read from there only once.
 */
export interface CurveOrder {
  /** The sorted tickets; `order` lists those of the open block. `begin` and `open` may replace both. */
  sorted: Records
  order: Int32Array
  /** How many tickets wait to be sorted. */
  waiting: number
  /** Begins with the first `count` slots. Those that take no part (see `ReadRecords`) are told to `left`. */
  begin(slots: Int32Array, count: number, left: (slot: Slot) => void): Generator<number, void>
  /** Sorts the waiting tickets into blocks and returns their number; none waits any more. See `Curve.write`. */
  sortAlong(shift: number): Generator<number, number>
  /** Opens the block from `first` on and returns its end. Call it for 0 and then for each end. */
  open(first: number): number
  /** Sorted tickets wait again: those of `records` from `from` to `until`. Only tickets of opened blocks may. */
  keep(records: Int32Array, from: number, until: number): void
  /** Drops waiting tickets. */
  keepOnly(stays: (slot: Slot) => boolean): Generator<number, void>
  /** Tells the slots of the waiting tickets. */
  each(told: (slot: Slot) => void): void
  bytes(): number
}

/** Bits of a key by which tickets are sorted into blocks: at most, and so many fewer than their number has. */
const MOST_BUCKET_BITS = 16
const FEWER_BITS = 4
/** A block has at most so many tickets, unless all share the upper bits of their keys. */
const RANK_BITS = 10
const BLOCK = 1 << RANK_BITS
/** Of the bits in which the keys of a block differ, the upper ones that it is sorted by: the others hardly matter. */
const SORTED_BITS = 16
/** Bits sorted in one pass: for a block, more counters would cost more than a pass. */
const SORTED_DIGIT = 8
/** Tickets read or sorted into blocks between two pauses. */
const CHUNK = 8192

export function createCurveOrder(model: Model<never>, columns: Columns): CurveOrder {
  const curve = createCurve(model)
  const read = createReadRecords(model, columns)
  const sorter = createSorter()
  /** For each value of the upper bits the number of tickets, then the block and the rank in it. */
  const buckets = new Int32Array(1 << MOST_BUCKET_BITS)
  /** Where each block begins; after the tickets were copied, where it ends. */
  let blocks = new Int32Array(0)
  let capacity = 0
  /** How many records of `sorted` have been written to. */
  let touched = 0
  let unsorted = createRecords()
  let open = 0

  /** One record more than there are tickets: see `PairScan`. */
  const reserve = (count: number) => {
    if (count < capacity) return
    capacity = 2 ** Math.ceil(Math.log2(count + 1))
    unsorted = grownRecords(unsorted, capacity)
    state.sorted = grownRecords(state.sorted, capacity)
  }

  /** The first write to a page of memory takes long, so it is not left to `scatter`, which writes to many at once. */
  const touch = (until: number) => {
    if (until <= touched) return
    state.sorted.integers.fill(0, RECORD * touched, RECORD * until)
    touched = until
  }

  const state: CurveOrder = {
    sorted: createRecords(),
    order: new Int32Array(0),
    waiting: 0,
    bytes: () => sorter.bytes() + buckets.byteLength + blocks.byteLength + 8 * RECORD * capacity,
    *begin(slots, count, left) {
      reserve(count)
      state.waiting = 0
      for (let from = 0; from < count; from += CHUNK) {
        const some = slots.subarray(from, Math.min(count, from + CHUNK))
        state.waiting = read(some, unsorted, state.waiting, left)
        touch(from + some.length)
        yield some.length >> 3
      }
    },
    *sortAlong(shift) {
      const { waiting, sorted } = state
      let differing = 0
      for (let from = 0; from < waiting; from += CHUNK) {
        const until = Math.min(waiting, from + CHUNK)
        differing |= curve.write(unsorted, from, until, shift)
        yield (until - from) >> 3
      }
      const bits = 32 - Math.clz32(differing)
      const wanted = Math.max(1, Math.min(MOST_BUCKET_BITS, 32 - FEWER_BITS - Math.clz32(waiting)))
      const rest = Math.max(0, bits - wanted)
      const used = 1 << (bits - rest)
      buckets.fill(0, 0, used)
      tally(unsorted.integers, waiting, rest, used - 1, buckets)
      blocks = blocksOf(buckets, used)
      for (let from = 0; from < waiting; from += CHUNK) {
        const until = Math.min(waiting, from + CHUNK)
        scatter(unsorted, from, until, rest, buckets, used - 1, blocks, sorted)
        yield (until - from) >> 3
      }
      open = 0
      state.waiting = 0
      return waiting
    },
    open: (first) => {
      const end = blocks[open++] as number
      const count = end - first
      sorter.reserve(count + 2)
      const bits = list(state.sorted.integers, first, count, sorter.keys, sorter.items)
      const unsortedBits = Math.max(0, bits - SORTED_BITS)
      if (unsortedBits > 0) coarsen(sorter.keys, count, unsortedBits)
      sorter.sort(count, bits - unsortedBits, SORTED_DIGIT)
      state.order = sorter.items
      return end
    },
    keep: (records, from, until) => {
      copyRecords(state.sorted, records, from, until, unsorted, state.waiting)
      state.waiting += until - from
    },
    *keepOnly(stays) {
      let still = 0
      for (let at = 0; at < state.waiting; at++) {
        if (at % CHUNK === CHUNK - 1) yield CHUNK >> 3
        if (stays(unsorted.integers[RECORD * at + SLOT] as Slot))
          copyRecord(unsorted.integers, at, unsorted.integers, still++)
      }
      state.waiting = still
    },
    each: (told) => {
      for (let at = 0; at < state.waiting; at++) told(unsorted.integers[RECORD * at + SLOT] as Slot)
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

function tally(integers: Int32Array, count: number, rest: number, mask: number, counts: Int32Array): void {
  for (let at = KEY; at < RECORD * count; at += RECORD) {
    const bucket = ((integers[at] as number) >>> rest) & mask
    counts[bucket] = (counts[bucket] as number) + 1
  }
}

/**
 * Joins buckets to blocks: turns the count of each bucket into its block and its rank among those of the block that are
 * not empty. Returns where each block begins.
 */
function blocksOf(buckets: Int32Array, used: number): Int32Array<ArrayBuffer> {
  const starts = [0]
  let rank = 0
  let count = 0
  let sum = 0
  for (let bucket = 0; bucket < used; bucket++) {
    const many = buckets[bucket] as number
    if (many === 0) continue
    if (count > 0 && count + many > BLOCK) {
      starts.push(sum)
      rank = 0
      count = 0
    }
    buckets[bucket] = ((starts.length - 1) << RANK_BITS) | rank
    rank += 1
    count += many
    sum += many
  }
  return Int32Array.from(starts)
}

/**
 * Copies each ticket to its block; afterwards `starts` holds where each block ends. The rank of its bucket replaces the
 * upper bits of its key: so keys of a block differ in few bits, though its buckets may be far apart.
 */
function scatter(
  { integers: from }: Records,
  first: number,
  until: number,
  rest: number,
  buckets: Int32Array,
  mask: number,
  starts: Int32Array,
  { integers: to }: Records,
): void {
  const lower = 2 ** rest - 1
  for (let at = first; at < until; at++) {
    const key = from[RECORD * at + KEY] as number
    const bucket = buckets[(key >>> rest) & mask] as number
    const block = bucket >>> RANK_BITS
    const place = starts[block] as number
    starts[block] = place + 1
    copyRecord(from, at, to, place)
    to[RECORD * place + KEY] = ((bucket & (BLOCK - 1)) << rest) | (key & lower)
  }
}
