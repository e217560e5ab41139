// pure: the inputs for gathering candidates
import type { Columns } from './columns.js'
import type { Cost } from './cost.js'
import type { Draft } from './draft.js'
import type { Effort } from './effort.js'
import type { Slot } from './model.js'
import type { Neighbours } from './neighbours.js'
import type { Packed, Packing } from './packing.js'

export interface CandidatesInput {
  readonly columns: Columns
  readonly cost: Cost
  readonly draft: Draft
  readonly neighbours: Neighbours
  readonly effort: Effort
  /** Whether the ticket is in the pool and in no match of this round. */
  free(slot: Slot): boolean
  /** Whether a search of this round has proved that no match can hold the ticket. */
  isRefused(slot: Slot): boolean
  /** Whether more than one index is read, so that a slot may be returned twice. */
  readonly readsTwice: boolean
  /** Whether other rules are asked about each pair of tickets. */
  readonly checksPairs: boolean
}

/** The terms of one search. */
export interface CandidateTerms {
  readonly packing: Packing
  /** Parties already in the match. */
  readonly packed: Packed
  /** Whether priorities differ: then candidates of higher priority come first, however far away. */
  readonly ranked: boolean
  /** Whether tickets refused by an earlier search of this round are skipped. */
  readonly skipRefused: boolean
}
