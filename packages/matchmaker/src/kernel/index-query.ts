// pure: reads the slots near another one from an index
import { ANY, bandOf, cellsNear, listAt, listOf, NETWORK, NOWHERE, partOfBand, partOfCell } from './cells.js'
import { VALUES, X, Y, Z, type Columns } from './columns.js'
import type { Filed } from './filed.js'
import { END, type Lists } from './lists.js'
import type { Model, Slot } from './model.js'
import type { Mutable } from './mutable.js'
import type { SearchScale } from './scales.js'
import type { SphereGrid } from './sphere.js'

/** A search around one slot, scale by scale. Each slot is returned at most once per search. */
export interface IndexQuery {
  /** Starts a new search. The slot itself is never returned. */
  startAround(slot: Slot): void
  /**
   * Turns to the slots near at a scale. At most `most` of them are read, after skipping `skip`, so that repeated
   * searches read different slots. Returns an upper bound of how many are near, those returned before included.
   */
  turnTo(scale: number, most: number, skip: number): number
  /**
   * Writes the next slots to `into`, in no order of distance, and returns how many. Fewer than `into` holds means that
   * there are no more.
   */
  next(into: Int32Array): number
  /** Whether this scale has more slots than are read. */
  readonly cut: boolean
}

/** Lists read around a place at most: its nine cells and `NOWHERE`, with four bands each. */
const MOST_LISTS = 40
/** With this few slots in the lists of one span, the other spans' lists are not tried. */
const FEW = 32

