// pure: reads the lists of an index once for many slots that share them
import { ANY, bandOf, cellOf, cellsNear, listAt, NETWORK, NOWHERE } from './cells.js'
import { VALUES, X, type Columns } from './columns.js'
import type { Filed } from './filed.js'
import { ListChoice } from './list-choice.js'
import { END, type Lists } from './lists.js'
import type { Model, Slot } from './model.js'

/** Slots around which the lists of all spans are counted, to choose a span for all. */
const ASKED = 16

/** Slots whose own lists at a scale are the same. */
export interface Sharing {
  /** The span whose lists these are. */
  readonly span: number
  readonly cell: number
  readonly band: number
  readonly key: number
  readonly slots: Slot[]
}

/**
 * Reads the lists around many slots. Where most slots have others in the same cell, that is a fraction of what it takes
 * to search around each. Its results are not filtered: whoever is in a list around one of the slots is returned.
 */
export class SharedLists {
  readonly #columns: Columns
  readonly #filed: Filed
  readonly #byNetwork: boolean
  readonly #spans: number
  readonly #choice: ListChoice
  readonly #cells = new Int32Array(9)

  constructor(model: Model<never>, columns: Columns, filed: Filed) {
    this.#columns = columns
    this.#filed = filed
    this.#byNetwork = model.radius?.unknown === 'network'
    this.#spans = model.spans.length
    this.#choice = new ListChoice(model, columns, filed)
  }

  /** Groups slots by their own list at a scale. */
  grouped(slots: readonly Slot[], scale: number): Sharing[] {
    const { keyHash } = this.#columns
    const all: Sharing[] = []
    const byCode = new Map<number, Sharing>()
    const narrowest = this.#narrowest(slots, scale)
    for (const slot of slots) {
      const span = this.lowOf(slot, narrowest) === Infinity ? 0 : narrowest
      const [key, cell, band] = [keyHash[slot] as number, this.#cellOf(slot, scale), this.#bandOf(slot, scale, span)]
      let code = listAt(key, cell, band) ^ span
      let found = byCode.get(code)
      // Others may have the same code by chance.
      while (found !== undefined && !(found.cell === cell && found.band === band && found.key === key))
        found = byCode.get(++code)
      if (found === undefined) {
        byCode.set(code, (found = { span, cell, band, key, slots: [] }))
        all.push(found)
      }
      found.slots.push(slot)
    }
    return all
  }

  /** Writes the members of all lists around any of the slots; returns how many, or Infinity if there is no room. */
  read(sharing: Sharing, scale: number, into: Int32Array): number {
    const { lists, networks } = this.#filed
    const own = lists[sharing.span]?.[scale] as Lists
    let count = 0
    for (const cell of this.#cellsAround(sharing, scale))
      for (const band of this.#bandsAround(sharing, scale)) {
        count = this.#append(own, listAt(sharing.key, cell, band), into, count)
        if (count === Infinity) return count
      }
    if (networks === undefined || this.#filed.grids[scale] === undefined) return count
    // All have a place: those in the lists, and those whose lists these are.
    if (this.#filed.placeless === 0 && sharing.cell !== NOWHERE) return count
    for (const network of new Set(sharing.slots.map((slot) => this.#columns.network[slot] as number))) {
      if (network !== -1) count = this.#append(networks, listAt(sharing.key, network, NETWORK), into, count)
      if (count === Infinity) return count
    }
    return count
  }

  /** The low value of a slot's span; Infinity where it matches any. */
  lowOf(slot: Slot, span: number): number {
    const { rows, stride } = this.#columns
    return this.#spans === 0 ? 0 : (rows[slot * stride + VALUES + 2 * span] as number)
  }

  /** The span whose lists are the shortest around some of the slots. */
  #narrowest(slots: readonly Slot[], scale: number): number {
    if (this.#filed.indexed === 1) return 0
    const every = Math.ceil(slots.length / ASKED)
    return this.#choice.narrowest(
      slots.filter((_, at) => at % every === 0),
      scale,
    )
  }

  #cellOf(slot: Slot, scale: number): number {
    const grid = this.#filed.grids[scale]
    if (grid === undefined) return 0
    const { rows, stride, coarse } = this.#columns
    if (Number.isNaN(rows[slot * stride + X] as number)) return NOWHERE
    return cellOf(grid, coarse[4 * slot] as number, coarse[4 * slot + 1] as number)
  }

  #bandOf(slot: Slot, scale: number, span: number): number {
    return bandOf(this.lowOf(slot, span), this.#filed.scales[scale]?.widths[span] ?? Infinity)
  }

  /** Cells around those of one cell differ, where the cells north and south of it begin elsewhere. */
  #cellsAround({ cell, slots }: Sharing, scale: number): ReadonlySet<number> {
    const grid = this.#filed.grids[scale]
    if (grid === undefined) return new Set([0])
    const { coarse } = this.#columns
    const around = new Set<number>()
    if (cell !== NOWHERE)
      for (const slot of slots) {
        const many = cellsNear(grid, coarse[4 * slot] as number, coarse[4 * slot + 1] as number, this.#cells)
        for (let at = 0; at < many; at++) around.add(this.#cells[at] as number)
      }
    if (this.#filed.placeless > 0 && !this.#byNetwork) around.add(NOWHERE)
    return around
  }

  #bandsAround({ band, span }: Sharing, scale: number): readonly number[] {
    const width = this.#filed.scales[scale]?.widths[span] ?? Infinity
    if (width === Infinity || band === ANY) return [band]
    const beside = [band, (band - 1) | 0, (band + 1) | 0]
    return (this.#filed.valueless[span] as number) > 0 ? [...beside, ANY] : beside
  }

  #append(lists: Lists, code: number, into: Int32Array, from: number): number {
    const { slotOf } = this.#filed
    const { heads, next, codeOf } = lists
    let count = from
    const head = lists.at(code)
    if ((heads[head + 1] as number) === 0) return count
    for (let node = heads[head] as number; node !== END; node = next[node] as number) {
      if (codeOf[node] !== code) continue
      if (count === into.length) return Infinity
      into[count++] = slotOf[node] as Slot
    }
    return count
  }
}
