// pure: matches of parties that are neighbours in the sort order
import { VALUES, type Columns } from './columns.js'
import type { Slot } from './model.js'
import type { Packing } from './packing.js'
import type { Sorter } from './radix-sort.js'

/** Sort positions considered for one match, per player of a full match. */
const REACH = 4

/** The terms of one pass. */
export interface PartyTerms {
  /** Number of sorted tickets. */
  readonly count: number
  /** Lower bits of a sort key that hold the value; the upper bits hold the cell. */
  readonly valueBits: number
  /** The greatest difference between the sort keys of one match. */
  readonly furthest: number
  /** The limit of each span in this pass. */
  readonly limits: readonly number[]
}

export interface PartyScan {
  begin(terms: PartyTerms): void
  /**
   * Scans up to position `until`, each ticket beginning a match in turn; returns how many matches were proposed.
   */
  go(until: number): number
}

export interface PartyScanInput {
  readonly columns: Columns
  readonly packing: Packing
  readonly sorter: Sorter
  /** See `BulkInput.group`. */
  group(slots: Int32Array, at: number, count: number): void
}

/** Creates a scan in which each ticket in turn begins a match with the tickets after it, as they fit. */
export function createPartyScan({ columns, packing, sorter, group }: PartyScanInput): PartyScan {
  const { players } = packing
  const members = new Int32Array(players)
  let terms: PartyTerms = { count: 0, valueBits: 0, furthest: 0, limits: [] }
  let low = new Float64Array(0)
  let high = new Float64Array(0)
  let at = 0
  // Every ticket that the one at `at` may be matched with is sorted before `end`; `company` counts the unmatched
  // players between the two.
  let end = 0
  let company = 0

  /** Moves `end` to the first ticket too different from the one at `first`. */
  const widen = (first: number): void => {
    const { keys, items } = sorter
    const { size } = columns
    const { count, valueBits, furthest } = terms
    const key = keys[first] as number
    const last = Math.min(key + furthest, (((key >>> valueBits) + 1) * (1 << valueBits)) - 1)
    for (; end < count && (keys[end] as number) <= last; end++) company += size[items[end] as Slot] as number
  }

  /** Fills a match with tickets from `first` on; returns its number of tickets, or 0 if none can be filled. */
  const together = (first: number): number => {
    const { items } = sorter
    const { size, taken } = columns
    const until = Math.min(end, first + REACH * players)
    low.fill(Infinity)
    high.fill(-Infinity)
    let packed = 0
    let found = 0
    for (let next = first; next < until; next++) {
      const slot = items[next] as Slot
      if (taken[slot] === 1) continue
      const more = packing.add(packed, size[slot] as number)
      if (more === -1 || !joins(slot)) continue
      packed = more
      members[found++] = slot
      if (packing.count(packed) === players) return found
    }
    return 0
  }

  /** Adds a ticket's values to the match if they keep the limits; false if they do not. */
  const joins = (slot: Slot): boolean => {
    const { rows, stride } = columns
    const { limits } = terms
    for (let span = 0; span < limits.length; span++) {
      const value = slot * stride + VALUES + 2 * span
      const least = Math.min(low[span] as number, rows[value] as number)
      const greatest = Math.max(high[span] as number, rows[value + 1] as number)
      if (greatest - least > (limits[span] as number)) return false
    }
    for (let span = 0; span < limits.length; span++) {
      const value = slot * stride + VALUES + 2 * span
      low[span] = Math.min(low[span] as number, rows[value] as number)
      high[span] = Math.max(high[span] as number, rows[value + 1] as number)
    }
    return true
  }

  return {
    begin: (next) => {
      terms = next
      low = new Float64Array(next.limits.length)
      high = new Float64Array(next.limits.length)
      at = 0
      end = 0
      company = 0
    },
    go: (until) => {
      const { items } = sorter
      const { taken, size } = columns
      let made = 0
      for (; at < until; at++) {
        const slot = items[at] as Slot
        if (taken[slot] === 1) continue
        widen(at)
        // With too few players near, no match is possible, so nothing is scanned.
        const found = company < players ? 0 : together(at)
        if (found === 0) {
          company -= size[slot] as number
          continue
        }
        group(members, 0, found)
        made += 1
        company -= players
      }
      return made
    },
  }
}