export function createIndexQuery(model: Model<never>, columns: Columns, filed: Filed): IndexQuery {
  const { scales, grids, indexed } = filed
  const byNetwork = model.radius?.unknown === 'network'
  const spans = model.spans.length
  const { stride } = columns
  /**
   * For each node the number of the search that last returned it; 64-bit floats, because there may be more than 2³²
   * searches.
   */
  let returnedIn = new Float64Array(0)
  let searches = 0

  // The centre and the scale of the search.
  let center: Slot = 0
  let scale = scales[0] as SearchScale
  const cells = new Int32Array(10)
  const bands = new Int32Array(4)
  /**
   * Positions of the non-empty lists: `heads` for the span that leaves the fewest slots so far, `others` for the span
   * being tried.
   */
  let heads = new Int32Array(MOST_LISTS)
  let others = new Int32Array(MOST_LISTS)
  /** The codes of the lists in `heads` and `others`. */
  let codes = new Int32Array(MOST_LISTS)
  let otherCodes = new Int32Array(MOST_LISTS)
  let inLists = 0

  // The progress of the reading.
  let list: Lists | undefined
  let many = 0
  let at = 0
  let node = END
  let left = 0
  /** Slots left to read in the list of the centre's network, which is read last. */
  let leftInNetwork = 0

  const located = (slot: Slot) => !Number.isNaN(columns.rows[slot * stride + X] as number)
  const lowOf = (slot: Slot, span: number) =>
    spans === 0 ? 0 : (columns.rows[slot * stride + VALUES + 2 * span] as number)
  const sameNetwork = (one: Slot, other: Slot) =>
    columns.network[one] !== -1 && columns.network[one] === columns.network[other]

  /** Writes the cells around the centre, and `NOWHERE` for slots without a place; returns how many. */
  const cellsOf = (grid: SphereGrid | undefined): number => {
    if (grid === undefined) {
      cells[0] = 0
      return 1
    }
    let found = 0
    if (located(center))
      found = cellsNear(grid, columns.coarse[4 * center] as number, columns.coarse[4 * center + 1] as number, cells)
    if (filed.placeless > 0 && !byNetwork) cells[found++] = NOWHERE
    return found
  }

  /**
   * Writes the positions of a span's non-empty lists in the first `around` cells to `others` and returns how many. Sets
   * `inLists` to the slots in these lists.
   */
  const listsOf = (lists: Lists, span: number, around: number): number => {
    const key = columns.keyHash[center] as number
    const width = scale.widths[span] ?? Infinity
    const band = bandOf(lowOf(center, span), width)
    bands[0] = partOfBand(key, band)
    let inBands = 1
    if (width < Infinity && band !== ANY) {
      // The bands beside the centre's, and the band of slots that match any value.
      bands[1] = partOfBand(key, (band - 1) | 0)
      bands[2] = partOfBand(key, (band + 1) | 0)
      bands[3] = partOfBand(key, ANY)
      inBands = (filed.valueless[span] as number) > 0 ? 4 : 3
    }
    const { heads: all } = lists
    let to = 0
    inLists = 0
    for (let each = 0; each < around; each++) {
      const ofCell = partOfCell(cells[each] as number)
      for (let beside = 0; beside < inBands; beside++) {
        const code = listOf(ofCell, bands[beside] as number)
        const head = lists.at(code)
        const members = all[head + 1] as number
        if (members === 0) continue
        inLists += members
        others[to] = head
        otherCodes[to++] = code
      }
    }
    return to
  }

  /** Chooses the lists of the span that leaves the fewest slots; returns how many slots those lists hold. */
  const chooseLists = (scaleAt: number): number => {
    const around = cellsOf(grids[scaleAt])
    let inChosen = Infinity
    for (let span = 0; span < indexed && inChosen > FEW; span++) {
      const tried = filed.lists[span]?.[scaleAt]
      // A centre that matches any value is near every slot, and the lists of bands cannot give all of them.
      if (tried === undefined || (span > 0 && lowOf(center, span) === Infinity)) continue
      const found = listsOf(tried, span, around)
      if (inLists >= inChosen) continue
      list = tried
      many = found
      inChosen = inLists
      const worse = heads
      heads = others
      others = worse
      const worseCodes = codes
      codes = otherCodes
      otherCodes = worseCodes
    }
    return inChosen
  }

  const codeOfNetwork = () => listAt(columns.keyHash[center] as number, columns.network[center] as number, NETWORK)

  /** Turns to the list of the centre's network; false if there is nothing left to read. */
  const goOn = (): boolean => {
    if (leftInNetwork === 0 || filed.networks === undefined) return false
    list = filed.networks
    many = 1
    at = 0
    left = leftInNetwork
    leftInNetwork = 0
    codes[0] = codeOfNetwork()
    heads[0] = list.at(codes[0])
    node = list.heads[heads[0]] as number
    return true
  }

  const query: Mutable<IndexQuery> = {
    cut: false,
    startAround: (slot) => {
      if (returnedIn.length < filed.slotOf.length) returnedIn = new Float64Array(filed.slotOf.length)
      center = slot
      searches += 1
    },
    turnTo: (scaleAt, most, skip) => {
      left = 0
      leftInNetwork = 0
      query.cut = false
      if (filed.lists.length === 0) return 0
      scale = scales[scaleAt] as SearchScale
      const inChosen = chooseLists(scaleAt)
      const { networks, placeless } = filed
      const byItsNetwork =
        networks !== undefined && grids[scaleAt] !== undefined && placeless > 0 && columns.network[center] !== -1
      const inNetwork = byItsNetwork ? (networks.heads[networks.at(codeOfNetwork()) + 1] as number) : 0
      left = Math.min(inChosen, most)
      leftInNetwork = Math.min(inNetwork, most - left)
      query.cut = inChosen + inNetwork > most
      at = 0
      node = END
      if (inChosen === 0) return inNetwork

      const { heads: all, next } = list as Lists
      let before = skip % inChosen
      for (
        let members = all[(heads[0] as number) + 1] as number;
        before >= members;
        members = all[(heads[at] as number) + 1] as number
      ) {
        before -= members
        at += 1
      }
      for (node = all[heads[at] as number] as number; before > 0; before--) node = next[node] as number
      return inChosen + inNetwork
    },
    next: (into) => {
      const limit = scale.chord * scale.chord
      const narrow = scale.width < Infinity
      const { points, slotOf } = filed
      const { rows } = columns
      const own = center * stride
      const x = rows[own + X] as number
      const y = rows[own + Y] as number
      const z = rows[own + Z] as number
      const least = lowOf(center, 0) - scale.width
      const most = lowOf(center, 0) + scale.width
      // A slot without a place, or one that matches any value, is near others of its kind. It is near other slots only
      // where the chosen lists hold it.
      const alone = byNetwork || Number.isNaN(x)
      let returned = 0
      while (returned < into.length && (left > 0 || goOn())) {
        const { next, heads: all, codeOf } = list as Lists
        if (node === END) {
          at = at + 1 === many ? 0 : at + 1
          node = all[heads[at] as number] as number
        }
        // The current list, as far as it may be read.
        const code = codes[at] as number
        let each = node
        let unread = left
        for (; each !== END && unread > 0 && returned < into.length; each = next[each] as number) {
          unread -= 1
          // Lists with the same lower bits share one chain, so the chain may hold nodes of other lists.
          if (codeOf[each] !== code) continue
          const point = 4 * each
          if (narrow) {
            const other = points[point + 3] as number
            if (other !== Infinity && !(other <= most && other >= least)) continue
          }
          if (limit < Infinity) {
            const dx = (points[point] as number) - x
            const dy = (points[point + 1] as number) - y
            const dz = (points[point + 2] as number) - z
            const square = dx * dx + dy * dy + dz * dz
            if (square > limit) continue
            if (
              alone &&
              Number.isNaN(square) &&
              !(byNetwork ? sameNetwork(center, slotOf[each] as Slot) : Number.isNaN(points[point] as number))
            )
              continue
          }
          if (returnedIn[each] === searches) continue
          returnedIn[each] = searches
          const slot = slotOf[each] as Slot
          if (slot !== center) into[returned++] = slot
        }
        node = each
        left = unread
      }
      return returned
    },
  }
  return query
}
