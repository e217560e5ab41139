// pure: the input, the terms and the result of a search
import type { Columns } from './columns.js'
import type { Cost } from './cost.js'
import type { Draft } from './draft.js'
import type { Effort } from './effort.js'
import type { Levels } from './levels.js'
import type { Model, Slot } from './model.js'
import type { Neighbours } from './neighbours.js'
import type { Packing } from './packing.js'
import type { SearchRadius } from './search-radius.js'
import type { Supply } from './supply.js'

/** The tickets of a match and their teams; `slots` excludes the opening. */
export interface Found {
  readonly slots: Slot[]
  readonly teams: readonly number[]
}

/** An opening and the room in its teams. */
export interface Vacancy<Facts> {
  readonly slot: Slot
  readonly packing: Packing
  readonly rooms: readonly number[]
  readonly present: readonly (readonly Facts[])[]
  /** The facts of the players present in all teams. */
  readonly everyone: readonly Facts[]
}

export interface SearchInput<Facts> {
  readonly model: Model<Facts>
  readonly columns: Columns
  readonly levels: Levels
  readonly searchRadius: SearchRadius
  readonly draft: Draft<Facts>
  readonly packing: Packing
  readonly neighbours: Neighbours
  readonly supply: Supply<Facts>
  readonly facts: readonly (Facts | undefined)[]
  readonly cost: Cost
  readonly effort: Effort
  /** Tries that one search has. @param before searches for the same ticket that were given up. */
  triesOf(before: number): number
  /** Whether the ticket or opening is in the pool and in no match of this round. */
  free(slot: Slot): boolean
  /** Whether the tickets have different priorities. */
  ranked(): boolean
  isRefused(slot: Slot): boolean
}

/** Options of one search. */
export interface SearchTerms {
  /**
   * Whether candidates of a higher priority than the first ticket's may not have been tried yet in this round: then all
   * candidates within reach are gathered before a match is made.
   */
  readonly all?: boolean
  /** Whether tickets refused earlier in this round are candidates again. */
  readonly anew?: boolean
}
