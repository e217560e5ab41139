// pure: many matches at once, of tickets that are in one place and alike
import { VALUES, type Columns } from './columns.js'
import type { Levels } from './levels.js'
import type { Model, Slot } from './model.js'
import type { Packing } from './packing.js'
import { passesOf, type Pass } from './passes.js'
import { createSorter } from './radix-sort.js'

/** Fewer are better served one by one, see `SMALL`. */
const FEWEST = 501
/** Bits of a sort key for the value, if the cells leave so many. */
const VALUE_BITS = 12
/** Steps of values in the strictest limit. */
const STEPS = 64
/** Tickets considered for one match, per player. */
const REACH = 4
/** Where other rules refuse more than they let pass, and so many more, the bulk is no use. */
const REFUSED = 64
/** With so many times as many cells as tickets, hardly two of them are in one: a fine pass would find next to nobody. */
const SPARSE = 10
/**
 * Who has relaxed may meet many: in a crowd it goes to the bulk, as there are enough for everybody. Elsewhere it is left to
 * those for whom there may be nobody else.
 */
const CROWD = 50_000
/** Tickets between two pauses. */
const CHUNK = 32_768

/**
 * Pass for pass, tickets are sorted by cell and, within a cell, by the value of the first difference rule: one sort of
 * numbers of 32 bits. Then whoever may make a match stands together: in one cell nobody is too far away, and values
 * differ as little as they can. What is a match is taken out, what is left goes on to the next pass.
 */
export interface Bulk {
  /**
   * Makes matches of the first `count` slots, which are of one key, and keeps those that are left at the beginning of
   * `slots`. Yields how many tickets' worth of work it has done; returns how many are left.
   */
  run(slots: Int32Array, count: number): Generator<number, number>
  readonly bytes: number
}

export interface BulkInput {
  readonly model: Model<never>
  readonly columns: Columns
  readonly levels: Levels
  readonly packing: Packing
  /**
   * Makes matches of `count` slots from `at` on, which keep the distance and difference rules and fill the teams, one match
   * after the other; gives back the members of those that cannot be, and says how many these matches are.
   */
  group(slots: Int32Array, at: number, count: number, giveBack: (slot: Slot) => void): number
  free(slot: Slot): boolean
  /** Whether any ticket has been removed since the round began. */
  disturbed(): boolean
}

const nothing = () => {}
/** Where places do not matter everyone is in one cell. */
const NO_GRID = { bandsPerRadian: 0, counts: Int32Array.of(1), offsets: Int32Array.of(0) }

