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
  /** The difference between sort keys up to which the keys alone prove that values keep the limits; −1 for none. */
  readonly certain: number
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
  /** The sort positions of the members. */
  const places = new Int32Array(players)
  let terms: PartyTerms = { count: 0, valueBits: 0, furthest: 0, certain: -1, limits: [] }
  let low = new Float64Array(0)
  let high = new Float64Array(0)
  let at = 0
  // Every ticket that the one at `at` may be matched with is sorted before `end`; `company` counts the unmatched
  // players between the two.
  let end = 0
  let company = 0
  /** For each sort position from `at` to `end` the players of the ticket; 0 if it is matched. */
  let unmatched = new Uint16Array(0)

  /** Fills a match with tickets from `first` to `last`; returns its number of tickets, or 0 if none can be filled. */
  const together = (first: number, last: number): number => {
    const { keys, items } = sorter
    const until = Math.min(last, first + REACH * players)
    const certain = (keys[first] as number) + terms.certain
    let packed = 0
    let found = 0
    // Keys ascend: from the first ticket on whose key proves nothing, values are read.
    let isRead = false
    for (let next = first; next < until; next++) {
      const size = unmatched[next] as number
      if (size === 0) continue
      const slot = items[next] as Slot
      const more = packing.add(packed, size)
      if (more === -1) continue
      if ((keys[next] as number) > certain) {
        if (!isRead) readMembers(found)
        isRead = true
        if (!joins(slot)) continue
      }
      packed = more
      places[found] = next
      members[found++] = slot
      if (packing.count(packed) === players) return found
    }
    return 0
  }

  /** Reads the values of the members so far. */
  const readMembers = (count: number): void => {
    low.fill(Infinity)
    high.fill(-Infinity)
    for (let member = 0; member < count; member++) joins(members[member] as Slot)
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

  /** Since the last scan, matches that other rules refuse may have been dropped. */
  const renew = (): void => {
    const { items } = sorter
    const { size, taken } = columns
    company = 0
    for (let next = at; next < end; next++) {
      const slot = items[next] as Slot
      unmatched[next] = taken[slot] === 1 ? 0 : (size[slot] as number)
      company += unmatched[next] as number
    }
  }

  return {
    begin: (next) => {
      terms = next
      low = new Float64Array(next.limits.length)
      high = new Float64Array(next.limits.length)
      if (unmatched.length < next.count) unmatched = new Uint16Array(next.count)
      at = 0
      end = 0
      company = 0
    },
    go: (until) => {
      renew()
      const { keys, items } = sorter
      const { size } = columns
      const { count, valueBits, furthest } = terms
      // As variables of the loop these are kept in registers.
      const left = unmatched
      let [first, last, near] = [at, end, company]
      let made = 0
      for (; first < until; first++) {
        if (first < last && left[first] === 0) continue
        const key = keys[first] as number
        for (; last < count; last++) {
          const other = keys[last] as number
          if (other - key > furthest || other >>> valueBits !== key >>> valueBits) break
          left[last] = size[items[last] as Slot] as number
          near += left[last] as number
        }
        // With too few players near, no match is possible, so nothing is scanned.
        const found = near < players ? 0 : together(first, last)
        if (found === 0) {
          near -= left[first] as number
          continue
        }
        group(members, 0, found)
        for (let member = 0; member < found; member++) left[places[member] as number] = 0
        made += 1
        near -= players
      }
      at = first
      end = last
      company = near
      return made
    },
  }
}
