// pure: the tickets left over of one key, and those near each of them
import type { Columns } from './columns.js'
import type { Levels } from './levels.js'
import type { Model, Slot } from './model.js'
import { createSorter } from './radix-sort.js'
import { covers, limitScales } from './scales.js'
import { Sheet } from './sheet.js'
import { TicketRows, type Id } from './ticket-rows.js'

/** Tickets found at most around one. */
const MOST_FOUND = 4096
/** A margin for the rounding of squares. */
const ROUNDING = 1 + 1e-9

/**
 * Tickets for many searches, one after the other. The index of the pool has lists, as its tickets come and go; here all
 * tickets are known, so what is near one of them is a few runs of memory.
 */
export class Leftovers {
  readonly rows: TicketRows
  /** The slot of each ticket. Tickets near each other have ids near each other. */
  slots: Int32Array = new Int32Array(0)
  /** Players of each ticket; 0 for a ticket that is matched, gone, or proven to be in no match. */
  sizes = new Uint16Array(0)
  /** The first `many` are the tickets found around one, in no order, and the squares of how far away they are. */
  readonly found = new Int32Array(MOST_FOUND)
  readonly #squares = new Float64Array(MOST_FOUND)
  /** The costs of the tickets found, once they are priced; and their players together. */
  readonly costs = new Float64Array(MOST_FOUND)
  #priced = 0
  many = 0
  players = 0
  /** Tickets read to find them. */
  reads = 0
  /** Whether there were more than can be found. */
  wasCut = false
  readonly #columns: Columns
  /** For each scale the tickets that may be matched that far. */
  readonly #sheets: readonly [Sheet, ...Sheet[]]
  /** For each level the last sheet to look at. */
  readonly #lastOf: Uint8Array
  readonly #sorter = createSorter()

  constructor(model: Model<never>, columns: Columns, levels: Levels) {
    const scales = limitScales(model)
    this.rows = new TicketRows(model, columns, levels)
    this.#columns = columns
    this.#sheets = scales.map((scale) => new Sheet(scale)) as [Sheet, ...Sheet[]]
    this.#lastOf = Uint8Array.from(model.levels, (_, level) => scales.findIndex((scale) => covers(model, scale, level)))
  }

  bytes(): number {
    const { rows, sizes, slots } = this
    const own = rows.bytes() + sizes.byteLength + slots.byteLength + this.#sorter.bytes()
    return this.#sheets.reduce((sum, sheet) => sum + sheet.bytes(), own)
  }

