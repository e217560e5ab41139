// pure: what candidates are gathered from
import type { Columns } from './columns.js'
import type { Cost } from './cost.js'
import type { Draft } from './draft.js'
import type { Slot } from './model.js'
import type { Neighbours } from './neighbours.js'
import type { Packed, Packing } from './packing.js'

export interface CandidatesInput {
  readonly columns: Columns
  readonly cost: Cost
  readonly draft: Draft
  readonly neighbours: Neighbours
  /** Whether a search of this round has proved that a ticket is in no match. */
  isRefused(slot: Slot): boolean
  /** Whether more than one index is read. */
  readonly looksTwice: boolean
}

/** What counts for one search. */
export interface CandidateTerms {
  readonly packing: Packing
  /** Those who are in already. */
  readonly packed: Packed
  /** Whether priorities differ: then candidates of a higher one come first, however far away. */
  readonly ranked: boolean
  /** Whether tickets that a search of this round has refused are left out. */
  readonly skipRefused: boolean
}
