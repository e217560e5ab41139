// pure: what rules read from tickets, and their compiled form for the kernel and `explain`
import type { Coordinates } from '@muster/core'
import type { MatchLevels, Quota, Radius, Span, TeamShape } from '@muster/kernel'
import type { Attributes } from '@muster/hosting/internal'
import type { QueueLevels } from './levels.js'

/** A single value, not a list. */
export type Scalar = number | string | boolean

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
  /** The middle of the players' locations, if known. */
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

/** The facts that the rules read from a ticket, once, when it enters the pool. */
export interface Facts {
  readonly ticket: RuleTicket
  /** The facts of each rule of the queue. Only the rule itself understands its facts. */
  readonly of: readonly unknown[]
  /**
   * True if the players are in a running match: the differences among them are then no obstacle for a joining ticket.
   */
  readonly isPresent?: boolean | undefined
}

/** The members of each team. */
export type TeamMembers = readonly (readonly Facts[])[]

/** Creates the error that refuses a ticket, from the path at fault and the fault. */
export type Refuse = (path: string, message: string) => Error

/** A team of a match, with the name of its definition. */
export interface NamedTeam extends TeamShape {
  /** The name of its definition, by which rules refer to it. */
  readonly kind: string
}

/** The inputs of a rule's compilation. */
export interface RuleContext {
  /** Index of the rule in its queue, and of its entry in `Facts.of`. */
  readonly index: number
  readonly queue: string
  readonly levels: QueueLevels
  /** True if the rule is nested. It then has no radius, span or key, which only rules of the queue can have. */
  readonly isInner?: boolean | undefined
  readonly teams: readonly NamedTeam[]
  /** The only team that a nested rule is about. Default: all teams that the rule names. */
  readonly team?: number | undefined
  /** Called with the error that a custom rule throws. */
  readonly failed: (rule: string, error: unknown) => void
}

/**
 * The checks of a rule; see `Checks` for `pair`, `part`, `whole`, `unevenness` and `quotas`. All fields are optional: a
 * rule without any allows every match.
 */
export interface RuleChecks {
  /**
   * Reads what the rule compares from a ticket. Absent for a rule that reads nothing of tickets. @throws what `refuse`
   * creates
   */
  readonly factOf?: ((ticket: RuleTicket, refuse: Refuse) => unknown) | undefined
  readonly radius?: Radius | undefined
  /** Returns the squared chord between a player of a running match and a joining ticket; see `Model.apart`. */
  readonly apart?: ((present: Facts, joining: Facts) => number) | undefined
  readonly span?: Span | undefined
  /**
   * Returns the low and high of the ticket in the span; NaN if the ticket accepts any value. @throws what `refuse`
   * creates
   */
  readonly boundsOf?: ((ticket: RuleTicket, refuse: Refuse) => readonly [low: number, high: number]) | undefined
  /** Returns the ticket's key: only tickets with the same key can be in one match. @throws what `refuse` creates */
  readonly keyOf?: ((ticket: RuleTicket, refuse: Refuse) => Scalar) | undefined
  readonly pair?:
    | ((one: Facts, other: Facts, level: number, levelOfOne?: number, levelOfOther?: number) => boolean)
    | undefined
  readonly part?:
    | ((teams: TeamMembers, roomOf: readonly number[], levels: MatchLevels, others?: readonly Facts[]) => boolean)
    | undefined
  readonly quotas?: readonly Quota<Facts>[] | undefined
  /** True if the quotas alone decide the rule, so that the kernel needs neither its `part` nor its `whole`. */
  readonly quotasDecide?: boolean | undefined
  /** True if `whole` depends on the current time and not only on the levels. */
  readonly timed?: boolean | undefined
  readonly whole?: ((teams: TeamMembers, levels: MatchLevels) => boolean) | undefined
  /**
   * Like `whole`, but from the minimum and maximum number of players of each team: returns false only if no teams
   * within these bounds are allowed. Only for rules that depend on nothing but numbers of players.
   */
  readonly counts?: ((fewest: readonly number[], most: readonly number[], levels: MatchLevels) => boolean) | undefined
  /** True if `counts` returns the same at all levels. */
  readonly isSteady?: boolean | undefined
  /** True if `whole` needs teams that are as even in number as possible: see `Checks.balanced`. */
  readonly isBalance?: boolean | undefined
  /**
   * False if the rule does not apply to these teams, e.g. because no player has what the rule compares. Then the rule
   * neither holds nor fails. Default: it applies.
   */
  readonly saysOf?: ((teams: TeamMembers, levels: MatchLevels) => boolean) | undefined
  /**
   * Returns the distance or difference of two tickets, in the unit of the limit; undefined if nothing is measured. For
   * `explain`.
   */
  readonly measure?: ((one: Facts, other: Facts) => number | undefined) | undefined
  /** Returns how many more players of a missing kind a match of all these tickets needs. For `explain`. */
  readonly shortage?: ((everyone: readonly Facts[]) => number) | undefined
  readonly unevenness?: ((teams: TeamMembers) => number) | undefined
}
