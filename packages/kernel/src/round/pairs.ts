// pure: makes matches of two tickets, for models in which any two tickets that may meet are a match
import type { Pausable } from '../data/budget.js'
import { isFree, isOlder } from '../data/columns.js'
import type { Slot } from '../data/model.js'
import type { PoolParts } from '../data/parts.js'
import { windowOf, type Grid } from '../grid/grid.js'
import type { Draft } from '../search/draft.js'
import type { DirtyTracker } from './dirty-tracking.js'
import { PairChoice } from './alternating-paths.js'
import type { RoundState } from './state.js'

/** Maximum number of partners that a ticket names. */
const NAMED = 8
/**
 * Number of slots that a first search reads at a scale. It reads more with different priorities, because the highest
 * may be anywhere.
 */
const MOST_READ = 256
const MOST_READ_RANKED = 4096
/** Number of tickets that name partners before the cheapest pairs are made. */
const BATCH = 8192
/**
 * In a crowd of up to this many tickets, pairs are chosen to be many and cheap. In a larger one, the cheapest is made
 * first.
 */
export const MOST_CHOSEN = 1500
/**
 * A pair's sort key consists of its index and its price, i.e. its cost rounded down to steps. `PRICES`: steps per unit
 * of cost. A key has room for prices up to `MOST_PRICE` and for `PAIRS` pairs.
 */
const PRICES = 65_536
const MOST_PRICE = 2 ** 26 - 1
const PAIRS = 2 ** 26

export interface PairsInput<Facts> extends PoolParts<Facts> {
  readonly grid: Grid
  readonly draft: Draft<Facts>
  readonly state: RoundState
  readonly tracker: DirtyTracker<Facts>
  /** The team index of each player. */
  readonly singles: readonly number[]
}

/**
 * Each ticket names its nearest partners. The cheapest of all named pairs is made first. A ticket that has lost all its
 * partners names others. Pairs of a higher priority come before cheaper ones. In a crowd of new tickets with one
 * priority, pairs are chosen to be many and cheap.
 */
