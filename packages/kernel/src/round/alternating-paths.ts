// pure: chooses among possible pairs: as many as can be made, then the cheapest
import type { Budget, Pausable } from '../data/budget.js'

/** Pairs that a path takes apart after those of its first pair, and times that each pair is tried. */
const DEPTH = 3
const PASSES = 2
/** Steps from one pair at most, as tickets that many name have many paths; and the steps that take as long as a try. */
const MOST_STEPS = 1024
const STEPS_PER_TRY = 128
/** What is cheaper by less is no cheaper. */
const TIE = 1e-9
const NONE = -1

/**
 * A local search along alternating paths: a pair is made, the pairs that its two tickets were in are taken apart, and
 * each ticket left over gets another partner, for which one more pair may be taken apart, and so on. A path that makes
 * one more pair is taken, and so is one that makes as many at a lower cost. Paths are short, so it is no optimum: of
 * 1,000 tickets the pairs cost 1.03 to 1.05 times as much as the cheapest so many.
 *
 * @param ends the two tickets of each pair, the cheapest pairs first. A pair may be there twice.
 * @param costs of each pair.
 * @returns the numbers of the pairs chosen, the cheapest first.
 */
export function* choosePairs(ends: Int32Array, costs: Float64Array, budget: Budget): Pausable<readonly number[]> {
  const { sides, first, pairsOf } = graphOf(ends)
  /** The pair that each ticket is in. */
  const chosen = new Int32Array(first.length - 1).fill(NONE)
  const isOnPath = new Uint8Array(chosen.length)
  const oneOf = (pair: number) => sides[2 * pair] as number
  const otherOf = (pair: number) => sides[2 * pair + 1] as number
  const partner = (pair: number, ticket: number) => oneOf(pair) + otherOf(pair) - ticket
  const costOf = (pair: number) => (pair === NONE ? 0 : (costs[pair] as number))

  /** The pairs that the path under way makes. */
  const path: number[] = []
  /** Whether it makes one more pair if it ends at a free ticket. */
  let mayGrow = false
  /** The other ticket left over by its first pair; NONE if that ticket is free or stays so. */
  let target = NONE
  /** The best path of those that begin with the same pair. */
  let best: number[] = []
  let bestCost = 0
  let bestGrows = false
  /** What the dearest pair chosen before this pass cost: a path may save so much for each pair that it takes apart. */
  let dearest = 0
  let steps = 0

  /** Keeps the path if it is the best. @param last the pair that ends it; NONE: it ends where it is */
  const offer = (last: number, cost: number, grows: boolean) => {
    if (grows === bestGrows ? cost >= bestCost - TIE : !grows) return
    best = last === NONE ? [...path] : [...path, last]
    bestCost = cost
    bestGrows = grows
  }

  /** Finds partners for a ticket left over. @param cost of the path until here @param depth pairs it may take apart */
  const walk = (loose: number, cost: number, depth: number) => {
    for (let at = first[loose] as number, end = first[loose + 1] as number; at < end; at++) {
      if (++steps > MOST_STEPS) return
      const pair = pairsOf[at] as number
      const sum = cost + costOf(pair)
      // All further pairs of the ticket cost as much or more. Of the first pass it leaves out many paths, to be quick.
      if (mayGrow === bestGrows && sum - depth * dearest >= bestCost) return
      const next = partner(pair, loose)
      const old = chosen[next] as number
      if (next === target) offer(pair, sum, false)
      if (isOnPath[next] === 1) continue
      if (old === NONE) offer(pair, sum, mayGrow)
      if (old === NONE || depth === 0) continue
      const left = partner(old, next)
      if (isOnPath[left] === 1) continue
      path.push(pair)
      isOnPath[next] = isOnPath[left] = 1
      if (target === NONE) offer(NONE, sum - costOf(old), false)
      walk(left, sum - costOf(old), depth - 1)
      isOnPath[next] = isOnPath[left] = 0
      path.pop()
    }
  }

  const make = (pair: number) => {
    for (const ticket of [oneOf(pair), otherOf(pair)]) {
      const old = chosen[ticket] as number
      if (old !== NONE) chosen[partner(old, ticket)] = NONE
      chosen[ticket] = pair
    }
  }

  /** Takes the best path that begins with a pair; false if none is better than what is chosen. */
  const improve = (pair: number): boolean => {
    const [one, other] = [oneOf(pair), otherOf(pair)]
    const [mine, its] = [chosen[one] as number, chosen[other] as number]
    if (mine !== NONE && partner(mine, one) === other) return false
    const left = mine === NONE ? NONE : partner(mine, one)
    const also = its === NONE ? NONE : partner(its, other)
    const cost = costOf(pair) - costOf(mine) - costOf(its)
    best = left === NONE && also === NONE ? [pair] : []
    if (best.length === 0) {
      path.length = 0
      path.push(pair)
      bestCost = 0
      bestGrows = false
      mayGrow = left === NONE || also === NONE
      target = mayGrow ? NONE : also
      if (mayGrow) offer(NONE, cost, false)
      const loose = left === NONE ? also : left
      const taken = [one, other, loose, mayGrow ? loose : also]
      for (const ticket of taken) isOnPath[ticket] = 1
      walk(loose, cost, mayGrow ? DEPTH : DEPTH - 1)
      for (const ticket of taken) isOnPath[ticket] = 0
    }
    for (const made of best) make(made)
    return best.length > 0
  }

  for (let pass = 0, isBetter = true; isBetter && pass < PASSES; pass++) {
    isBetter = false
    dearest = chosen.reduce((most, pair) => Math.max(most, costOf(pair)), 0)
    for (let pair = 0; pair < costs.length; pair++) {
      steps = 0
      if (improve(pair)) isBetter = true
      budget.chargeTime((1 + steps) / STEPS_PER_TRY)
      if (budget.isPauseDue()) yield budget.pause()
    }
  }
  return Array.from(costs.keys()).filter((pair) => chosen[oneOf(pair)] === pair)
}

/** Numbers the tickets: `sides` are the ends by number, and `pairsOf` has the pairs of ticket t from `first[t]` on. */
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
