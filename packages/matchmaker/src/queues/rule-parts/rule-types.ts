// pure: what rules read of tickets, and what they become for the kernel and `explain`
import type { Coordinates } from '@muster/core'
import type { MatchLevels, Quota, Radius, Span, TeamShape } from '@muster/kernel'
import type { Attributes } from '@muster/hosting/internal'
import type { Levels } from './levels.js'

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
  /** Whether the players are in a running match: then how they differ among themselves is no fault of who joins. */
  readonly isPresent?: boolean | undefined
}

/** The members of each team. */
export type Teams = readonly (readonly Facts[])[]

/** Makes the error that refuses a ticket, from the path at fault and what is wrong. */
export type Refuse = (path: string, message: string) => Error

/** A team of a match, with the name of its definition. */
export interface NamedTeam extends TeamShape {
  /** The name of its definition, by which rules refer to it. */
  readonly kind: string
}

/** What a rule is compiled with. */
export interface RuleContext {
  /** Index of the rule in its queue, and of its entry in `Facts.of`. */
  readonly index: number
  readonly queue: string
  readonly levels: Levels
  /** Whether the rule is within another: it then has no radius, span or key, which are for rules of the queue. */
  readonly isInner?: boolean | undefined
  readonly teams: readonly NamedTeam[]
  /** The only team that a rule within another is about. Default: all that it names. */
  readonly team?: number | undefined
  /** Called with what a custom rule throws. */
  readonly failed: (rule: string, error: unknown) => void
}

/**
 * The checks of a rule; see `Checks` for `pair`, `part`, `whole`, `unevenness` and `quotas`. All fields are
 * optional: a rule without any lets everyone in.
 */
export interface RuleChecks {
  /**
   * Reads from a ticket what the rule compares. A ticket without players has no such fact. @throws what `refuse` makes
   */
  readonly factOf?: ((ticket: RuleTicket, refuse: Refuse) => unknown) | undefined
  readonly radius?: Radius | undefined
  /** See `Model.apart`. */
  readonly apart?: ((present: Facts, joining: Facts) => number) | undefined
  readonly span?: Span | undefined
  /** Low and high of the ticket in the span; NaN if the ticket goes with any value. @throws what `refuse` makes */
  readonly boundsOf?: ((ticket: RuleTicket, refuse: Refuse) => readonly [low: number, high: number]) | undefined
  /** The ticket's key: only tickets with the same key meet. @throws what `refuse` makes */
  readonly keyOf?: ((ticket: RuleTicket, refuse: Refuse) => Scalar) | undefined
  readonly pair?:
    ((one: Facts, other: Facts, level: number, levelOfOne?: number, levelOfOther?: number) => boolean) | undefined
  readonly part?:
    ((teams: Teams, roomOf: readonly number[], levels: MatchLevels, others?: readonly Facts[]) => boolean) | undefined
  readonly quotas?: readonly Quota<Facts>[] | undefined
  /** Whether the quotas alone decide the rule, so that the kernel needs neither `part` nor `whole` of it. */
  readonly quotasDecide?: boolean | undefined
  /** Whether `whole` depends on the time beyond the levels. */
  readonly timed?: boolean | undefined
  readonly whole?: ((teams: Teams, levels: MatchLevels) => boolean) | undefined
  /**
   * The same as `whole` by numbers of players alone, of each team the fewest and the most: whether teams within these
   * bounds may play, as far as bounds can tell. Only of rules that need no more than numbers of players.
   */
  readonly counts?: ((fewest: readonly number[], most: readonly number[], levels: MatchLevels) => boolean) | undefined
  /** Whether `counts` has the same answer at all levels. */
  readonly isSteady?: boolean | undefined
  /** Whether `whole` is for teams that are as even in number as can be: see `Checks.balanced`. */
  readonly isBalance?: boolean | undefined
  /**
   * Whether the rule says anything of these teams, or nobody has what it compares: then it neither holds nor fails.
   * Default: it does.
   */
  readonly saysOf?: ((teams: Teams, levels: MatchLevels) => boolean) | undefined
  /** How far two tickets are apart, in the unit of the limit; undefined if nothing is measured. For `explain`. */
  readonly measure?: ((one: Facts, other: Facts) => number | undefined) | undefined
  /** How many players of another kind a match needs, even if all of these tickets are in it. For `explain`. */
  readonly shortage?: ((everyone: readonly Facts[]) => number) | undefined
  readonly unevenness?: ((teams: Teams) => number) | undefined
}
