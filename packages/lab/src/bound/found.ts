// pure: what a bound is made with, and of
import type { MeetsAt } from './meets-at.js'
import type { PairCost } from './pair-cost.js'

export interface BoundTerms {
  readonly costOf: PairCost
  /** When two tickets could meet within the rules, and without limits. */
  readonly withinRules: MeetsAt
  readonly anyRules: MeetsAt
}

/** Sums over the players looked at. */
export interface Found {
  readonly players: number
  /** All players who might have been looked at. */
  readonly all: number
  readonly cost: number
  readonly withinRules: number
  readonly anyRules: number
}
