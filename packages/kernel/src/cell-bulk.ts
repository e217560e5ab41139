// pure: makes many matches at once, of tickets that are near and alike
import { keepFree, type Bulk, type BulkInput } from './bulk-input.js'
import { VALUES } from './columns.js'
import type { Slot } from './model.js'
import { createPartyScan } from './party-scan.js'
import { passesOf, type Pass } from './passes.js'
import { createSorter } from './radix-sort.js'

/**
 * With fewer tickets than this, one search per ticket is better, as it finds the nearest partners, which the bulk does
 * not. Where matches are checked as a whole a search costs more, so the bulk pays for fewer tickets.
 */
const FEWEST = 2501
const FEWEST_CHECKED = 501
/** With fewer tickets left than this, the bulk ends. */
const FEWEST_LEFT = 501
/** Bits of a sort key for the value, if the cells leave as many. */
const VALUE_BITS = 12
/** Steps into which the strictest limit divides values. */
const STEPS = 64
/** The bulk ends as useless when other rules have refused this many more matches than were made. */
const REFUSED = 64
/** A fine pass is skipped if it has this many times as many cells as tickets: hardly two tickets would share a cell. */
const SPARSE = 10
/**
 * Relaxed tickets can be matched with many others. In a crowd of at least this size they are matched in bulk, as there
 * are enough partners for everybody; otherwise they are left for tickets that may have no other partner.
 */
const CROWD = 50_000
/** Tickets scanned between two pauses; fewer where matches are checked one by one. */
const CHUNK = 32_768
const CHECKED_CHUNK = 256

/** Bits of sort keys that are sorted in two passes. */
const SORTED_AT_ONCE = 26

/** The grid where places do not matter: all tickets are in one cell. */
const NO_GRID = { bandsPerRadian: 0, counts: Int32Array.of(1), offsets: Int32Array.of(0) }

/**
 * In each pass, tickets are sorted by cell and, within a cell, by the value of the first difference rule, with one sort
 * of 32-bit keys. Then possible partners stand side by side: within a cell nobody is too far away, and values differ as
 * little as they can. Tickets that are matched drop out; the others go on to the next pass.
 */
