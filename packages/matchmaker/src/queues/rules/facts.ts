// pure: what rules take of a ticket, and what they keep of it
import type { Coordinates } from '@muster/core'
import type { Attributes } from '../../player.js'

/** A player as rules see one: all fields are there. */
export interface RulePlayer {
  readonly id: string
  readonly attributes: Attributes
  readonly roles: readonly string[]
  /** Milliseconds of a round trip to each beacon. */
  readonly latencies: Readonly<Record<string, number>>
  /** Ids of players. */
  readonly avoid: readonly string[]
}

/** A waiting ticket as rules see it. */
export interface RuleTicket {
  readonly id: string
  /** Epoch milliseconds. */
  readonly createdAt: number
  /** Higher is served first. */
  readonly priority: number
  readonly players: readonly RulePlayer[]
  /** Where its players' middle is, if known. */
  readonly place: Coordinates | undefined
  readonly network: string | undefined
}

/** A running match that takes more players, as rules see it. */
export interface RuleOpening extends Omit<RuleTicket, 'players'> {
  /** How many more players each team takes, in the order of the model's teams. */
  readonly rooms: readonly number[]
  /** Who is there, in the same order. */
  readonly present: readonly (readonly RuleTicket[])[]
}

/** What the checks know of a ticket. Made once, when it begins to wait. */
export interface Facts {
  readonly ticket: RuleTicket
  /** For each rule of the queue what that rule needs to know of the ticket; only the rule can read it. */
  readonly of: readonly unknown[]
}

/** For each team its members. */
export type Teams = readonly (readonly Facts[])[]

/** Makes the error that a ticket is refused with, from the path at fault and what is wrong with it. */
export type Refuse = (path: string, message: string) => Error
