// pure: chooses among possible pairs: first as many as possible, then the cheapest
import type { Budget, Pausable } from '../data/budget.js'

/**
 * Maximum number of pairs that a path breaks up, besides those that its first pair breaks up; and how often each pair
 * is tried.
 */
const DEPTH = 3
const PASSES = 2
/**
 * Maximum number of steps from one pair, because tickets named by many others have many paths. `STEPS_PER_TRY`: steps
 * that take as long as one try.
 */
const MOST_STEPS = 1024
const STEPS_PER_TRY = 128
/** Smaller differences of cost do not count. */
const TIE = 1e-9
const NONE = -1

/**
 * A local search along alternating paths. A path makes a pair, which breaks up the previous pairs of its two tickets.
 * Each ticket left over gets another partner, which may break up one more pair, and so on. A path is taken if it makes
 * one more pair, or as many at a lower cost. Short paths give no optimum: of 1,000 tickets the pairs cost 1.03 to 1.05
 * times the least cost of as many pairs.
 *
 * A pool keeps one instance, because the JavaScript engine would recompile functions created for each choice.
 */
export class PairChoice {
  readonly #budget: Budget
  #costs: Float64Array = new Float64Array(0)
  /** The two tickets of each pair, by index. */
  #sides: Int32Array = new Int32Array(0)
  /** The pairs of each ticket, the cheapest first. Those of ticket t begin at `#first[t]`. */
  #pairsOf = new Int32Array(0)
  #first = new Int32Array(1)
  /** The pair that each ticket is in. */
  #chosen = new Int32Array(0)
  #isOnPath = new Uint8Array(0)
  /** The pairs that the current path makes. */
  readonly #path: number[] = []
  /** True if the path makes one more pair when it ends at a free ticket. */
  #mayGrow = false
  /** If the path's first pair left over two tickets: the second one, which needs a partner too. Otherwise NONE. */
  #target = NONE
  /** The best path of those that begin with the same pair. */
  #best: number[] = []
  #bestCost = 0
  #bestGrows = false
  /**
   * The cost of the most expensive pair chosen before this pass. A path may save this much for each pair that it breaks
   * up.
   */
  #dearest = 0
  #steps = 0

  constructor(budget: Budget) {
    this.#budget = budget
  }

