// pure: matches of two, where any two that may meet are a match
import type { Budget, Pausable } from '../data/budget.js'
import { isFree, isOlder, type Columns } from '../data/columns.js'
import type { Compare } from '../data/compare.js'
import type { Slot } from '../data/model.js'
import { windowOf, type Grid } from '../grid/grid.js'
import type { Draft } from '../search/draft.js'
import type { Found } from '../search/search.js'

/** Partners that a ticket names. */
const NAMED = 8
/** Slots that a first search reads at a scale; more with different priorities, as the highest may be anywhere. */
const MOST_READ = 256
const MOST_READ_RANKED = 4096
/** Tickets that name partners before the cheapest pairs are made. */
const BATCH = 8192
/** Steps of cost that are told apart, per unit; and the number of prices that fit into a sort key. */
const PRICES = 65_536
const MOST_PRICE = 2 ** 26 - 1

export interface PairsInput {
  readonly columns: Columns
  readonly compare: Compare
  readonly grid: Grid
  readonly draft: Draft<never>
  readonly budget: Budget
  readonly teams: readonly number[]
  ranked(): boolean
  readonly group: (found: Found) => void
  /** No partner is left. @param sawAll whether all that there are were compared. */
  readonly failed: (slot: Slot, sawAll: boolean) => void
}

/** Two tickets that may be matched. */
interface Edge {
  readonly one: Slot
  readonly other: Slot
  readonly price: number
}

/**
 * Each ticket names its nearest partners; of all pairs named the cheapest is made first; whoever has lost all of them
 * names others. Pairs of a higher priority come before cheaper ones.
 */
export function createPairs(input: PairsInput) {
  const { columns, compare, grid, draft, budget, teams, ranked, group, failed } = input
  const priorityOf = (slot: Slot) => columns.priority[slot] as number
  const names = new Int32Array(NAMED)
  const prices = new Float64Array(NAMED)

  const mayPair = (one: Slot, other: Slot): boolean => {
    if (draft.isPairwise) return draft.mayMeet(one, other)
    if (!draft.begin(one) || !draft.admits(other)) return false
    draft.push(other)
    return draft.isSound()
  }

  let own = 0
  /** Whether so many choose that of partners at one price each names others; of few the oldest come first. */
  let isCrowd = false
  /** Whether the first is the better partner of the ticket whose `mix` is `own`. */
  const isBetter = (slot: Slot, price: number, other: Slot, otherPrice: number, isRanked: boolean): boolean => {
    if (isRanked && priorityOf(slot) !== priorityOf(other)) return priorityOf(slot) > priorityOf(other)
    if (price !== otherPrice) return price < otherPrice
    if (!isCrowd) return isOlder(columns, slot, other)
    const [one, two] = [(own ^ (columns.mix[slot] as number)) >>> 0, (own ^ (columns.mix[other] as number)) >>> 0]
    return one < two || (one === two && isOlder(columns, slot, other))
  }

  /** Writes the best partners of a ticket to `names`, best first. */
  const nearest = (anchor: Slot): number => {
    const isRanked = ranked()
    const { most, skip } = windowOf(columns.cuts[anchor] as number, isRanked ? MOST_READ_RANKED : MOST_READ)
    own = columns.mix[anchor] as number
    const last = grid.coverOf(anchor)
    const isWide = grid.goesAnywhere(anchor)
    let [count, read] = [0, 0]
    grid.begin(anchor)
    if (!draft.begin(anchor)) return 0
    /** Whether there are enough partners after these were looked at. */
    const take = (): boolean => {
      for (; read < grid.count; read++) {
        const slot = grid.found[read] as Slot
        if (columns.size[slot] !== 1) continue
        const price = compare.cost(anchor, slot)
        if (count === NAMED && !isBetter(slot, price, names[count - 1] as Slot, prices[count - 1] as number, isRanked))
          continue
        if (!mayPair(anchor, slot)) continue
        let at = count < NAMED ? count++ : count - 1
        for (; at > 0 && isBetter(slot, price, names[at - 1] as Slot, prices[at - 1] as number, isRanked); at--) {
          names[at] = names[at - 1] as Slot
          prices[at] = prices[at - 1] as number
        }
        names[at] = slot
        prices[at] = price
      }
      return !isRanked && count === NAMED
    }
    for (let scale = Math.min(grid.finest(), last); scale <= last; scale++) {
      grid.collect(scale, most, scale === last ? skip : 0)
      if (take()) return count
    }
    if (isWide) {
      grid.collectAll(most, skip)
      take()
    }
    return count
  }

  function* namedBy(anchors: readonly Slot[], failing: Map<Slot, boolean>): Pausable<Edge[]> {
    const edges: Edge[] = []
    for (const one of anchors) {
      if (!isFree(columns, one)) continue
      const before = grid.reads
      const count = nearest(one)
      for (let at = 0; at < count; at++) edges.push({ one, other: names[at] as Slot, price: prices[at] as number })
      if (count === 0) failing.set(one, !grid.wasCut)
      budget.chargeTime(1 + (grid.reads - before) / 16)
      if (budget.isPauseDue()) yield budget.pause()
    }
    return edges
  }

  /** The edges in the order in which they are made. */
  const inOrder = (edges: readonly Edge[]): Iterable<Edge> => {
    if (ranked())
      return edges.toSorted(
        (a, b) => priorityOf(b.other) - priorityOf(a.other) || a.price - b.price,
      )
    const keys = Float64Array.from(edges, (edge, at) => {
      const price = Math.min(MOST_PRICE, Math.floor(edge.price * PRICES))
      return price * 2 ** 26 + at
    })
    return Array.from(keys.toSorted(), (key) => edges[key % 2 ** 26] as Edge)
  }

  /** Pairs tickets of one priority. */
  function* pairAll(anchors: readonly Slot[]): Pausable<void> {
    let left = anchors
    isCrowd = anchors.length > NAMED
    while (left.length > 0) {
      const failing = new Map<Slot, boolean>()
      const edges = yield* namedBy(left, failing)
      for (const { one, other } of inOrder(edges)) {
        if (!isFree(columns, one) || !isFree(columns, other)) continue
        group({ slots: [one, other], teams })
        budget.chargeTime(1 / 4)
        if (budget.isPauseDue()) yield budget.pause()
      }
      for (const [slot, sawAll] of failing) if (isFree(columns, slot)) failed(slot, sawAll)
      left = left.filter((slot) => isFree(columns, slot) && !failing.has(slot))
    }
  }

  /** @param anchors those of the highest priority first. */
  return function* pairs(anchors: readonly Slot[]): Pausable<void> {
    for (let from = 0; from < anchors.length;) {
      const priority = priorityOf(anchors[from] as Slot)
      let to = from + 1
      while (to < anchors.length && to - from < BATCH && priorityOf(anchors[to] as Slot) === priority) to += 1
      yield* pairAll(anchors.slice(from, to))
      from = to
    }
  }
}
