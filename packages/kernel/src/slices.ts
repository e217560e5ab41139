// pure: passes over many slots that pause
import type { Slot } from './model.js'

/** Slots looked at between two pauses: a millisecond at most. */
const AT_ONCE = 8192

/** The slots of which this is true, in their order. Yields how many it has looked at. */
export function* filtered(slots: Int32Array, isKept: (slot: Slot) => boolean): Generator<number, Int32Array> {
  const kept = new Int32Array(slots.length)
  let count = 0
  for (let at = 0; at < slots.length; at++) {
    if (at % AT_ONCE === AT_ONCE - 1) yield AT_ONCE
    const slot = slots[at] as Slot
    if (isKept(slot)) kept[count++] = slot
  }
  return kept.subarray(0, count)
}

/**
 * Moves slots of one key next to one another, by ascending key, and otherwise keeps their order. Returns where each
 * key's slots end. Yields how many slots it has looked at.
 */
export function* groupedByKey(slots: Int32Array, keyOf: (slot: Slot) => number): Generator<number, Int32Array> {
  const counts = new Map<number, number>()
  for (let at = 0; at < slots.length; at++) {
    if (at % AT_ONCE === AT_ONCE - 1) yield AT_ONCE
    const key = keyOf(slots[at] as Slot)
    counts.set(key, (counts.get(key) ?? 0) + 1)
  }
  const keys = [...counts.keys()].toSorted((one, other) => one - other)
  const ends = new Int32Array(keys.length)
  const indexOf = new Map<number, number>()
  let start = 0
  for (const [index, key] of keys.entries()) {
    ends[index] = start
    start += counts.get(key) as number
    indexOf.set(key, index)
  }
  const from = slots.slice()
  for (let at = 0; at < from.length; at++) {
    if (at % AT_ONCE === AT_ONCE - 1) yield AT_ONCE
    const index = indexOf.get(keyOf(from[at] as Slot)) as number
    const to = ends[index] as number
    ends[index] = to + 1
    slots[to] = from[at] as Slot
  }
  return ends
}
