// pure: what all kinds of rules have in common

export type Operator = Comparison | 'in' | 'not in' | 'contains' | 'excludes'
export type Comparison = '=' | '!=' | '<' | '<=' | '>' | '>='

/** Used in rules as an attribute that every player has: the number of players in the ticket, the player included. */
export const PARTY_SIZE = '$partySize'

/** Among whom a rule holds: all players of the match, or the players of each team. */
export type Scope = 'match' | 'team'

/** Whose players a rule compares. */
export interface Among {
  /** All players of the match, or those of each team among themselves. Default `match`. */
  readonly scope?: Scope | undefined
  /** Name of a team: players of other teams are free of the rule. Default: all teams. */
  readonly team?: string | undefined
}

/**
 * Whose waiting time relaxes a rule. `each`: between any two tickets, the stricter of their two limits counts; for a
 * rule about the whole match or about teams, that of the youngest ticket; for `require`, each ticket's own. `youngest`,
 * `oldest`, `average`: the wait of the match's youngest ticket, its oldest, or the average of all.
 */
export type WaitOf = 'each' | 'youngest' | 'oldest' | 'average'

/**
 * What happens to players who lack the attribute. `refuse` (default): their ticket is refused when it is created;
 * `any`: the rule does not restrict them; `{ value }`: they count as having this value.
 */
export type Missing<Value> = 'refuse' | 'any' | { readonly value: Value }

/** The fields of every rule. */
export interface RuleBase {
  /** Name of the rule in `explain`, unique in its queue. Default: its kind and attribute, e.g. `difference skill`. */
  readonly name?: string | undefined
  /** Whose waiting time relaxes the rule. Default `each`. */
  readonly by?: WaitOf | undefined
  /** Milliseconds of waiting after which the rule no longer counts. Default: never. */
  readonly optionalAfterMs?: number | undefined
  /** Whether the rule also holds in a match of last resort (see `lastResortMs`). Default false. */
  readonly hard?: boolean | undefined
}

/** A rule that was checked, with defaults filled in. */
export type Checked<Kind extends RuleBase> = Kind & {
  readonly name: string
  readonly by: WaitOf
  readonly hard: boolean
}
