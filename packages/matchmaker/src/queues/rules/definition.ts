// pure: the rules of a queue, as plain data
import type { BalanceRule } from './balance-definition.js'
import type { MatchProposal } from './proposal.js'
import type { Relaxing } from './relaxing.js'
import type { Missing, RuleBase } from './rule-base.js'

export type Comparison = '=' | '!=' | '<' | '<=' | '>' | '>='

/** Used in rules as an attribute that every player has: the number of players in the ticket, the player included. */
export const PARTY_SIZE = '$partySize'

/** Among whom a rule holds: all players of the match, or the players of each team. */
export type Scope = 'match' | 'team'

/**
 * Any two tickets are at most `maxKm` apart along the great circle. A party's place is the middle of its players'
 * places.
 */
export interface DistanceRule extends RuleBase {
  readonly kind: 'distance'
  /** Kilometres. */
  readonly maxKm: Relaxing
  /**
   * Tickets whose place is unknown. `network` (default): they meet only tickets of the same network, i.e. the /16 of an
   * IPv4 address or the /32 of an IPv6 address; `refuse`: they are refused; `any`: they meet anyone.
   */
  readonly missing?: 'network' | 'refuse' | 'any' | undefined
}

/**
 * The match has a beacon to which every player has a round trip of at most `maxMs`, and to which the round trips of any
 * two players differ by at most `maxDifferenceMs`.
 */
export interface LatencyRule extends RuleBase {
  readonly kind: 'latency'
  /** Milliseconds of round trip at most. At least one of `maxMs` and `maxDifferenceMs` is given. */
  readonly maxMs?: Relaxing | undefined
  /** Milliseconds by which the round trips of any two players to it may differ. */
  readonly maxDifferenceMs?: Relaxing | undefined
  /** Players without any measured latency. Default `refuse`. */
  readonly missing?: 'refuse' | 'any' | undefined
}

/** Any two tickets differ in a number by at most `max`. */
export interface DifferenceRule extends RuleBase {
  readonly kind: 'difference'
  /** Name of a number attribute, or `PARTY_SIZE` for the number of players in the ticket. */
  readonly attribute: string
  /** The difference at most. */
  readonly max: Relaxing
  /**
   * The number that stands for a party: the average (default), lowest or highest of its players, or each player's own.
   */
  readonly party?: 'avg' | 'min' | 'max' | 'each' | undefined
  /** Players who do not have the attribute. Default `refuse`. */
  readonly missing?: Missing<number> | undefined
}

/**
 * All players of the match, or of each team, have the same value. A party whose players differ is refused when created.
 */
export interface EqualRule extends RuleBase {
  readonly kind: 'equal'
  /** Name of a text, number or boolean attribute. */
  readonly attribute: string
  /** Among whom the values are equal. With `team`, teams may differ from one another. Default `match`. */
  readonly scope?: Scope | undefined
  /** Players who do not have the attribute. Default `refuse`. */
  readonly missing?: Missing<string | number | boolean> | undefined
}

/**
 * All players of the match, or of each team, have different values. A party in which two are equal is refused when
 * created.
 */
export interface DifferentRule extends RuleBase {
  readonly kind: 'different'
  /** Name of a text, number or boolean attribute. */
  readonly attribute: string
  /** Among whom the values differ. Default `match`. */
  readonly scope?: Scope | undefined
  /** Players who do not have the attribute. Default `refuse`. */
  readonly missing?: Missing<string | number | boolean> | undefined
}

/** The lists of all tickets of the match have at least `atLeast` texts in common. */
export interface OverlapRule extends RuleBase {
  readonly kind: 'overlap'
  /** Name of an attribute that is a list of texts. */
  readonly attribute: string
  /** Number of texts in common. Default 1. Relaxes downwards. */
  readonly atLeast?: Relaxing | undefined
  /** The list that stands for a party: what all its players list (default), or what any of them lists. */
  readonly party?: 'intersection' | 'union' | undefined
  /** Players who do not have the attribute. Default `refuse`. */
  readonly missing?: Missing<readonly string[]> | undefined
}

/** A ticket may be matched only if its own value fits. A ticket whose value can never fit is refused when created. */
export interface RequireRule extends RuleBase {
  readonly kind: 'require'
  /** Name of the attribute that is compared, or `PARTY_SIZE`. */
  readonly attribute: string
  /** How it is compared with `value`. */
  readonly operator: Comparison | 'in' | 'not in' | 'contains' | 'excludes'
  /**
   * What the attribute is compared with: a number, which relaxes in the direction that lets more in; a text or boolean
   * for `=` and `!=`; a list of texts for `in` and `not in`; a text for `contains` and `excludes`, whose attribute is a
   * list.
   */
  readonly value: Relaxing | string | boolean | readonly string[]
  /** The number that stands for a party when numbers are compared. Default `each`: every player's own. */
  readonly party?: 'avg' | 'min' | 'max' | 'each' | undefined
  /** Players who do not have the attribute. Default `refuse`. */
  readonly missing?: Missing<string | number | boolean | readonly string[]> | undefined
}

