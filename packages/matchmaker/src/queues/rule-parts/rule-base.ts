// pure: the common fields of all kinds of rules

export type Operator = Comparison | 'in' | 'not in' | 'contains' | 'excludes'
export type Comparison = '=' | '!=' | '<' | '<=' | '>' | '>='

/** Name of the attribute that holds the number of players in the ticket, the player included. Every player has it. */
export const PARTY_SIZE = '$partySize'

/** The players among whom a rule holds: all players of the match, or the players of each team. */
export type Scope = 'match' | 'team'

/** The players that a rule compares. */
export interface Among {
  /** All players of the match, or only players of the same team. Default `match`. */
  readonly scope?: Scope | undefined
  /** Name of a team: the rule does not apply to players of other teams. Default: all teams. */
  readonly team?: string | undefined
}

/**
 * The waiting time that relaxes a rule. `each`: between two tickets, the stricter of their limits counts. For a rule
 * about the whole match or about teams, the youngest ticket's limit counts; for `require`, each ticket's own.
 * `youngest`, `oldest`, `average`: the wait of the match's youngest ticket, its oldest, or the average of all.
 */
export type WaitOf = 'each' | 'youngest' | 'oldest' | 'average'

/**
 * What happens to players who lack the attribute. `refuse` (default): their ticket is refused when it is created.
 * `any`: the rule does not restrict them. `{ value }`: they count as having this value.
 */
export type Missing<Value> = 'refuse' | 'any' | { readonly value: Value }

/** The fields of every rule. */
export interface RuleBase {
  /** Name of the rule in `explain`, unique in its queue. Default: its kind and attribute, e.g. `difference skill`. */
  readonly name?: string | undefined
  /** The waiting time that relaxes the rule. Default `each`. */
  readonly by?: WaitOf | undefined
  /** Milliseconds of waiting after which the rule no longer applies. Default: never. */
  readonly optionalAfterMs?: number | undefined
  /** True if the rule also holds in a match of last resort (see `lastResortMs`). Default false. */
  readonly hard?: boolean | undefined
}

/** A validated rule with its defaults. */
export type Checked<Kind extends RuleBase> = Kind & {
  readonly name: string
  readonly by: WaitOf
  readonly hard: boolean
}
