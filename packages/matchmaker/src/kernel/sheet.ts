// pure: tickets of one scale, those near each other side by side in memory
import { cellOf, cellsAroundCell } from './cells.js'
import type { Columns } from './columns.js'
import type { Slot } from './model.js'
import type { Sorter } from './radix-sort.js'
import type { Scale } from './scales.js'
import { cellsAround, type SphereGrid } from './sphere.js'

/** Bits of a sort key for the value, if the cells leave as many. */
const VALUE_BITS = 10
/** Bits sorted in one pass: few, as there are few tickets. */
const DIGIT = 9
/** The tickets of a sheet and their values; `items` stand for slots. */
export interface SheetInput {
  readonly columns: Columns
  readonly sorter: Sorter
  slotOf(item: number): Slot
  /** The lowest and the highest value of the first span. */
  readonly lowest: number
  readonly highest: number
}

/**
 * Tickets sorted by cell and, within a cell, by the low value of the first span: those around a ticket are a few runs.
 * A sheet is made once for many searches, and is read only.
 */
export class Sheet {
  readonly scale: Scale
  /** The tickets in order. */
  items: Int32Array = new Int32Array(0)
  /** The runs that `look` found: the first position and the end of each, in turn. */
  runs = new Int32Array(64)
  readonly #grid: SphereGrid | undefined
  readonly #valueBits: number
  readonly #cellBits: number
  #keys = new Uint32Array(0)
  /** The filled cells in order: for each the position of its first ticket; then the number of all tickets. */
  #starts = new Int32Array(1)
  #cells = 0
  /** For each item the index of its cell. */
  #cellOf = new Int32Array(0)
  /** For each cell where its list of cells around begins in `#near`, and how long it is; −1 if not made yet. */
  #nearAt = new Int32Array(0)
  #nearCount = new Int32Array(0)
  #near: number[] = []
  #lowest = 0
  #perStep = 0

  constructor(scale: Scale) {
    this.scale = scale
    this.#grid = scale.chord === Infinity ? undefined : cellsAround(scale.chord)
    this.#cellBits = this.#grid === undefined ? 0 : 32 - Math.clz32(this.#grid.cells)
    this.#valueBits = Math.min(VALUE_BITS, 32 - this.#cellBits)
  }

  bytes(): number {
    return 4 * (2 * this.items.length + this.#cellOf.length + 3 * this.#starts.length + this.#near.length)
  }

  /**
   * Replaces the tickets by the first `count` of `items`, in order. Tickets with equal keys keep their order.
   */
  file(items: Int32Array, count: number, { columns, sorter, slotOf, lowest, highest }: SheetInput): void {
    const { coarse } = columns
    const grid = this.#grid
    this.#lowest = Math.fround(lowest)
    this.#perStep = highest > lowest ? ((1 << this.#valueBits) - 1) / (Math.fround(highest) - this.#lowest) : 0
    sorter.reserve(count)
    for (let at = 0; at < count; at++) {
      const item = items[at] as number
      const point = 4 * slotOf(item)
      const cell = grid === undefined ? 0 : cellOf(grid, coarse[point] as number, coarse[point + 1] as number)
      sorter.keys[at] = this.#keyOf(cell, coarse[point + 2] as number)
      sorter.items[at] = item
    }
    sorter.sort(count, this.#cellBits + this.#valueBits, DIGIT)
    this.items = sorter.items.slice(0, count)
    this.#keys = sorter.keys.slice(0, count)
  }

  /** Numbers the cells. @param items what stands at each position from now on. @param end items are below this. */
  renumber(items: Int32Array, end: number): void {
    const keys = this.#keys
    const bits = this.#valueBits
    this.items = items
    this.#cellOf = new Int32Array(end)
    this.#starts = new Int32Array(items.length + 1)
    let cells = 0
    for (let at = 0; at < items.length; at++) {
      if (at === 0 || (keys[at] as number) >>> bits !== (keys[at - 1] as number) >>> bits) this.#starts[cells++] = at
      this.#cellOf[items[at] as number] = cells - 1
    }
    this.#starts[cells] = items.length
    this.#cells = cells
    this.#nearAt = new Int32Array(cells).fill(-1)
    this.#nearCount = new Int32Array(cells)
    this.#near = []
  }

  /**
   * Finds the runs that hold every ticket near an item whose low value is at least `least` and at most `most`; returns
   * how many.
   */
  look(item: number, least: number, most: number): number {
    const keys = this.#keys
    const bits = this.#valueBits
    const starts = this.#starts
    const own = this.#cellOf[item] as number
    if (this.#nearAt[own] === -1) this.#findNear(own)
    const { runs } = this
    const near = this.#near
    const [low, high] = [this.#stepOf(least), this.#stepOf(most)]
    const first = this.#nearAt[own] as number
    const last = first + (this.#nearCount[own] as number)
    let found = 0
    for (let each = first; each < last; each++) {
      const cell = near[each] as number
      const begin = starts[cell] as number
      const end = starts[cell + 1] as number
      const base = ((keys[begin] as number) >>> bits) << bits
      const from = firstAtLeast(keys, begin, end, (base | low) >>> 0)
      const until = firstAtLeast(keys, from, end, ((base | high) >>> 0) + 1)
      if (from === until) continue
      runs[2 * found] = from
      runs[2 * found + 1] = until
      found += 1
    }
    return found
  }

  /** Lists the filled cells that hold any ticket near one of the cell. */
  #findNear(own: number): void {
    const bits = this.#valueBits
    const keyAt = (cell: number) => (this.#keys[this.#starts[cell] as number] as number) >>> bits
    this.#nearAt[own] = this.#near.length
    const around = this.#grid === undefined ? [0] : cellsAroundCell(this.#grid, keyAt(own))
    for (const cell of around) {
      let low = 0
      let high = this.#cells
      while (low < high) {
        const middle = (low + high) >>> 1
        if (keyAt(middle) < cell) low = middle + 1
        else high = middle
      }
      if (low < this.#cells && keyAt(low) === cell) this.#near.push(low)
    }
    this.#nearCount[own] = this.#near.length - (this.#nearAt[own] as number)
    const most = 2 * (this.#nearCount[own] as number)
    if (this.runs.length < most) this.runs = new Int32Array(2 * most)
  }

  #keyOf(cell: number, value: number): number {
    return ((cell << this.#valueBits) | this.#stepOf(value)) >>> 0
  }

  /** The step of a value: it never falls where values grow. */
  #stepOf(value: number): number {
    const last = (1 << this.#valueBits) - 1
    const step = this.#perStep === 0 ? 0 : (Math.fround(value) - this.#lowest) * this.#perStep
    return step <= 0 ? 0 : step >= last ? last : step | 0
  }
}

/** The first position from `from` on whose key is at least `key`; `end` if there is none. */
function firstAtLeast(keys: Uint32Array, from: number, end: number, key: number): number {
  let low = from
  let high = end
  while (low < high) {
    const middle = (low + high) >>> 1
    if ((keys[middle] as number) < key) low = middle + 1
    else high = middle
  }
  return low
}
