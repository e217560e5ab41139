// pure: the rules of a queue as they are written down
import type { Attributes } from '../../player.js'

/**
 * A limit that gives way while tickets wait: one number, never relaxed; steps, each in force from `afterMs`
 * on (the first has 0, and each is looser than the one before); or a straight line.
 */
export type Relaxing = number | readonly RelaxationStep[] | LinearRelaxation

export interface RelaxationStep {
  /** Milliseconds of waiting. */
  readonly afterMs: number
  readonly value: number
}

/** From one value to another in even small steps that never run ahead of the line. */
export interface LinearRelaxation {
  readonly from: number
  readonly to: number
  /** Milliseconds of waiting at which it begins to give way. Default 0. */
  readonly startMs?: number | undefined
  /** Milliseconds from there until `to` is reached. */
  readonly overMs: number
}

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
  /** Tickets whose place is unknown: only with those of their network (default), refused, or with anyone. */
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
  readonly attribute: string
  readonly max: Relaxing
  /** What stands for a party: its average (default), its lowest or highest, or every one of its players. */
  readonly party?: 'avg' | 'min' | 'max' | 'each' | undefined
  readonly missing?: Missing<number> | undefined
}

/** All players of the match have the same value. A party whose players differ is refused when created. */
export interface EqualRule extends RuleBase {
  readonly kind: 'equal'
  /** Of type string or number. */
  readonly attribute: string
  readonly missing?: Missing<string | number> | undefined
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
  readonly operator: '=' | '!=' | '<' | '<=' | '>' | '>=' | 'in' | 'contains'
  /**
   * A number for the comparisons, relaxing the way that lets more in; a list for `in`; a text for `contains` (the
   * attribute is a list).
   */
  readonly value: Relaxing | string | readonly string[]
  /** What stands for a party in comparisons of numbers. Default `each`: every player. */
  readonly party?: 'avg' | 'min' | 'max' | 'each' | undefined
  readonly missing?: Missing<string | number | readonly string[]> | undefined
}

/** Compares a number made of a team's players with a constant or with the same of another team. */
export interface CompareRule extends RuleBase {
  readonly kind: 'compare'
  /** Not used for `count`. */
  readonly attribute?: string | undefined
  readonly aggregate: 'avg' | 'min' | 'max' | 'sum' | 'count'
  /** Name of a team; each of that name. Default: each team. */
  readonly team?: string | undefined
  readonly operator: '=' | '!=' | '<' | '<=' | '>' | '>='
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

/** A match that could be made, as a custom rule sees it. No addresses. */
export interface MatchProposal {
  readonly queue: string
  readonly teams: readonly { readonly name: string; readonly tickets: readonly ProposedTicket[] }[]
}

export interface ProposedTicket {
  readonly id: string
  /** Milliseconds. */
  readonly waitedMs: number
  readonly players: readonly ProposedPlayer[]
}

export interface ProposedPlayer {
  readonly id: string
  readonly attributes: Attributes
  readonly roles: readonly string[]
}

export type RuleDefinition =
  | DistanceRule
  | LatencyRule
  | DifferenceRule
  | EqualRule
  | OverlapRule
  | RequireRule
  | CompareRule
  | RolesRule
  | AvoidRule
  | BalanceRule
  | CustomRule

/** Teams of one kind. */
export interface TeamDefinition {
  /** E.g. `team`, `monster`, `hunters`. Of several teams of one name, each is called `name-1`, `name-2` … in a match. */
  readonly name: string
  /** How many of them. Default 1. */
  readonly count?: number | undefined
  /** Players: exactly so many; or up to `max`, and at least `min`, which may fall while the oldest ticket of the match waits. */
  readonly size: number | { readonly min: Relaxing; readonly max: number }
}
