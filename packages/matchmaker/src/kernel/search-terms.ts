// pure: what a search is made of, what is asked of it, and what it finds
import type { Columns } from './columns.js'
import type { Cost } from './cost.js'
import type { Draft } from './draft.js'
import type { Levels } from './levels.js'
import type { Model, Slot } from './model.js'
import type { Neighbours } from './neighbours.js'
import type { Packing } from './packing.js'
import type { SearchRadius } from './search-radius.js'
import type { Supply } from './supply.js'

/** Who goes together; `slots` without the opening. */
export interface Found {
  readonly slots: Slot[]
  readonly teams: readonly number[]
}

/** An opening and its room. */
export interface Vacancy<Facts> {
  readonly slot: Slot
  readonly packing: Packing
  readonly rooms: readonly number[]
  readonly present: readonly (readonly Facts[])[]
  /** Who is present, in all teams. */
  readonly everyone: readonly Facts[]
}

export interface SearchInput<Facts> {
  readonly model: Model<Facts>
  readonly columns: Columns
  readonly levels: Levels
  readonly reach: SearchRadius
  readonly draft: Draft<Facts>
  readonly packing: Packing
  readonly neighbours: Neighbours
  readonly supply: Supply<Facts>
  readonly facts: readonly (Facts | undefined)[]
  readonly cost: Cost
  /** Tries for one match before the search for it is given up, after so many that were given up before. */
  effort(before: number): number
  /** Whether priorities differ. */
  ranked(): boolean
  isRefused(slot: Slot): boolean
}

/** What is asked of one search, if more than usual. */
export interface SearchTerms {
  /**
   * Whether candidates of a higher priority than the first ticket's may not have been tried yet in this round: then all
   * that are within reach are gathered before any match is made.
   */
  readonly all?: boolean
  /** Whether tickets that were refused in this round may be in a match now. */
  readonly anew?: boolean
}