/**
 * Each ticket says whom it accepts: between any two tickets, every player's `attribute` must compare by `operator` with
 * what every player of the other ticket has under `own`. Players who have nothing under `own` accept everyone. E.g.
 * `attribute: 'skill', operator: '>=', own: 'minSkill'`, or `attribute: 'clan', operator: 'not in', own:
 * 'blockedClans'`.
 */
export interface AcceptsRule extends RuleBase {
  readonly kind: 'accepts'
  /** Name of the attribute of the other players. */
  readonly attribute: string
  /** For `<`, `<=`, `>` and `>=` the attribute is a number; for `contains` and `excludes`, a list of texts. */
  readonly operator: Comparison | 'in' | 'not in' | 'contains' | 'excludes'
  /** Name of the player's own attribute to compare with; for `in` and `not in`, a list of texts. */
  readonly own: string
  /** Players who do not have `attribute`. Default `refuse`. */
  readonly missing?: Missing<string | number | boolean | readonly string[]> | undefined
}

/**
 * Compares a number made from the players of a team, or of the match, with a constant or with another team's number.
 */
export interface CompareRule extends RuleBase {
  readonly kind: 'compare'
  /** Whose players the number is made from. With `match`, neither `team` nor `otherTeam` is given. Default `team`. */
  readonly scope?: Scope | undefined
  /** Name of a number attribute, or `PARTY_SIZE`. Not used for `count`. */
  readonly attribute?: string | undefined
  /** How the number is made from the players' numbers; `count` is the number of players. */
  readonly aggregate: 'avg' | 'min' | 'max' | 'sum' | 'count'
  /** Name of a team; it stands for each team of that name. Default: every team. */
  readonly team?: string | undefined
  /** How the number is compared. */
  readonly operator: Comparison
  /** Exactly one of `value` and `otherTeam` is given. `value` relaxes in the direction that lets more in. */
  readonly value?: Relaxing | undefined
  /** Name of the team whose number is compared with. */
  readonly otherTeam?: string | undefined
  /** Players who do not have the attribute. Default `refuse`. */
  readonly missing?: Missing<number> | undefined
}

/**
 * Enough players of a team can play each role. A player who can play several roles fills one of them. The other players
 * of the team are free.
 */
export interface RolesRule extends RuleBase {
  readonly kind: 'roles'
  /**
   * The least number of players for each role; with `{ min, max }`, also at most `max` players who can play no other
   * role.
   */
  readonly roles: Readonly<Record<string, number | { readonly min: number; readonly max?: number | undefined }>>
  /** Name of a team; it stands for each team of that name. Default: every team. */
  readonly team?: string | undefined
}

/** No player is in a match with a player on their avoid list, or whose avoid list they are on. */
export interface AvoidRule extends RuleBase {
  readonly kind: 'avoid'
}

/**
 * Any other condition, as a function. It must be pure: the same answer for the same match. A function that throws says
 * no. Not available in queues from JSON.
 */
export interface CustomRule extends RuleBase {
  readonly kind: 'custom'
  readonly name: string
  readonly test: (match: MatchProposal) => boolean
}

/**
 * At least one of the inner rules holds for the match. Inner rules have no `name`, `by`, `optionalAfterMs` or `hard`:
 * those of the outer rule count, and `each` means the youngest ticket. Where an inner rule would refuse a ticket, e.g.
 * for a missing attribute, it does not hold for that ticket instead.
 */
export interface AnyRule extends RuleBase {
  readonly kind: 'any'
  /**
   * 2 to 8 rules. Rules that must all hold are given as rules of the queue, or within `any` as one rule of kind `all`.
   */
  readonly rules: readonly RuleDefinition[]
}

/**
 * All inner rules hold for the match: for use within `any` and `not`. As in `any`, the outer rule's `by` and the like
 * count.
 */
export interface AllRule extends RuleBase {
  readonly kind: 'all'
  /** 2 to 8 rules. */
  readonly rules: readonly RuleDefinition[]
}

/** The inner rule does not hold for the match. It may not relax, because that would make this rule stricter. */
export interface NotRule extends RuleBase {
  readonly kind: 'not'
  /** The rule that must not hold. */
  readonly rule: RuleDefinition
}

export type RuleDefinition =
  | DistanceRule
  | LatencyRule
  | DifferenceRule
  | EqualRule
  | DifferentRule
  | OverlapRule
  | RequireRule
  | AcceptsRule
  | CompareRule
  | RolesRule
  | AvoidRule
  | BalanceRule
  | CustomRule
  | AnyRule
  | AllRule
  | NotRule

/** One or more teams of one kind. */
export interface TeamDefinition {
  /**
   * Name of the team, e.g. `team`, `monster`, `hunters`. If `count` is above 1, the teams are called `name-1`, `name-2`
   * … in a match.
   */
  readonly name: string
  /** Number of teams of this kind. Default 1. */
  readonly count?: number | undefined
  /**
   * Players in the team: an exact number; or at most `max` and at least `min`, which may fall while the oldest ticket
   * of the match waits.
   */
  readonly size: number | { readonly min: Relaxing; readonly max: number }
}
