// pure: why a ticket still waits

/** Why a ticket still waits in a queue: plain data, without anything about other players but numbers. */
export interface Explanation {
  readonly queue: string
  /** One sentence or two in English. */
  readonly summary: string
  /** Milliseconds. */
  readonly waitedMs: number
  /** Other tickets in the queue. */
  readonly waiting: number
  /** Other tickets that were looked at: the nearest ones, at most 16. */
  readonly others: number
  /** Of these, the ones that could be in a match with this ticket now. */
  readonly compatible: number
  /** For each rule that is about two tickets, how many of the others it lets through by itself. */
  readonly rules: readonly { readonly rule: string; readonly lets: number }[]
  /** The rule that stands most in the way: it lets the fewest through, or there are not the players whom it needs. */
  readonly blocking?: string | undefined
  /** The other ticket that came nearest to being let through. */
  readonly nearest?: NearMiss | undefined
  /** Players who are missing before there are enough for a match, if all compatible ones were in it. */
  readonly lacks: number
  /** When something next gives way. */
  readonly next?: NextRelaxation | undefined
}

/** How far a ticket is from being let through, in the unit of the limit. */
export interface NearMiss {
  readonly rule: string
  readonly value: number
  readonly limit: number
  /** What is between the two. */
  readonly gap: number
  /** Undefined for an attribute: its unit is yours. */
  readonly unit?: 'km' | 'ms' | undefined
}

export interface NextRelaxation {
  /** Milliseconds from now. */
  readonly inMs: number
  readonly changes: readonly RelaxationChange[]
}

export interface RelaxationChange {
  /** Name of the rule; undefined where it is the number of players that changes. */
  readonly rule?: string | undefined
  /** The limit so far, or the players of the smallest match. Undefined for a rule without a number. */
  readonly from?: number | undefined
  /** The limit from then on; undefined if the rule does not count any more. */
  readonly to?: number | undefined
}