export function createBulk(input: BulkInput): Bulk {
  const { model, columns, levels, packing, group, free } = input
  const { players } = packing
  const { spans } = model
  const many = spans.length
  const passes = passesOf(model)
  const sorter = createSorter()
  const members = new Int32Array(players)
  const places = new Int32Array(players)
  const low = new Float64Array(many)
  const high = new Float64Array(many)
  let used = new Uint8Array(0)
  const strictest = spans[0]?.limit.find((limit) => limit > 0 && limit < Infinity) ?? 1
  const perStep = STEPS / strictest
  let valueBits = 0
  let made = 0
  let refused = 0
  let parties = false

  const useless = () => refused > made + REFUSED

  /** Writes the sort keys of those that take part, and moves the others to the front. Says how many there are of each. */
  const fill = (slots: Int32Array, count: number, { grid, shift, level }: Pass): [number, number] => {
    const { coarse, size } = columns
    const { keys, items } = sorter
    const { bandsPerRadian, counts, offsets } = grid ?? NO_GRID
    const mask = 2 ** valueBits - 1
    const bits = valueBits
    let taking = 0
    let left = 0
    let company = 0
    for (let at = 0; at < count; at++) {
      const slot = slots[at] as Slot
      const latitude = coarse[4 * slot] as number
      company |= size[slot] as number
      if ((level > 0 && levels.of(slot) < level) || (grid !== undefined && Number.isNaN(latitude))) {
        slots[left++] = slot
        continue
      }
      const band = (latitude * bandsPerRadian + shift) | 0
      const cells = counts[band] as number
      const cell = ((coarse[4 * slot + 1] as number) * cells + shift) | 0
      const value = Math.floor((coarse[4 * slot + 2] as number) * perStep) & mask
      keys[taking] = (((offsets[band] as number) + (cell >= cells ? 0 : cell)) << bits) | value
      items[taking++] = slot
    }
    parties = company > 1
    return [taking, left]
  }

  /** The limit of a span at a pass. */
  const limitOf = (span: number, { width, level }: Pass): number => {
    const limit = (spans[span] as (typeof spans)[number]).limit[level] as number
    return span === 0 && width < limit ? width : limit
  }

  /** Whether those from `first` on are alike enough. */
  const alike = (first: number, pass: Pass): boolean => {
    const { rows, stride } = columns
    const { items } = sorter
    for (let span = 0; span < many; span++) {
      let [least, greatest] = [Infinity, -Infinity]
      for (let next = first; next < first + players; next++) {
        const value = (items[next] as number) * stride + VALUES + 2 * span
        if ((rows[value] as number) < least) least = rows[value] as number
        if ((rows[value + 1] as number) > greatest) greatest = rows[value + 1] as number
      }
      if (greatest - least > limitOf(span, pass)) return false
    }
    return true
  }

  /**
   * Sort keys that differ by so little say enough by themselves. Only where tickets have one value, not a range, and
   * where all their values have keys of their own.
   */
  const certainOf = (pass: Pass): number => {
    if (many === 0) return 2 ** valueBits
    const { highest, lowest, ranges } = columns
    const allApart = (highest - lowest) * perStep < 2 ** valueBits - 1
    // Rounding must not matter.
    const exact = Math.max(Math.abs(highest), Math.abs(lowest)) * perStep < 2 ** 20
    return many === 1 && allApart && exact && !ranges ? Math.floor(limitOf(0, pass) * perStep * (1 - 1e-9)) - 2 : -1
  }
  const furthestOf = ({ width }: Pass) => (width === Infinity ? 2 ** valueBits : Math.ceil(width * perStep))

  // How far a scan has come, and how many it has left over.
  let at = 0
  let left = 0

  /**
   * Nobody has company: a match is whoever stand next to one another. Those who are matched are moved to the front of
   * the sorted ones, so that many matches are handed over at once.
   */
  const scanSingles = (slots: Int32Array, until: number, pass: Pass): void => {
    const { keys, items } = sorter
    const furthest = furthestOf(pass)
    const certain = certainOf(pass)
    const others = players - 1
    const first = at
    let next = at
    let matched = at
    let over = left
    while (next < until) {
      const key = keys[next] as number
      const last = keys[next + others] as number
      const apart = last - key
      if (apart <= furthest && last >>> valueBits === key >>> valueBits && (apart <= certain || alike(next, pass))) {
        if (matched === next) {
          matched += players
          next += players
        } else for (const end = next + players; next < end; ) items[matched++] = items[next++] as Slot
      } else slots[over++] = items[next++] as Slot
    }
    at = next
    const refusals = group(items, first, matched - first, (slot) => {
      slots[over++] = slot
    })
    refused += refusals
    made += (matched - first) / players - refusals
    left = over
  }

  /** Each ticket begins a match with those that stand after it, as they fit. */
  const scanParties = (slots: Int32Array, until: number, count: number, pass: Pass): void => {
    const { items } = sorter
    const furthest = furthestOf(pass)
    for (; at < until; at++) {
      if (used[at] === 1) continue
      const found = together(at, count, furthest, pass)
      if (found > 0 && group(members, 0, found, nothing) === 0) {
        made += 1
        for (let place = 0; place < found; place++) used[places[place] as number] = 1
        continue
      }
      if (found > 0) refused += 1
      slots[left++] = items[at] as Slot
    }
  }

  function* scan(slots: Int32Array, count: number, pass: Pass): Generator<number, void> {
    if (parties) used.fill(0, 0, count)
    const end = parties ? count : count - players + 1
    at = 0
    for (let until = 0; until < end && !useless(); ) {
      until = Math.min(end, until + CHUNK)
      if (parties) scanParties(slots, until, count, pass)
      else scanSingles(slots, until, pass)
      yield CHUNK >> 2
    }
    for (; at < count; at++) if (!parties || used[at] === 0) slots[left++] = sorter.items[at] as Slot
  }

  /** Fills a match with whoever stands from `at` on; says how many tickets there are in it, or 0. */
  const together = (first: number, count: number, furthest: number, pass: Pass): number => {
    const { keys, items } = sorter
    const { size } = columns
    const last = (keys[first] as number) + furthest
    const cell = (keys[first] as number) >>> valueBits
    const end = Math.min(count, first + REACH * players)
    low.fill(Infinity)
    high.fill(-Infinity)
    let packed = 0
    let found = 0
    for (let next = first; next < end; next++) {
      const key = keys[next] as number
      if (key > last || key >>> valueBits !== cell) return 0
      if (used[next] === 1) continue
      const slot = items[next] as Slot
      const more = packing.add(packed, size[slot] as number)
      if (more === -1 || !joins(slot, pass)) continue
      packed = more
      members[found] = slot
      places[found++] = next
      if (packing.count(packed) === players) return found
    }
    return 0
  }

  /** Whether one more is alike enough; if so, it counts. */
  const joins = (slot: Slot, pass: Pass): boolean => {
    const { rows, stride } = columns
    for (let span = 0; span < many; span++) {
      const value = slot * stride + VALUES + 2 * span
      const least = Math.min(low[span] as number, rows[value] as number)
      const greatest = Math.max(high[span] as number, rows[value + 1] as number)
      if (greatest - least > limitOf(span, pass)) return false
    }
    for (let span = 0; span < many; span++) {
      const value = slot * stride + VALUES + 2 * span
      low[span] = Math.min(low[span] as number, rows[value] as number)
      high[span] = Math.max(high[span] as number, rows[value + 1] as number)
    }
    return true
  }

  return {
    get bytes() {
      return sorter.bytes + used.length
    },
    *run(slots, count) {
      let waiting = count
      made = 0
      refused = 0
      for (const pass of passes) {
        if (waiting < FEWEST || useless()) break
        if (pass.fine && waiting * SPARSE < (pass.grid?.cells ?? 0)) continue
        if (pass.level > 0 && count < CROWD) break
        sorter.reserve(waiting)
        const cellBits = pass.grid === undefined ? 0 : 32 - Math.clz32(pass.grid.cells)
        valueBits = many === 0 ? 0 : Math.min(VALUE_BITS, 32 - cellBits)
        const [taking, others] = fill(slots, waiting, pass)
        yield waiting >> 2
        sorter.sort(taking, cellBits + valueBits)
        yield taking >> 1
        if (parties && used.length < taking) used = new Uint8Array(sorter.keys.length)
        left = others
        yield* scan(slots, taking, pass)
        waiting = left
        if (!input.disturbed()) continue
        // Some have been removed in between.
        let still = 0
        for (let each = 0; each < waiting; each++) if (free(slots[each] as Slot)) slots[still++] = slots[each] as Slot
        waiting = still
      }
      return waiting
    },
  }
}
