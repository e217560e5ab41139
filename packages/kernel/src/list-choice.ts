// pure: chooses the lists of an index that a query reads
import { ANY, bandOf, cellsNear, listOf, NOWHERE, partOfBand, partOfCell } from './cells.js'
import { VALUES, X, type Columns } from './columns.js'
import type { Filed } from './filed.js'
import type { Lists } from './lists.js'
import type { Model, Slot } from './model.js'
import type { SearchScale } from './scales.js'
import type { SphereGrid } from './sphere.js'

/** Lists read around a place at most: its nine cells and `NOWHERE`, with four bands each. */
const MOST_LISTS = 40
/** With this few slots in the lists of one span, the other spans' lists are not tried. */
const FEW = 32

/** The lists around a slot: those of the span that leaves the fewest slots. */
export class ListChoice {
  lists: Lists | undefined
  /** The first `count` are the positions of the non-empty lists. */
  heads = new Int32Array(MOST_LISTS)
  /** Their codes. */
  codes = new Int32Array(MOST_LISTS)
  count = 0
  /** The span that they are of. */
  span = 0
  readonly #columns: Columns
  readonly #filed: Filed
  readonly #byNetwork: boolean
  readonly #spans: number
  readonly #cells = new Int32Array(10)
  readonly #bands = new Int32Array(4)
  // The same for the span being tried, and the slots in its lists.
  #otherHeads = new Int32Array(MOST_LISTS)
  #otherCodes = new Int32Array(MOST_LISTS)
  #inLists = 0

  constructor(model: Model<never>, columns: Columns, filed: Filed) {
    this.#columns = columns
    this.#filed = filed
    this.#byNetwork = model.radius?.unknown === 'network'
    this.#spans = model.spans.length
  }

  /** Chooses the lists around a slot at a scale; returns how many slots they hold. */
  choose(center: Slot, scaleAt: number): number {
    const { lists, scales, grids, indexed } = this.#filed
    const around = this.#writeCells(center, grids[scaleAt])
    let fewest = Infinity
    this.span = 0
    for (let span = 0; span < indexed && fewest > FEW; span++) {
      const tried = lists[span]?.[scaleAt]
      // A centre that matches any value is near every slot, and the lists of bands cannot give all of them.
      if (tried === undefined || (span > 0 && this.#lowOf(center, span) === Infinity)) continue
      const found = this.#writeLists(center, tried, scales[scaleAt] as SearchScale, span, around)
      if (this.#inLists >= fewest) continue
      this.lists = tried
      this.count = found
      this.span = span
      fewest = this.#inLists
      const { heads, codes } = this
      this.heads = this.#otherHeads
      this.codes = this.#otherCodes
      this.#otherHeads = heads
      this.#otherCodes = codes
    }
    return fewest
  }

  /** The span whose lists hold the fewest slots around some others, all in all. */
  narrowest(centers: Iterable<Slot>, scaleAt: number): number {
    const { lists, scales, grids, indexed } = this.#filed
    const inAll = new Float64Array(indexed)
    for (const center of centers) {
      const around = this.#writeCells(center, grids[scaleAt])
      for (let span = 0; span < indexed; span++) {
        const tried = lists[span]?.[scaleAt]
        if (tried === undefined) inAll[span] = Infinity
        // A centre that matches any value is near every slot.
        else if (span === 0 || this.#lowOf(center, span) !== Infinity) {
          this.#writeLists(center, tried, scales[scaleAt] as SearchScale, span, around)
          inAll[span] = (inAll[span] as number) + this.#inLists
        }
      }
    }
    return inAll.indexOf(Math.min(...inAll))
  }

  /** Chooses a single list; returns its first member. */
  chooseOne(lists: Lists, code: number): number {
    this.lists = lists
    this.count = 1
    this.codes[0] = code
    this.heads[0] = lists.at(code)
    return lists.heads[this.heads[0]] as number
  }

  #lowOf(slot: Slot, span: number): number {
    const { rows, stride } = this.#columns
    return this.#spans === 0 ? 0 : (rows[slot * stride + VALUES + 2 * span] as number)
  }

  /** Writes the cells around the centre, and `NOWHERE` for slots without a place; returns how many. */
  #writeCells(center: Slot, grid: SphereGrid | undefined): number {
    const { coarse, rows, stride } = this.#columns
    if (grid === undefined) {
      this.#cells[0] = 0
      return 1
    }
    let found = 0
    if (!Number.isNaN(rows[center * stride + X] as number))
      found = cellsNear(grid, coarse[4 * center] as number, coarse[4 * center + 1] as number, this.#cells)
    if (this.#filed.placeless > 0 && !this.#byNetwork) this.#cells[found++] = NOWHERE
    return found
  }

  /**
   * Writes a span's non-empty lists in the first `around` cells to `#otherHeads` and `#otherCodes`; returns how many.
   * Sets `#inLists` to the slots in these lists.
   */
  #writeLists(center: Slot, lists: Lists, scale: SearchScale, span: number, around: number): number {
    const inBands = this.#writeBands(center, scale.widths[span] ?? Infinity, span)
    const { heads: all } = lists
    // Private fields are read once: the inner loop runs up to forty times for each search.
    const [cells, bands, heads, codes] = [this.#cells, this.#bands, this.#otherHeads, this.#otherCodes]
    let to = 0
    let inLists = 0
    for (let each = 0; each < around; each++) {
      const ofCell = partOfCell(cells[each] as number)
      for (let beside = 0; beside < inBands; beside++) {
        const code = listOf(ofCell, bands[beside] as number)
        const head = lists.at(code)
        const members = all[head + 1] as number
        if (members === 0) continue
        inLists += members
        heads[to] = head
        codes[to++] = code
      }
    }
    this.#inLists = inLists
    return to
  }

  /** Writes the bands around the centre's value; returns how many. */
  #writeBands(center: Slot, width: number, span: number): number {
    const key = this.#columns.keyHash[center] as number
    const band = bandOf(this.#lowOf(center, span), width)
    const bands = this.#bands
    bands[0] = partOfBand(key, band)
    if (width === Infinity || band === ANY) return 1
    // The bands beside the centre's, and the band of slots that match any value.
    bands[1] = partOfBand(key, (band - 1) | 0)
    bands[2] = partOfBand(key, (band + 1) | 0)
    bands[3] = partOfBand(key, ANY)
    return (this.#filed.valueless[span] as number) > 0 ? 4 : 3
  }
}