export function createPairs<Facts>(input: PairsInput<Facts>) {
  const { columns, compare, levels, grid, draft, budget, state, tracker, singles, ranked } = input
  const choice = new PairChoice(budget)
  const priorityOf = (slot: Slot) => columns.priority[slot] as number
  /** The partners that one ticket names, best first. */
  const names = new Int32Array(NAMED)
  const prices = new Float64Array(NAMED)
  /** The two tickets and the cost of each named pair. */
  let ones: Slot[] = []
  let others: Slot[] = []
  let costs: number[] = []
  let own = 0
  /**
   * True if many tickets name partners. Of partners at equal cost, each ticket then names different ones. With few
   * tickets the oldest partners come first.
   */
  let isCrowd = false

  /** True if `slot` is a better partner than `other` for the ticket whose `mix` is `own`. */
  const isBetter = (slot: Slot, price: number, other: Slot, otherPrice: number, isRanked: boolean): boolean => {
    if (isRanked && priorityOf(slot) !== priorityOf(other)) return priorityOf(slot) > priorityOf(other)
    if (price !== otherPrice) return price < otherPrice
    if (!isCrowd) return isOlder(columns, slot, other)
    const [one, two] = [(own ^ (columns.mix[slot] as number)) >>> 0, (own ^ (columns.mix[other] as number)) >>> 0]
    return one < two || (one === two && isOlder(columns, slot, other))
  }

  /** Writes the best partners of a ticket to `names`. Returns their number. */
  const nearest = (anchor: Slot): number => {
    const isRanked = ranked()
    const { most, skip } = windowOf(columns.cuts[anchor] as number, isRanked ? MOST_READ_RANKED : MOST_READ)
    own = columns.mix[anchor] as number
    const last = grid.coverOf(anchor)
    let [count, read] = [0, 0]
    grid.begin(anchor)
    if (!draft.begin(anchor)) return 0
    for (let scale = Math.min(grid.finest(), last); scale <= last + 1; scale++) {
      if (scale <= last) grid.collect(scale, most, scale === last ? skip : 0)
      else if (grid.goesAnywhere(anchor)) grid.collectAll(most, skip)
      for (; read < grid.count; read++) {
        const slot = grid.found[read] as Slot
        if (columns.size[slot] !== 1) continue
        const price = compare.cost(anchor, slot)
        if (count === NAMED && !isBetter(slot, price, names[count - 1] as Slot, prices[count - 1] as number, isRanked))
          continue
        if (!draft.isPair(anchor, slot)) continue
        let at = count < NAMED ? count++ : count - 1
        for (; at > 0 && isBetter(slot, price, names[at - 1] as Slot, prices[at - 1] as number, isRanked); at--) {
          names[at] = names[at - 1] as Slot
          prices[at] = prices[at - 1] as number
        }
        names[at] = slot
        prices[at] = price
      }
      if (!isRanked && count === NAMED) break
    }
    return count
  }

  /** Lets each ticket name its partners. Returns the tickets without any. */
  function* nameAll(anchors: readonly Slot[]): Pausable<Map<Slot, boolean>> {
    const failing = new Map<Slot, boolean>()
    ones = []
    others = []
    costs = []
    for (const one of anchors) {
      if (!isFree(columns, one)) continue
      const before = grid.reads
      const count = nearest(one)
      for (let at = 0; at < count; at++) {
        ones.push(one)
        others.push(names[at] as Slot)
        costs.push(prices[at] as number)
      }
      if (count === 0) failing.set(one, !grid.wasCut)
      budget.chargeTime(1 + (grid.reads - before) / 16)
      if (budget.isPauseDue()) yield budget.pause()
    }
    return failing
  }

  const isHeldBack = (pair: number): boolean =>
    levels.isHeldBack(
      costs[pair] as number,
      Math.min(columns.sinceOf(ones[pair] as Slot), columns.sinceOf(others[pair] as Slot)),
    )

  /** Returns the indexes of the named pairs, in the order in which they are made. */
  function* inOrder(isChosen: boolean): Pausable<Int32Array> {
    const keys = new Float64Array(costs.length)
    for (let at = 0; at < keys.length; at++)
      keys[at] = Math.min(MOST_PRICE, Math.floor((costs[at] as number) * PRICES)) * PAIRS + at
    keys.sort()
    const order = new Int32Array(keys.length)
    for (let at = 0; at < keys.length; at++) order[at] = (keys[at] as number) % PAIRS
    const partner = (pair: number) => priorityOf(others[pair] as Slot)
    if (ranked()) return order.toSorted((a, b) => partner(b) - partner(a))
    if (!isChosen) return order
    const open = order.filter((pair) => !isHeldBack(pair))
    const ends = new Int32Array(2 * open.length)
    for (const [at, pair] of open.entries()) {
      ends[2 * at] = ones[pair] as Slot
      ends[2 * at + 1] = others[pair] as Slot
    }
    const sorted = Float64Array.from(open, (pair) => costs[pair] as number)
    const chosen = yield* choice.choose(ends, sorted)
    return Int32Array.of(...chosen.map((at) => open[at] as number), ...order.filter(isHeldBack))
  }

  /** Pairs tickets of one priority. */
  function* pairAll(anchors: readonly Slot[], isMostlyNew: boolean): Pausable<void> {
    isCrowd = anchors.length > NAMED
    const isChosen = isMostlyNew && isCrowd && anchors.length <= MOST_CHOSEN
    const held = new Set<Slot>()
    for (let left = anchors; left.length > 0;) {
      const failing = yield* nameAll(left)
      for (const pair of yield* inOrder(isChosen)) {
        const [one, other] = [ones[pair] as Slot, others[pair] as Slot]
        if (!isFree(columns, one) || !isFree(columns, other)) continue
        if (isHeldBack(pair)) {
          held.add(one)
          continue
        }
        state.group(undefined, { slots: [one, other], teams: singles })
        budget.chargeTime(1 / 4)
        if (budget.isPauseDue()) yield budget.pause()
      }
      for (const [slot, sawAll] of failing) if (isFree(columns, slot)) tracker.park(slot, sawAll)
      left = left.filter((slot) => isFree(columns, slot) && !failing.has(slot) && !held.has(slot))
    }
    for (const slot of held) if (isFree(columns, slot)) tracker.hold(slot)
  }

  /** @param anchors the tickets, the highest priority first. */
  return function* pairs(anchors: readonly Slot[], isMostlyNew: boolean): Pausable<void> {
    for (let from = 0; from < anchors.length;) {
      const priority = priorityOf(anchors[from] as Slot)
      let to = from + 1
      while (to < anchors.length && to - from < BATCH && priorityOf(anchors[to] as Slot) === priority) to += 1
      yield* pairAll(anchors.slice(from, to), isMostlyNew)
      from = to
    }
  }
}
