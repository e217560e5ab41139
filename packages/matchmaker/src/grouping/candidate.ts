// pure: what grouping sees of a ticket, and what it makes of many
import type { Coordinates } from '@muster/core'

/** A waiting ticket as far as grouping is concerned. */
export interface Candidate {
  readonly id: string
  /** Players; they stay together. */
  readonly size: number
  /** Epoch milliseconds since when it waits. */
  readonly createdAt: number
  /** Where it is, if that is known. */
  readonly place: Coordinates | undefined
  /** Where that is not known: the network it comes from (see `addressPrefix`). */
  readonly network: string | undefined
}

/**
 * Makes groups of a snapshot of the waiting tickets: no I/O, no clock, and the same groups for the same
 * pool in any order. A ticket is in one group at most; groups come in the order in which they should be served.
 * @param now epoch milliseconds.
 */
export type Grouping = <Ticket extends Candidate>(pool: readonly Ticket[], now: number) => Ticket[][]
