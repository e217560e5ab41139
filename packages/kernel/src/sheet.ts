// pure: tickets of one scale, those near each other side by side in memory
import { cellOf, cellsAroundCell } from './cells.js'
import type { Columns } from './columns.js'
import type { Slot } from './model.js'
import type { Sorter } from './radix-sort.js'
import type { Scale } from './scales.js'
import { cellsAround, type SphereGrid } from './sphere.js'

/**
 * Bits of a sort key for the step of the value at most, if the cells leave as many: each cell has a table of its steps.
 */
const VALUE_BITS = 7
/** Steps wanted in the greatest difference of the scale. */
const STEPS = 4
/** Steps of a cell's table per ticket, on average: more would be empty, and take time to write. */
const STEPS_EACH = 4
/** Bits sorted in one pass: few, as there are few tickets. */
const DIGIT = 10
/** Once this part of the tickets are gone, they are dropped. */
const DROPPED = 0.3
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
 * Tickets sorted by cell and, within a cell, by the step of the low value of the first span: those around a ticket are
 * a few runs. A sheet is made once for many searches; from then on tickets are only dropped.
 */
export class Sheet {
  readonly scale: Scale
  /** The tickets in order: the first `count`. */
  items: Int32Array = new Int32Array(0)
  count = 0
  /** How many of them are matched, gone, or proven to be in no match. */
  gone = 0
  /** What `look` found: the first position and the end of each run, in turn, `inRuns` numbers in all. */
  runs = new Int32Array(64)
  inRuns = 0
  readonly #grid: SphereGrid | undefined
  #valueBits = 0
  /** Bits of the step in the table, and those of the value's step in a sort key that are left out there. */
  #stepBits = 0
  #leftOut = 0
  readonly #cellBits: number
  /** The sort key of each position; once cells are numbered, the index of the cell and the step. */
  #keys = new Uint32Array(0)
  /** The filled cells in order. */
  #cells: number[] = []
  /** For each filled cell and step the position of its first ticket; then the number of all tickets. */
  #starts = new Int32Array(1)
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
  }

  bytes(): number {
    const cells = 3 * this.#cells.length + this.#near.length
    return 4 * (2 * this.items.length + this.#cellOf.length + this.#starts.length + cells)
  }

  /**
   * Replaces the tickets by the first `count` of `items`, in order. Tickets with equal keys keep their order.
   */
  file(items: Int32Array, count: number, { columns, sorter, slotOf, lowest, highest }: SheetInput): void {
    const { coarse } = columns
    const grid = this.#grid
    const steps = highest > lowest ? (STEPS * (highest - lowest)) / this.scale.width : 1
    this.#valueBits = Math.max(0, Math.min(VALUE_BITS, 32 - this.#cellBits, Math.ceil(Math.log2(steps))))
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
    this.count = items.length
    this.gone = 0
    this.#cellOf = new Int32Array(end)
    this.#cells = []
    const mask = (1 << bits) - 1
    let last = -1
    let index = -1
    for (let at = 0; at < items.length; at++) {
      const cell = (keys[at] as number) >>> bits
      if (cell !== last) {
        this.#cells.push((last = cell))
        index += 1
      }
      this.#cellOf[items[at] as number] = index
    }
    const cells = this.#cells.length
    this.#stepBits = cells === 0 ? 0 : Math.min(bits, Math.ceil(Math.log2((STEPS_EACH * items.length) / cells)))
    this.#leftOut = bits - this.#stepBits
    for (let at = 0; at < items.length; at++) {
      const cell = this.#cellOf[items[at] as number] as number
      keys[at] = (cell << this.#stepBits) | (((keys[at] as number) & mask) >>> this.#leftOut)
    }
    this.#starts = new Int32Array((cells << this.#stepBits) + 1)
    this.#tabulate()
    this.#nearAt = new Int32Array(cells).fill(-1)
    this.#nearCount = new Int32Array(cells)
    this.#near = []
  }

  /** Drops the tickets whose size is 0, if they are many, so that nobody reads them any more. */
  tidy(sizes: Uint16Array): void {
    if (this.gone <= this.count * DROPPED) return
    const { items } = this
    const keys = this.#keys
    let still = 0
    for (let at = 0; at < this.count; at++) {
      const item = items[at] as number
      if (sizes[item] === 0) continue
      items[still] = item
      keys[still++] = keys[at] as number
    }
    this.count = still
    this.gone = 0
    this.#tabulate()
  }

  #tabulate(): void {
    const { count } = this
    const keys = this.#keys
    const starts = this.#starts
    let next = 0
    for (let at = 0; at < count; at++) {
      const key = keys[at] as number
      while (next <= key) starts[next++] = at
    }
    starts.fill(count, next)
  }

  /**
   * Finds the runs that hold every ticket near an item whose low value is at least `least` and at most `most`; returns
   * how many tickets they hold.
   */
  look(item: number, least: number, most: number): number {
    const bits = this.#stepBits
    const leftOut = this.#leftOut
    const starts = this.#starts
    const own = this.#cellOf[item] as number
    if (this.#nearAt[own] === -1) this.#findNear(own)
    const { runs } = this
    const near = this.#near
    const low = this.#stepOf(least) >>> leftOut
    const end = (this.#stepOf(most) >>> leftOut) + 1
    const first = this.#nearAt[own] as number
    const last = first + (this.#nearCount[own] as number)
    let found = 0
    let reads = 0
    for (let each = first; each < last; each++) {
      const base = (near[each] as number) << bits
      const from = starts[base + low] as number
      const until = starts[base + end] as number
      if (from === until) continue
      runs[found++] = from
      runs[found++] = until
      reads += until - from
    }
    this.inRuns = found
    return reads
  }

  /** Lists the filled cells that hold any ticket near one of the cell. */
  #findNear(own: number): void {
    const cells = this.#cells
    this.#nearAt[own] = this.#near.length
    const around = this.#grid === undefined ? [0] : cellsAroundCell(this.#grid, cells[own] as number)
    for (const cell of around) {
      let low = 0
      let high = cells.length
      while (low < high) {
        const middle = (low + high) >>> 1
        if ((cells[middle] as number) < cell) low = middle + 1
        else high = middle
      }
      if (cells[low] === cell) this.#near.push(low)
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
