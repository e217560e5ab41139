// pure: the rules of a queue as they are written down
import type { MatchProposal } from './proposal.js'
import type { Relaxing } from './relaxing.js'

export type Comparison = '=' | '!=' | '<' | '<=' | '>' | '>='

/** Stands in rules for an attribute that every player has: how many players are in the ticket, oneself included. */
export const PARTY_SIZE = '$partySize'

/**
 * Whose waiting time relaxes a rule: `each`, between any two tickets the stricter of their two limits counts
 * (where a rule is about the whole match: the limit of its youngest ticket); or the youngest ticket of the
 * match, the oldest, or their average.
 */
export type WaitOf = 'each' | 'youngest' | 'oldest' | 'average'

/**
 * What becomes of players who do not have the attribute: their ticket is refused when it is created (default), they go
 * with anything, or count as if they had this value.
 */
export type Missing<Value> = 'refuse' | 'any' | { readonly value: Value }

/** Among whom a rule holds: all players of the match, or those of each team. */
export type Scope = 'match' | 'team'

interface RuleBase {
  /** For `explain`. Default: its kind and attribute, e.g. `difference skill`. Names of a queue's rules differ. */
  readonly name?: string | undefined
  /** Default `each`. */
  readonly by?: WaitOf | undefined
  /** Milliseconds of waiting after which the rule does not count any more. Default: never. */
  readonly optionalAfterMs?: number | undefined
  /** Whether it holds in a match of last resort too (see `lastResortMs`). Default false. */
  readonly hard?: boolean | undefined
}

/** Any two tickets are so close; a party is where its players' middle is. Great circle. */
export interface DistanceRule extends RuleBase {
  readonly kind: 'distance'
  /** Kilometres. */
  readonly maxKm: Relaxing
  /**
   * Tickets whose place is unknown: only with those of their network (default), that is the /16 of an IPv4 address and the /32 of
   * an IPv6 address; refused; or with anyone.
   */
  readonly missing?: 'network' | 'refuse' | 'any' | undefined
}

/**
 * There is a beacon to which every player of the match has a round trip of at most `maxMs`, and no two differ by more
 * than `maxDifferenceMs`.
 */
export interface LatencyRule extends RuleBase {
  readonly kind: 'latency'
  /** Milliseconds. At least one of the two is given. */
  readonly maxMs?: Relaxing | undefined
  readonly maxDifferenceMs?: Relaxing | undefined
  /** Players without any latency. Default `refuse`. */
  readonly missing?: 'refuse' | 'any' | undefined
}

/** Any two tickets differ in a number by so much at most. */
export interface DifferenceRule extends RuleBase {
  readonly kind: 'difference'
  /** Name of a number; or `PARTY_SIZE`, for how many players the ticket has. */
  readonly attribute: string
  readonly max: Relaxing
  /** What stands for a party: its average (default), its lowest or highest, or every one of its players. */
  readonly party?: 'avg' | 'min' | 'max' | 'each' | undefined
  readonly missing?: Missing<number> | undefined
}

/** All players of the match, or of each team, have the same value. A party whose players differ is refused when created. */
export interface EqualRule extends RuleBase {
  readonly kind: 'equal'
  /** Of type text, number or boolean. */
  readonly attribute: string
  /** Among whom. With `team`, the teams may differ from one another. Default `match`. */
  readonly scope?: Scope | undefined
  readonly missing?: Missing<string | number | boolean> | undefined
}

/** No two players of the match, or of a team, have the same value. A party of which two do is refused when created. */
export interface DifferentRule extends RuleBase {
  readonly kind: 'different'
  /** Of type text, number or boolean. */
  readonly attribute: string
  /** Among whom. Default `match`. */
  readonly scope?: Scope | undefined
  readonly missing?: Missing<string | number | boolean> | undefined
}

/** The lists of all tickets of the match have so many members in common. */
export interface OverlapRule extends RuleBase {
  readonly kind: 'overlap'
  /** Of type string list. */
  readonly attribute: string
  /** Default 1. Relaxing falls. */
  readonly atLeast?: Relaxing | undefined
  /** What stands for a party: what all of its players list (default), or what any does. */
  readonly party?: 'intersection' | 'union' | undefined
  readonly missing?: Missing<readonly string[]> | undefined
}

/** A ticket may be matched only if a value of its own is so. Where it never can be, it is refused when created. */
export interface RequireRule extends RuleBase {
  readonly kind: 'require'
  readonly attribute: string
  readonly operator: Comparison | 'in' | 'not in' | 'contains' | 'excludes'
  /**
   * A number for the comparisons, relaxing the way that lets more in; or a text or boolean for `=` and `!=`; a list of texts for
   * `in` and `not in`; a text for `contains` and `excludes`, whose attribute is a list.
   */
  readonly value: Relaxing | string | boolean | readonly string[]
  /** What stands for a party in comparisons of numbers. Default `each`: every player. */
  readonly party?: 'avg' | 'min' | 'max' | 'each' | undefined
  readonly missing?: Missing<string | number | boolean | readonly string[]> | undefined
}

