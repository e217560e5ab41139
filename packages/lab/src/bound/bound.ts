// pure: what is told of what was possible at all

/**
 * What the matches of a queue cost, and the least that was possible at equal wait: if the same players had been matched
 * anew among themselves, in matches of the same sizes, and nobody had waited longer than he did. The cost of a player
 * is the average over the others in the match: distance, difference and latency to each, in units of the rule's
 * strictest limit, added up. It is plain data.
 */
export interface Bound {
  /**
   * `optimum`: for pairs, the cheapest pairs of the same players, exactly, in windows of the run. `lower bound`: for
   * larger matches, every player with those who suit him best; that this is possible for all at once is not said.
   */
  readonly kind: 'optimum' | 'lower bound'
  /** The rules that cost is made of, and their strictest limits: one unit of cost each. */
  readonly units: readonly BoundUnit[]
  /** The players looked at, and their share of all whom the queue matched with others. */
  readonly players: number
  readonly share: number
  /** Cost per player of the matches that were made. */
  readonly cost: number
  /** The least possible within the queue's own rules: what is above is lost to the algorithm, which cannot foresee. */
  readonly withinRules: number
  /** The least possible if no limit held, save that players with different keys stay apart: what rules cost. */
  readonly anyRules: number
  /** `cost` as a multiple of the two. Null if the least possible is 0, and the cost is not. */
  readonly ratio: number | null
  readonly ratioAnyRules: number | null
}

export interface BoundUnit {
  readonly rule: string
  readonly limit: number
  /** `km`, `ms`; empty for plain numbers. */
  readonly unit: string
}