  /**
   * Replaces the tickets by those of the slots; false if one of them has no place or no values. Yields how many tickets
   * it has read; tickets that leave meanwhile are copied too.
   */
  *fill(slots: Int32Array): Generator<number, boolean> {
    if (!this.rows.areKnown(slots)) return false
    const count = slots.length
    const input = { columns: this.#columns, sorter: this.#sorter, ...this.#rangeOf(slots) }
    const [finest, ...others] = this.#sheets
    finest.file(slots, count, { ...input, slotOf: (slot) => slot })
    this.slots = finest.items
    this.rows.fill(this.slots, count)
    this.sizes = new Uint16Array(count)
    const relaxed = new Int32Array(count)
    for (let id = 0; id < count; id++) {
      this.sizes[id] = this.#columns.size[this.slots[id] as Slot] as number
      relaxed[id] = id
    }
    finest.renumber(relaxed.slice(), count)
    yield count
    let still = count
    for (const [before, sheet] of others.entries()) {
      const of = still
      still = 0
      for (let at = 0; at < of; at++) {
        const id = relaxed[at] as Id
        if (this.lastOf(id) > before) relaxed[still++] = id
      }
      sheet.file(relaxed, still, { ...input, slotOf: (id) => this.slots[id] as Slot })
      sheet.renumber(sheet.items, count)
      yield still
    }
    return true
  }

  /** The last sheet to look at for a ticket. */
  lastOf(id: Id): number {
    return this.#lastOf[this.rows.level[id] as number] as number
  }

  /** Forgets a ticket: it is matched, gone, or proven to be in no match. */
  forget(id: Id): void {
    if (this.sizes[id] === 0) return
    this.sizes[id] = 0
    const last = this.lastOf(id)
    for (let at = 0; at <= last; at++) (this.#sheets[at] as Sheet).gone += 1
  }

  /**
   * Begins to look around a ticket: finds which parts of the sheets hold all tickets that may be matched with it.
   * Returns how many others there are at most.
   */
  begin(id: Id): number {
    const { rows, stride } = this.rows
    const low = rows[id * stride + 3] as number
    const high = rows[id * stride + 4] as number
    const last = this.lastOf(id)
    let most = 0
    for (let at = 0; at <= last; at++) {
      const sheet = this.#sheets[at] as Sheet
      const { width } = sheet.scale
      sheet.tidy(this.sizes)
      // The ticket itself is among them, unless its own values are too far apart at this scale for anybody.
      most += Math.max(0, sheet.look(id, high - width, low + width) - 1)
    }
    this.many = 0
    this.#priced = 0
    this.players = 0
    this.reads = 0
    this.wasCut = false
    return most
  }

  /**
   * Reads a sheet: finds the tickets that may be matched with a ticket and were not found in a sheet before.
   * @param fits for each size, 1 if tickets of this size are looked for; 0 for size 0.
   */
  read(id: Id, at: number, fits: Uint8Array): void {
    const sheet = this.#sheets[at] as Sheet
    const { runs, inRuns, items, scale } = sheet
    const { sizes, rows: all } = this
    const { rows, level: levels, squared, limit, hasFurther, stride } = all
    const own = id * stride
    const x = rows[own] as number
    const y = rows[own + 1] as number
    const z = rows[own + 2] as number
    const low = rows[own + 3] as number
    const high = rows[own + 4] as number
    const level = levels[id] as number
    const widest = scale.width
    const farthest = scale.chord * scale.chord * ROUNDING
    const before = this.#sheets[at - 1]?.scale
    const widestBefore = before?.width ?? -1
    const farthestBefore = before === undefined ? -1 : before.chord * before.chord * ROUNDING
    for (let run = 0; run < inRuns; run += 2) {
      const end = runs[run + 1] as number
      this.reads += end - (runs[run] as number)
      for (let next = runs[run] as number; next < end; next++) {
        const other = items[next] as Id
        const size = sizes[other] as number
        if (fits[size] === 0) continue
        const row = other * stride
        const dx = x - (rows[row] as number)
        const dy = y - (rows[row + 1] as number)
        const dz = z - (rows[row + 2] as number)
        const square = dx * dx + dy * dy + dz * dz
        // Most of those read are too far away.
        if (square > farthest) continue
        const otherLow = rows[row + 3] as number
        const otherHigh = rows[row + 4] as number
        const gap = (high > otherHigh ? high : otherHigh) - (low < otherLow ? low : otherLow)
        if (gap > widest || (gap <= widestBefore && square <= farthestBefore)) continue
        const otherLevel = levels[other] as number
        const between = level < otherLevel ? level : otherLevel
        if (gap > (limit[between] as number) || square > (squared[between] as number) || other === id) continue
        if (hasFurther && !all.agreeFurther(id, other, between)) continue
        if (this.many === MOST_FOUND) {
          this.wasCut = true
          return
        }
        this.found[this.many] = other
        this.#squares[this.many++] = square
        this.players += size
      }
    }
  }

  /** Works out the costs of the tickets found around a ticket. */
  price(id: Id): void {
    const { rows, stride, perChord, perWidth } = this.rows
    const { found, costs, many } = this
    const low = rows[id * stride + 3] as number
    for (let at = this.#priced; at < many; at++) {
      const gap = Math.abs(low - (rows[(found[at] as Id) * stride + 3] as number))
      costs[at] = Math.sqrt(this.#squares[at] as number) * perChord + gap * perWidth
    }
    this.#priced = many
  }

  #rangeOf(slots: Int32Array): { readonly lowest: number; readonly highest: number } {
    const { coarse } = this.#columns
    let lowest = Infinity
    let highest = -Infinity
    for (let at = 0; at < slots.length; at++) {
      const value = coarse[4 * (slots[at] as Slot) + 2] as number
      if (value < lowest) lowest = value
      if (value > highest) highest = value
    }
    return { lowest, highest }
  }
}