export function createCellBulk(input: BulkInput): Bulk {
  const { model, columns, levels, packing, group } = input
  const { players } = packing
  const { spans } = model
  const many = spans.length
  const passes = passesOf(model)
  const fewest = model.checks === undefined ? FEWEST : FEWEST_CHECKED
  const chunk = model.checks === undefined ? CHUNK : CHECKED_CHUNK
  const sorter = createSorter()
  const partyScan = createPartyScan({ columns, packing, sorter, group })
  /** The first `retired` are tickets below the level of the pass, and so of all passes that follow. */
  let below = new Int32Array(0)
  let retired = 0
  const strictest = spans[0]?.limit.find((limit) => limit > 0 && limit < Infinity) ?? 1
  const perStep = STEPS / strictest
  let valueBits = 0
  let made = 0
  let refused = 0
  let parties = false

  const useless = () => refused > made + REFUSED

  /** Sets tickets below a level aside; the others keep their order, that of memory. Returns how many are left. */
  const retire = (slots: Int32Array, count: number, level: number): number => {
    let still = 0
    for (let at = 0; at < count; at++) {
      const slot = slots[at] as Slot
      if (levels.of(slot) < level) below[retired++] = slot
      else slots[still++] = slot
    }
    return still
  }

  /** Writes the sort keys of the tickets that take part; returns how many. */
  const fill = (slots: Int32Array, count: number, { grid, shift }: Pass): number => {
    const { coarse, size } = columns
    const { keys, items } = sorter
    const { bandsPerRadian, counts, offsets } = grid ?? NO_GRID
    const mask = (1 << valueBits) - 1
    const bits = valueBits
    let taking = 0
    let company = 0
    for (let at = 0; at < count; at++) {
      const slot = slots[at] as Slot
      const latitude = coarse[4 * slot] as number
      company |= size[slot] as number
      if (grid !== undefined && Number.isNaN(latitude)) continue
      const band = (latitude * bandsPerRadian + shift) | 0
      const cells = counts[band] as number
      const cell = ((coarse[4 * slot + 1] as number) * cells + shift) | 0
      const value = Math.floor((coarse[4 * slot + 2] as number) * perStep) & mask
      keys[taking] = (((offsets[band] as number) + (cell >= cells ? 0 : cell)) << bits) | value
      items[taking++] = slot
    }
    parties = company > 1
    return taking
  }

  /** The limit of a span in a pass. */
  const limitOf = (span: number, { width, level }: Pass): number => {
    const limit = (spans[span] as (typeof spans)[number]).limit[level] as number
    return span === 0 && width < limit ? width : limit
  }

  /** Whether the match of the tickets from `first` on keeps the difference rules. */
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
   * The difference between sort keys up to which the keys alone prove the tickets alike; −1 for none. Keys are proof
   * only where tickets have one value, not a range, and where no two values share a key by wrapping around.
   */
  const certainOf = (pass: Pass): number => {
    if (many === 0) return 1 << valueBits
    const { highest, lowest, ranges } = columns
    const allApart = (highest - lowest) * perStep < (1 << valueBits) - 1
    // Beyond this, the rounding of values to 32 bits could exceed the margin.
    const exact = Math.max(Math.abs(highest), Math.abs(lowest)) * perStep < 2 ** 20
    return many === 1 && allApart && exact && !ranges ? Math.floor(limitOf(0, pass) * perStep * (1 - 1e-9)) - 2 : -1
  }
  const furthestOf = ({ width }: Pass) => (width === Infinity ? 1 << valueBits : Math.ceil(width * perStep))

  // The position of the scan.
  let at = 0

  /**
   * Scans tickets of single players: a match is a run of neighbours in the sort order. Matched tickets are moved to the
   * front of the sorted ones, so that many matches are handed over at once.
   */
  const scanSingles = (until: number, pass: Pass): void => {
    const { keys, items } = sorter
    const furthest = furthestOf(pass)
    const certain = certainOf(pass)
    const others = players - 1
    const first = at
    let next = at
    let matched = at
    while (next < until) {
      const key = keys[next] as number
      const last = keys[next + others] as number
      const apart = last - key
      if (apart <= furthest && last >>> valueBits === key >>> valueBits && (apart <= certain || alike(next, pass))) {
        if (matched === next) {
          matched += players
          next += players
        } else for (const end = next + players; next < end;) items[matched++] = items[next++] as Slot
      } else next += 1
    }
    at = next
    group(items, first, matched - first)
    made += (matched - first) / players
  }

  function* scan(count: number, pass: Pass): Generator<number, void> {
    const end = parties ? count : count - players + 1
    at = 0
    if (parties)
      partyScan.begin({
        count,
        valueBits,
        furthest: furthestOf(pass),
        certain: certainOf(pass),
        limits: spans.map((_, span) => limitOf(span, pass)),
      })
    for (let until = 0; until < end && !useless();) {
      until = Math.min(end, until + chunk)
      if (parties) made += partyScan.go(until)
      else scanSingles(until, pass)
      const refusals = yield* input.settle()
      refused += refusals
      made -= refusals
      yield chunk >> 2
    }
  }

  return {
    bytes: () => sorter.bytes() + 4 * below.length,
    *run(slots, count) {
      let waiting = count
      let level = 0
      made = 0
      refused = 0
      retired = 0
      if (count < fewest) return count
      for (const pass of passes) {
        if (waiting < FEWEST_LEFT || useless()) break
        if (pass.fine && waiting * SPARSE < (pass.grid?.cells ?? 0)) continue
        if (pass.level > level) {
          if (count < CROWD) break
          if (below.length < waiting) below = new Int32Array(waiting)
          level = pass.level
          waiting = retire(slots, waiting, level)
        }
        sorter.reserve(waiting)
        const cellBits = pass.grid === undefined ? 0 : 32 - Math.clz32(pass.grid.cells)
        valueBits = many === 0 ? 0 : Math.min(VALUE_BITS, 32 - cellBits)
        const taking = fill(slots, waiting, pass)
        yield waiting >> 2
        const bits = cellBits + valueBits
        const cells = pass.grid?.cells ?? 1
        const isLong = bits > SORTED_AT_ONCE && cells < SPARSE * taking
        sorter.sort(taking, isLong ? numberCells(sorter.keys, taking, cells, valueBits) : bits)
        yield taking >> 1
        yield* scan(taking, pass)
        waiting = yield* keepFree(input, slots, waiting)
      }
      slots.set(below.subarray(0, retired), waiting)
      return waiting + retired
    },
  }
}

/**
 * Writes for each cell in the sort keys its number among those that hold tickets: far fewer than there are. Returns the
 * bits in which the keys differ at most.
 */
function numberCells(keys: Uint32Array, count: number, cells: number, valueBits: number): number {
  const numbers = new Int32Array(cells)
  const mask = (1 << valueBits) - 1
  let filled = 0
  for (let at = 0; at < count; at++) {
    const key = keys[at] as number
    const cell = key >>> valueBits
    let number = numbers[cell] as number
    if (number === 0) numbers[cell] = number = ++filled
    keys[at] = (number << valueBits) | (key & mask)
  }
  return 32 - Math.clz32(filled) + valueBits
}
