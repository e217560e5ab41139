// pure: the order in which tickets are served
import { SINCE, type Columns } from './columns.js'
import type { Slot } from './model.js'
import { createSorter } from './radix-sort.js'

/** Highest priority first, then the longest wait, then the id, so that the order does not depend on slot numbers. */
function comesBefore({ priority, rows, stride, ids }: Columns, one: Slot, other: Slot): number {
  return (
    (priority[other] as number) - (priority[one] as number) ||
    (rows[one * stride + SINCE] as number) - (rows[other * stride + SINCE] as number) ||
    ((ids[one] as string) < (ids[other] as string) ? -1 : 1)
  )
}

/** Whether one slot comes before another in the order of a match's members: oldest first. */
export function isOlder({ rows, stride, ids }: Columns, one: Slot, other: Slot): boolean {
  const difference = (rows[one * stride + SINCE] as number) - (rows[other * stride + SINCE] as number)
  return difference < 0 || (difference === 0 && (ids[one] as string) < (ids[other] as string))
}

/** With fewer slots than this, a comparison sort is quicker. */
const FEW = 64

export interface Order {
  /** Sorts the first `count` slots into the order in which they are served. */
  sort(slots: Int32Array, count: number): void
  bytes(): number
}

/** Radix-sorts by whole milliseconds first; ties are sorted by comparing. */
export function createOrder(columns: Columns): Order {
  const sorter = createSorter()
  const compare = (one: Slot, other: Slot) => comesBefore(columns, one, other)

  const byComparing = (slots: Int32Array, from: number, to: number) => {
    if (to - from > 1) slots.subarray(from, to).sort(compare)
  }

  return {
    bytes: sorter.bytes,
    sort: (slots, count) => {
      const { rows, stride, priority } = columns
      let oldest = Infinity
      let youngest = -Infinity
      let onePriority = true
      for (let at = 0; at < count; at++) {
        const slot = slots[at] as number
        const time = Math.floor(rows[slot * stride + SINCE] as number)
        if (time < oldest) oldest = time
        if (time > youngest) youngest = time
        if (priority[slot] !== priority[slots[0] as number]) onePriority = false
      }
      const range = youngest - oldest
      if (count < FEW || !onePriority || !(range < 2 ** 32)) return byComparing(slots, 0, count)

      sorter.reserve(count)
      for (let at = 0; at < count; at++) {
        const slot = slots[at] as number
        sorter.keys[at] = Math.floor(rows[slot * stride + SINCE] as number) - oldest
        sorter.items[at] = slot
      }
      sorter.sort(count, Math.max(1, 32 - Math.clz32(range)))
      slots.set(sorter.items.subarray(0, count))
      for (let from = 0, to = 1; to <= count; to++) {
        if (to < count && sorter.keys[to] === sorter.keys[from]) continue
        byComparing(slots, from, to)
        from = to
      }
    },
  }
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
