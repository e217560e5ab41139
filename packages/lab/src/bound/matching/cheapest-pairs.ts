// pure: the cheapest matching with a given number of pairs
import { Blossoms } from './blossoms.js'
import { Forest } from './forest.js'
import type { Graph } from './graph.js'

export interface CheapestPairs {
  /** For each vertex its partner; −1 for none. */
  readonly partners: Int32Array
  /** Number of pairs: fewer than wanted if there is no matching with as many. */
  readonly pairs: number
  readonly cost: number
  /**
   * The proof that nothing is cheaper: for any two vertices a and b, also without an edge, no pair costs less than
   * −(proof[a] + proof[b]) / 2, unless both are in one blossom, where it may cost more.
   */
  readonly proof: Float64Array
}

/**
 * Finds the cheapest matching with `wanted` pairs, by Edmonds' algorithm: from the empty matching, each step adds one
 * pair by way of the cheapest augmenting path. All free vertices keep the same dual value, which is the least, so that
 * after each step the matching is the cheapest of its size (that value is the dual of the number of pairs). O(n³).
 */
export function cheapestPairs(graph: Graph, wanted: number): CheapestPairs {
  const state = new Blossoms(graph)
  const forest = new Forest(state)
  let pairs = 0
  while (pairs < wanted && forest.augment()) pairs += 1
  const partners = state.mate.map((side) => (side === -1 ? -1 : state.endOf(side)))
  let cost = 0
  for (const [vertex, side] of state.mate.entries())
    if (side !== -1 && vertex < (partners[vertex] as number)) cost += graph.costs[side >> 1] as number
  return { partners, pairs, cost, proof: state.dual.slice(0, graph.vertices) }
}