  /**
   * Chooses pairs so that each ticket is in at most one of them.
   * @param ends the two tickets of each pair, the cheapest pairs first. A pair may occur twice.
   * @param costs the cost of each pair.
   * @returns the indexes of the chosen pairs, the cheapest first.
   */
  *choose(ends: Int32Array, costs: Float64Array): Pausable<readonly number[]> {
    const { sides, first, pairsOf } = graphOf(ends)
    this.#costs = costs
    this.#sides = sides
    this.#first = first
    this.#pairsOf = pairsOf
    this.#chosen = new Int32Array(first.length - 1).fill(NONE)
    this.#isOnPath = new Uint8Array(first.length - 1)
    const budget = this.#budget
    for (let pass = 0, isBetter = true; isBetter && pass < PASSES; pass++) {
      isBetter = false
      this.#dearest = this.#chosen.reduce((most, pair) => Math.max(most, this.#costOf(pair)), 0)
      for (let pair = 0; pair < costs.length; pair++) {
        this.#steps = 0
        if (this.#improve(pair)) isBetter = true
        budget.chargeTime((1 + this.#steps) / STEPS_PER_TRY)
        if (budget.isPauseDue()) yield budget.pause()
      }
    }
    return Array.from(costs.keys()).filter((pair) => this.#chosen[sides[2 * pair] as number] === pair)
  }

  #partner(pair: number, ticket: number): number {
    return (this.#sides[2 * pair] as number) + (this.#sides[2 * pair + 1] as number) - ticket
  }

  #costOf(pair: number): number {
    return pair === NONE ? 0 : (this.#costs[pair] as number)
  }

  /** Takes the best path that begins with a pair. Returns false if none is better than the current choice. */
  #improve(pair: number): boolean {
    const [one, other] = [this.#sides[2 * pair] as number, this.#sides[2 * pair + 1] as number]
    const [mine, its] = [this.#chosen[one] as number, this.#chosen[other] as number]
    if (mine !== NONE && this.#partner(mine, one) === other) return false
    const left = mine === NONE ? NONE : this.#partner(mine, one)
    const also = its === NONE ? NONE : this.#partner(its, other)
    const cost = this.#costOf(pair) - this.#costOf(mine) - this.#costOf(its)
    this.#best = left === NONE && also === NONE ? [pair] : []
    if (this.#best.length === 0) {
      this.#path.length = 0
      this.#path.push(pair)
      this.#bestCost = 0
      this.#bestGrows = false
      this.#mayGrow = left === NONE || also === NONE
      this.#target = this.#mayGrow ? NONE : also
      if (this.#mayGrow) this.#offer(NONE, cost, false)
      const loose = left === NONE ? also : left
      const taken = [one, other, loose, this.#mayGrow ? loose : also]
      for (const ticket of taken) this.#isOnPath[ticket] = 1
      this.#walk(loose, cost, this.#mayGrow ? DEPTH : DEPTH - 1)
      for (const ticket of taken) this.#isOnPath[ticket] = 0
    }
    for (const made of this.#best) this.#make(made)
    return this.#best.length > 0
  }

  /**
   * Finds partners for a ticket left over. @param cost cost of the path so far @param depth number of pairs it may
   * break up
   */
  #walk(loose: number, cost: number, depth: number): void {
    const end = this.#first[loose + 1] as number
    for (let at = this.#first[loose] as number; at < end; at++) {
      if (++this.#steps > MOST_STEPS) return
      const pair = this.#pairsOf[at] as number
      const sum = cost + this.#costOf(pair)
      // All further pairs of the ticket cost at least as much. In the first pass `#dearest` is 0, so this leaves out
      // many paths: the pass is quick, and the second pass finds most of them.
      if (this.#mayGrow === this.#bestGrows && sum - depth * this.#dearest >= this.#bestCost) return
      const next = this.#partner(pair, loose)
      const old = this.#chosen[next] as number
      if (next === this.#target) this.#offer(pair, sum, false)
      if (this.#isOnPath[next] === 1) continue
      if (old === NONE) this.#offer(pair, sum, this.#mayGrow)
      if (old === NONE || depth === 0) continue
      const left = this.#partner(old, next)
      if (this.#isOnPath[left] === 1) continue
      const rest = sum - this.#costOf(old)
      this.#path.push(pair)
      this.#isOnPath[next] = this.#isOnPath[left] = 1
      if (this.#target === NONE) this.#offer(NONE, rest, false)
      this.#walk(left, rest, depth - 1)
      this.#isOnPath[next] = this.#isOnPath[left] = 0
      this.#path.pop()
    }
  }

  /** Keeps the path if it is the best. @param last the pair that ends it. NONE: it ends at its last ticket. */
  #offer(last: number, cost: number, grows: boolean): void {
    if (grows === this.#bestGrows ? cost >= this.#bestCost - TIE : !grows) return
    this.#best = last === NONE ? [...this.#path] : [...this.#path, last]
    this.#bestCost = cost
    this.#bestGrows = grows
  }

  #make(pair: number): void {
    for (let side = 2 * pair; side < 2 * pair + 2; side++) {
      const ticket = this.#sides[side] as number
      const old = this.#chosen[ticket] as number
      if (old !== NONE) this.#chosen[this.#partner(old, ticket)] = NONE
      this.#chosen[ticket] = pair
    }
  }
}

/**
 * Numbers the tickets. `sides`: the numbers of each pair's two tickets. In `pairsOf` the pairs of ticket t begin at
 * `first[t]`.
 */
function graphOf(ends: Int32Array) {
  const numbers = new Map<number, number>()
  const sides = ends.map((ticket) => {
    const number = numbers.get(ticket) ?? numbers.size
    numbers.set(ticket, number)
    return number
  })
  const first = new Int32Array(numbers.size + 1)
  for (const ticket of sides) first[ticket + 1] = (first[ticket + 1] as number) + 1
  for (let ticket = 1; ticket < first.length; ticket++)
    first[ticket] = (first[ticket] as number) + (first[ticket - 1] as number)
  const pairsOf = new Int32Array(sides.length)
  const next = first.slice()
  for (const [end, ticket] of sides.entries()) {
    pairsOf[next[ticket] as number] = end >> 1
    next[ticket] = (next[ticket] as number) + 1
  }
  return { sides, first, pairsOf }
}
