// pure: the order in which tickets are served
import { SINCE, type Columns } from './columns.js'
import type { Slot } from './model.js'
import { createSorter } from './radix-sort.js'

/** Highest priority first, then the longest wait, then who came first: that does not depend on slot numbers. */
function comesBefore({ priority, rows, stride, born }: Columns, one: Slot, other: Slot): number {
  return (
    (priority[other] as number) - (priority[one] as number) ||
    (rows[one * stride + SINCE] as number) - (rows[other * stride + SINCE] as number) ||
    (born[one] as number) - (born[other] as number)
  )
}

/** Whether one slot comes before another in the order of a match's members: oldest first. */
export function isOlder({ rows, stride, born }: Columns, one: Slot, other: Slot): boolean {
  const difference = (rows[one * stride + SINCE] as number) - (rows[other * stride + SINCE] as number)
  return difference < 0 || (difference === 0 && (born[one] as number) < (born[other] as number))
}

/** With fewer slots than this, a comparison sort is quicker. */
const FEW = 64
/** Slots that are sorted at once, and that are read between two pauses. */
const AT_ONCE = 16_384
const READ_AT_ONCE = 32_768
/** Bits sorted in one pass at most; see `Sorter`. */
const DIGIT = 9

export interface Order {
  /** Sorts the first `count` slots into the order in which they are served. */
  sort(slots: Int32Array, count: number): void
  /** Sorts all slots. Yields how many it has read. */
  sortInSteps(slots: Int32Array): Generator<number, void>
  bytes(): number
}

/** Radix-sorts by whole milliseconds first; ties are sorted by comparing. */
export function createOrder(columns: Columns): Order {
  const sorter = createSorter()
  const compare = (one: Slot, other: Slot) => comesBefore(columns, one, other)

  /** New tickets are read in the order in which they came, which is mostly that in which they are served. */
  const isInOrder = (slots: Int32Array, from: number, to: number): boolean => {
    for (let at = from + 1; at < to; at++)
      if (comesBefore(columns, slots[at - 1] as Slot, slots[at] as Slot) >= 0) return false
    return true
  }

  const byComparing = (slots: Int32Array, from: number, to: number) => {
    if (to - from > 1) slots.subarray(from, to).sort(compare)
  }

  const timeOf = (slot: Slot) => Math.floor(columns.rows[slot * columns.stride + SINCE] as number)

  /** Sorts slots of one priority, none older than `oldest` and none younger than `youngest`. */
  const sortByTime = (slots: Int32Array, oldest: number, youngest: number) => {
    const count = slots.length
    sorter.reserve(count)
    for (let at = 0; at < count; at++) {
      const slot = slots[at] as Slot
      sorter.keys[at] = timeOf(slot) - oldest
      sorter.items[at] = slot
    }
    sorter.sort(count, Math.max(1, 32 - Math.clz32(youngest - oldest)), DIGIT)
    slots.set(sorter.items.subarray(0, count))
    for (let from = 0, to = 1; to <= count; to++) {
      if (to < count && sorter.keys[to] === sorter.keys[from]) continue
      byComparing(slots, from, to)
      from = to
    }
  }

  const extentOf = (slots: Int32Array, from: number, to: number, extent: Extent) => {
    for (let at = from; at < to; at++) {
      const slot = slots[at] as Slot
      const time = timeOf(slot)
      if (time < extent.oldest) extent.oldest = time
      if (time > extent.youngest) extent.youngest = time
      if (columns.priority[slot] !== columns.priority[slots[0] as Slot]) extent.onePriority = false
    }
  }
  const canSortByTime = ({ oldest, youngest, onePriority }: Extent) => onePriority && youngest - oldest < 2 ** 32

  const sort = (slots: Int32Array, count: number) => {
    if (isInOrder(slots, 0, count)) return
    const extent = { oldest: Infinity, youngest: -Infinity, onePriority: true }
    extentOf(slots, 0, count, extent)
    if (count < FEW || !canSortByTime(extent)) byComparing(slots, 0, count)
    else sortByTime(slots.subarray(0, count), extent.oldest, extent.youngest)
  }

  /** Puts slots into buckets by their times; returns where each bucket ends. */
  function* distribute(slots: Int32Array, { oldest, youngest }: Extent): Generator<number, Int32Array> {
    const from = slots.slice()
    const ends = new Int32Array(Math.ceil((4 * slots.length) / AT_ONCE) + 1)
    const perBucket = (youngest - oldest + 1) / (ends.length - 1)
    const bucketOf = (slot: Slot) => Math.floor((timeOf(slot) - oldest) / perBucket)
    for (let at = 0; at < from.length; at++) {
      if (at % READ_AT_ONCE === READ_AT_ONCE - 1) yield READ_AT_ONCE
      const after = bucketOf(from[at] as Slot) + 1
      ends[after] = (ends[after] as number) + 1
    }
    for (let bucket = 1; bucket < ends.length; bucket++)
      ends[bucket] = (ends[bucket] as number) + (ends[bucket - 1] as number)
    // Until here each number is where its bucket begins.
    for (let at = 0; at < from.length; at++) {
      if (at % READ_AT_ONCE === READ_AT_ONCE - 1) yield READ_AT_ONCE
      const slot = from[at] as Slot
      const bucket = bucketOf(slot)
      const to = ends[bucket] as number
      ends[bucket] = to + 1
      slots[to] = slot
    }
    return ends
  }

  return {
    bytes: sorter.bytes,
    sort,
    *sortInSteps(slots) {
      if (slots.length <= AT_ONCE) return sort(slots, slots.length)
      let sorted = 1
      while (sorted < slots.length && isInOrder(slots, sorted - 1, Math.min(slots.length, sorted + AT_ONCE))) {
        sorted += AT_ONCE
        yield AT_ONCE
      }
      if (sorted >= slots.length) return
      const extent = { oldest: Infinity, youngest: -Infinity, onePriority: true }
      for (let from = 0; from < slots.length; from += READ_AT_ONCE) {
        extentOf(slots, from, Math.min(slots.length, from + READ_AT_ONCE), extent)
        yield READ_AT_ONCE
      }
      if (!canSortByTime(extent)) return byComparing(slots, 0, slots.length)
      const ends = yield* distribute(slots, extent)
      for (let bucket = 0, from = 0; bucket < ends.length; bucket++) {
        const to = ends[bucket] as number
        if (to > from) sort(slots.subarray(from, to), to - from)
        yield to - from
        from = to
      }
    },
  }
}

/** When the waits of some slots began, in whole milliseconds, and whether they all have one priority. */
interface Extent {
  oldest: number
  youngest: number
  onePriority: boolean
}

/** The two arrays, one after the other. */
export function joined(one: Int32Array, other: Int32Array): Int32Array {
  if (one.length === 0) return other
  if (other.length === 0) return one
  const both = new Int32Array(one.length + other.length)
  both.set(one)
  both.set(other, one.length)
  return both
}