/**
 * Each ticket says whom it takes: between any two tickets, every player's `attribute` compares so with what every player of
 * the other ticket has under `own`. Who states nothing under `own` takes everyone. E.g. `attribute: 'skill', operator: '>=',
 * own: 'minSkill'`, or `attribute: 'clan', operator: 'not in', own: 'blockedClans'`.
 */
export interface AcceptsRule extends RuleBase {
  readonly kind: 'accepts'
  /** What of the others is looked at. */
  readonly attribute: string
  /** The attribute is a number for `<`, `<=`, `>` and `>=`; a list for `contains` and `excludes`. */
  readonly operator: Comparison | 'in' | 'not in' | 'contains' | 'excludes'
  /** Name of the player's own attribute that it is compared with: a list for `in` and `not in`. */
  readonly own: string
  /** Players who do not have `attribute`. Default `refuse`. */
  readonly missing?: Missing<string | number | boolean | readonly string[]> | undefined
}

/** Compares a number made of a team's players, or of all, with a constant or with the same of another team. */
export interface CompareRule extends RuleBase {
  readonly kind: 'compare'
  /** Of what the number is made. With `match`, there is no `team` and no `otherTeam`. Default `team`. */
  readonly scope?: Scope | undefined
  /** Name of a number, or `PARTY_SIZE`. Not used for `count`. */
  readonly attribute?: string | undefined
  readonly aggregate: 'avg' | 'min' | 'max' | 'sum' | 'count'
  /** Name of a team; each of that name. Default: each team. */
  readonly team?: string | undefined
  readonly operator: Comparison
  /** Exactly one of the two. `value` relaxes the way that lets more in. */
  readonly value?: Relaxing | undefined
  readonly otherTeam?: string | undefined
  readonly missing?: Missing<number> | undefined
}

/** How many players of a team play each role; who can play several plays one of them. Others are as they like. */
export interface RolesRule extends RuleBase {
  readonly kind: 'roles'
  /** At least so many of each role; of `{ min, max }`, at most `max` who can play nothing else. */
  readonly roles: Readonly<Record<string, number | { readonly min: number; readonly max?: number | undefined }>>
  /** Name of a team; each of that name. Default: each team. */
  readonly team?: string | undefined
}

/** Nobody is in a match with a player on their avoid list, in either direction. */
export interface AvoidRule extends RuleBase {
  readonly kind: 'avoid'
}

/**
 * The teams differ by so much at most in a number made of their players. Of several ways to make the teams, the most
 * even is taken.
 */
export interface BalanceRule extends RuleBase {
  readonly kind: 'balance'
  /** Name of a number; or `PARTY_SIZE`: with `aggregate: 'max'`, the largest parties of the teams are of a size. */
  readonly attribute: string
  /** Default `avg`. */
  readonly aggregate?: 'avg' | 'sum' | 'min' | 'max' | undefined
  readonly max: Relaxing
  readonly missing?: Missing<number> | undefined
}

/** Whatever else you want. Must be pure: the same match, the same answer. If it throws, it says no. Not for queues from JSON. */
export interface CustomRule extends RuleBase {
  readonly kind: 'custom'
  readonly name: string
  readonly test: (match: MatchProposal) => boolean
}

/**
 * At least one of these rules holds for the match. They have no name, `by`, `optionalAfterMs` or `hard` of their own: those of this
 * rule count, and `each` stands for the youngest ticket. A rule that would refuse a ticket, e.g. for a missing attribute, does not
 * hold with it instead.
 */
export interface AnyRule extends RuleBase {
  readonly kind: 'any'
  /** 2 to 8. To say that several must hold, give each as a rule of the queue; within `any`, use `all`. */
  readonly rules: readonly RuleDefinition[]
}

/** All of these rules hold for the match: for use within `any` and `not`. As there, `by` and the like are this rule's. */
export interface AllRule extends RuleBase {
  readonly kind: 'all'
  /** 2 to 8. */
  readonly rules: readonly RuleDefinition[]
}

/** This rule does not hold for the match. It may not relax, because that would make this rule stricter. */
export interface NotRule extends RuleBase {
  readonly kind: 'not'
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

/** Teams of one kind. */
export interface TeamDefinition {
  /** E.g. `team`, `monster`, `hunters`. Of several teams of one name, each is called `name-1`, `name-2` … in a match. */
  readonly name: string
  /** How many of them. Default 1. */
  readonly count?: number | undefined
  /** Players: exactly so many; or up to `max`, and at least `min`, which may fall while the oldest ticket of the match waits. */
  readonly size: number | { readonly min: Relaxing; readonly max: number }
}
