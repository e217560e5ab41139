// pure: what rules take of a ticket, and what they keep of it
import type { Coordinates } from '@muster/core'
import type { Attributes } from '@muster/servers'

/** A player as rules see it, with every field filled in. */
export interface RulePlayer {
  readonly id: string
  readonly attributes: Attributes
  readonly roles: readonly string[]
  /** Round trip to each beacon, in milliseconds. */
  readonly latencies: Readonly<Record<string, number>>
  /** Ids of the players to avoid. */
  readonly avoid: readonly string[]
}

/** A waiting ticket, as rules see it. */
export interface RuleTicket {
  readonly id: string
  /** Epoch milliseconds. */
  readonly createdAt: number
  /** A higher priority is served first. */
  readonly priority: number
  readonly players: readonly RulePlayer[]
  /** The middle of the players' places, if known. */
  readonly place: Coordinates | undefined
  readonly network: string | undefined
}

/** A backfill of a running match, as rules see it. */
export interface RuleOpening extends Omit<RuleTicket, 'players'> {
  /** Number of players that each team still takes, in the order of the model's teams. */
  readonly rooms: readonly number[]
  /** The tickets present in each team, in the same order. */
  readonly present: readonly (readonly RuleTicket[])[]
}

/** What the rules keep of a ticket: made once, when the ticket enters the pool. */
export interface Facts {
  readonly ticket: RuleTicket
  /** For each rule of the queue, what the rule read from the ticket; only that rule understands it. */
  readonly of: readonly unknown[]
}

/** The members of each team. */
export type Teams = readonly (readonly Facts[])[]

/** Makes the error that refuses a ticket, from the path at fault and what is wrong. */
export type Refuse = (path: string, message: string) => Error
