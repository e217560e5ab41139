// pure: decides which of the tickets left over are searched for together
import { KEY } from './columns.js'
import type { Pausable } from './effort.js'
import { LeftoverSearch, type LeftoverSearchInput } from './leftover-search.js'
import type { Model, Slot } from './model.js'
import { filtered } from './slices.js'

/** With fewer tickets left over, or more, one search for each in the index is better: copying them has to pay. */
const FEWEST = 512
const MOST = 32_768
/** Tickets to copy at most, per ticket that is searched for. */
const MOST_COPIED = 2
const NOBODY = new Int32Array(0)

export interface LeftoverTurnsInput extends LeftoverSearchInput {
  /** Whether the tickets have different priorities. */
  ranked(): boolean
  /** The number of tickets in the index; none of them has a match. */
  filed(): number
  /** All waiting tickets. */
  all(): Int32Array
}

/**
 * Creates a function that searches for matches of the tickets left over, key by key, where a key has many of them. It
 * returns the tickets that it has not tried, in order.
 */
export function createLeftoverTurns(input: LeftoverTurnsInput) {
  const { model, columns, free, ranked } = input
  const search = mayBeSearchedTogether(model) ? new LeftoverSearch(input) : undefined
  const keyOf = (slot: Slot) => columns.rows[slot * columns.stride + KEY] as number

  return function* (anchors: Int32Array): Pausable<Int32Array> {
    if (search === undefined || anchors.length < FEWEST || ranked()) return anchors
    // With so many in the index, looking for all of them would take longer than these searches.
    if (input.filed() > MOST_COPIED * anchors.length) return anchors
    // Tickets that wait are in the index, or have not been tried yet.
    const others = input.filed() === 0 ? anchors : yield* filtered(input.all(), free)
    const many = countsOf(anchors, keyOf)
    const tried = new Set<number>()
    for (const [key, count] of many) {
      if (count < FEWEST) continue
      const hasKey = (slot: Slot) => keyOf(slot) === key
      const copied = many.size === 1 && others.length === count ? anchors : others.filter(hasKey)
      if (copied.length > Math.min(MOST, MOST_COPIED * count)) continue
      if (yield* search.run(many.size === 1 ? anchors : anchors.filter(hasKey), copied)) tried.add(key)
    }
    return tried.size === many.size ? NOBODY : anchors.filter((slot) => !tried.has(keyOf(slot)))
  }
}

/** How many slots have each key. */
function countsOf(slots: Int32Array, keyOf: (slot: Slot) => number): Map<number, number> {
  const counts = new Map<number, number>()
  for (let from = 0, at = 0; at < slots.length; from = at) {
    const key = keyOf(slots[from] as Slot)
    while (at < slots.length && keyOf(slots[at] as Slot) === key) at += 1
    counts.set(key, (counts.get(key) ?? 0) + at - from)
  }
  return counts
}

/** Whether a match is full, and decided by comparing two and two of its members by numbers alone. */
function mayBeSearchedTogether({ checks, lastResortLevel, radius, spans, teams }: Model<never>): boolean {
  return (
    checks === undefined &&
    lastResortLevel === Infinity &&
    [radius, ...spans].every((rule) => rule === undefined || rule.by === 'each') &&
    teams.every(({ max, min }) => min.at(-1) === max) &&
    teams.reduce((sum, { max }) => sum + max, 0) > 2
  )
}
