// pure: the input and the result of a search
import type { Slot } from '../data/model.js'
import type { Packing } from '../teams/packing.js'
import type { CandidatesInput } from './candidates.js'

/** The tickets of a match and their teams. `slots` excludes the opening. */
export interface FoundTeams {
  readonly slots: Slot[]
  readonly teams: readonly number[]
}

/** An opening (a running match with free places), and the number of players that its teams can take. */
export interface Vacancy<Facts> {
  readonly slot: Slot
  readonly packing: Packing
  readonly rooms: readonly number[]
  readonly present: readonly (readonly Facts[])[]
  /** Number of players in each team. */
  readonly players: readonly number[]
  /** The facts of the players present in all teams. */
  readonly everyone: readonly Facts[]
}

export interface SearchInput<Facts> extends CandidatesInput<Facts> {
  readonly packing: Packing
  /**
   * Returns the number of tries (considered candidates or arrangements of teams) of a search.
   * @param before number of searches for the ticket that were cut short.
   */
  triesOf(before: number): number
}

export interface SearchTerms {
  /** True if tickets that no match of this round can hold are candidates again. Default false. */
  readonly anew?: boolean
  /** Candidates to use instead of those from the grid. Only the greedy choice is tried. */
  readonly among?: ArrayLike<Slot>
  /** Maximum cost of a match: the mean over its pairs. Only with `among`. */
  readonly mostCost?: number
}
