// pure: reads the slots near another one from an index
import { listAt, NETWORK } from './cells.js'
import { VALUES, X, Y, Z, type Columns } from './columns.js'
import type { Filed } from './filed.js'
import { grown } from './growing.js'
import { ListChoice } from './list-choice.js'
import { END, type Lists } from './lists.js'
import type { Model, Slot } from './model.js'
import type { Mutable } from './mutable.js'
import type { SearchScale } from './scales.js'

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

export function createIndexQuery(model: Model<never>, columns: Columns, filed: Filed): IndexQuery {
  const { scales, grids } = filed
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
  const chosen = new ListChoice(model, columns, filed)

  // The progress of the reading.
  let at = 0
  let node = END
  let left = 0
  /** Slots left to read in the list of the centre's network, which is read last. */
  let leftInNetwork = 0

  const lowOf = (slot: Slot, span: number) =>
    spans === 0 ? 0 : (columns.rows[slot * stride + VALUES + 2 * span] as number)
  const sameNetwork = (one: Slot, other: Slot) =>
    columns.network[one] !== -1 && columns.network[one] === columns.network[other]

  const codeOfNetwork = () => listAt(columns.keyHash[center] as number, columns.network[center] as number, NETWORK)

  /** Whether others of the centre's network may be near wherever they are, as it or one of them has no place. */
  const readsNetwork = () =>
    columns.network[center] !== -1 &&
    (filed.placeless > 0 || Number.isNaN(columns.rows[center * stride + X] as number))

  /** Turns to the list of the centre's network; false if there is nothing left to read. */
  const goOn = (): boolean => {
    if (leftInNetwork === 0 || filed.networks === undefined) return false
    at = 0
    left = leftInNetwork
    leftInNetwork = 0
    node = chosen.chooseOne(filed.networks, codeOfNetwork())
    return true
  }

  const query: Mutable<IndexQuery> = {
    cut: false,
    startAround: (slot) => {
      if (returnedIn.length < filed.slotOf.length) returnedIn = grown(returnedIn, filed.slotOf.length)
      center = slot
      searches += 1
    },
    turnTo: (scaleAt, most, skip) => {
      left = 0
      leftInNetwork = 0
      query.cut = false
      if (filed.slotOf.length === 0) return 0
      scale = scales[scaleAt] as SearchScale
      const inChosen = chosen.choose(center, scaleAt)
      const { networks } = filed
      const byItsNetwork = networks !== undefined && grids[scaleAt] !== undefined && readsNetwork()
      const inNetwork = byItsNetwork ? (networks.heads[networks.at(codeOfNetwork()) + 1] as number) : 0
      left = Math.min(inChosen, most)
      leftInNetwork = Math.min(inNetwork, most - left)
      query.cut = inChosen + inNetwork > most
      at = 0
      node = END
      if (inChosen === 0) return inNetwork

      const { heads } = chosen
      const { heads: all, next } = chosen.lists as Lists
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
        const { next, heads: all, codeOf } = chosen.lists as Lists
        if (node === END) {
          at = at + 1 === chosen.count ? 0 : at + 1
          node = all[chosen.heads[at] as number] as number
        }
        // The current list, as far as it may be read.
        const code = chosen.codes[at] as number
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
