// pure: reads an index of slots: who is near one of them
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
  /** Begins anew. The slot itself is not told. */
  lookAround(slot: Slot): void
  /**
   * Turns to those who are near at a scale. No more than `most` are looked at, beginning after `skip` others, so that
   * other looks see others. Says how many there are at most, those told before included.
   */
  turnTo(scale: number, most: number, skip: number): number
  /** Writes the next of them, in no order of distance; says how many. Fewer than `into` holds: that was all. */
  next(into: Int32Array): number
  /** Whether there are more at this scale than are looked at. */
  readonly cut: boolean
}

/** Lists around a place: of its nine cells and of nowhere, four bands each. */
const MOST_LISTS = 40
/** So few are read as they are. */
const FEW = 32

export function createIndexQuery(model: Model<never>, columns: Columns, filed: Filed): IndexQuery {
  const { scales, grids, indexed } = filed
  const byNetwork = model.radius?.unknown === 'network'
  const spans = model.spans.length
  const { stride } = columns
  /** In which look a node was last told: there are more looks than 32 bits can count. */
  let toldIn = new Float64Array(0)
  let looks = 0

  // Around whom, and at which scale.
  let center: Slot = 0
  let scale = scales[0] as SearchScale
  const cells = new Int32Array(10)
  const bands = new Int32Array(4)
  /** Where the lists are of the span that leaves the fewest, and of the one that is tried: none of them empty. */
  let heads = new Int32Array(MOST_LISTS)
  let others = new Int32Array(MOST_LISTS)
  /** Which lists these are. */
  let codes = new Int32Array(MOST_LISTS)
  let otherCodes = new Int32Array(MOST_LISTS)
  let inLists = 0

  // How far it has come.
  let list: Lists | undefined
  let many = 0
  let at = 0
  let node = END
  let left = 0
  /** Of the network, looked at last. */
  let leftInNetwork = 0

  const located = (slot: Slot) => !Number.isNaN(columns.rows[slot * stride + X] as number)
  const lowOf = (slot: Slot, span: number) =>
    spans === 0 ? 0 : (columns.rows[slot * stride + VALUES + 2 * span] as number)
  const sameNetwork = (one: Slot, other: Slot) =>
    columns.network[one] !== -1 && columns.network[one] === columns.network[other]

  /** The cells around the center, and where whoever has no place is; says how many. */
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
   * Writes where the lists of a span in so many cells are that are not empty into `others`; says how many, and sets
   * `inLists`.
   */
  const listsOf = (lists: Lists, span: number, around: number): number => {
    const key = columns.keyHash[center] as number
    const width = scale.widths[span] ?? Infinity
    const band = bandOf(lowOf(center, span), width)
    bands[0] = partOfBand(key, band)
    let inBands = 1
    if (width < Infinity && band !== ANY) {
      // Those beside it, and whoever goes with any.
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

  /** Chooses the lists of the span that leaves the fewest; says how many those are. */
  const chooseLists = (scaleAt: number): number => {
    const around = cellsOf(grids[scaleAt])
    let there = Infinity
    for (let span = 0; span < indexed && there > FEW; span++) {
      const tried = filed.lists[span]?.[scaleAt]
      // Who goes with any value is near all, and lists of bands do not tell who they are.
      if (tried === undefined || (span > 0 && lowOf(center, span) === Infinity)) continue
      const found = listsOf(tried, span, around)
      if (inLists >= there) continue
      list = tried
      many = found
      there = inLists
      const worse = heads
      heads = others
      others = worse
      const worseCodes = codes
      codes = otherCodes
      otherCodes = worseCodes
    }
    return there
  }

  const codeOfNetwork = () => listAt(columns.keyHash[center] as number, columns.network[center] as number, NETWORK)

  /** Turns to the network if there is one; false if that was all. */
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

  const look: Mutable<IndexQuery> = {
    cut: false,
    lookAround: (slot) => {
      if (toldIn.length < filed.slotOf.length) toldIn = new Float64Array(filed.slotOf.length)
      center = slot
      looks += 1
    },
    turnTo: (scaleAt, most, skip) => {
      left = 0
      leftInNetwork = 0
      look.cut = false
      if (filed.lists.length === 0) return 0
      scale = scales[scaleAt] as SearchScale
      const there = chooseLists(scaleAt)
      const { networks, placeless } = filed
      const byItsNetwork =
        networks !== undefined && grids[scaleAt] !== undefined && placeless > 0 && columns.network[center] !== -1
      const inNetwork = byItsNetwork ? (networks.heads[networks.at(codeOfNetwork()) + 1] as number) : 0
      left = Math.min(there, most)
      leftInNetwork = Math.min(inNetwork, most - left)
      look.cut = there + inNetwork > most
      at = 0
      node = END
      if (there === 0) return inNetwork

      const { heads: all, next } = list as Lists
      let before = skip % there
      for (
        let members = all[(heads[0] as number) + 1] as number;
        before >= members;
        members = all[(heads[at] as number) + 1] as number
      ) {
        before -= members
        at += 1
      }
      for (node = all[heads[at] as number] as number; before > 0; before--) node = next[node] as number
      return there + inNetwork
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
      // Who has no place, or goes with any value, is near those of the same kind, and near others where it was read
      // among them.
      const alone = byNetwork || Number.isNaN(x)
      let told = 0
      while (told < into.length && (left > 0 || goOn())) {
        const { next, heads: all, codeOf } = list as Lists
        if (node === END) {
          at = at + 1 === many ? 0 : at + 1
          node = all[heads[at] as number] as number
        }
        // One list, as far as it may be read.
        const code = codes[at] as number
        let each = node
        let unread = left
        for (; each !== END && unread > 0 && told < into.length; each = next[each] as number) {
          unread -= 1
          // It may hold members of others, and others of the same number.
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
          if (toldIn[each] === looks) continue
          toldIn[each] = looks
          const slot = slotOf[each] as Slot
          if (slot !== center) into[told++] = slot
        }
        node = each
        left = unread
      }
      return told
    },
  }
  return look
}
