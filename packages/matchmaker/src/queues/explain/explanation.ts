// pure: why a ticket still waits

/** Why a ticket still waits in a queue: plain data, which tells nothing about other players but numbers. */
export interface Explanation {
  readonly queue: string
  /** Whether the queue is paused: then nothing else matters for now. */
  readonly paused?: boolean | undefined
  /** One sentence or two in English. */
  readonly summary: string
  /** Milliseconds. */
  readonly waitedMs: number
  /** Other tickets in the queue. */
  readonly waiting: number
  /** Number of other tickets that were compared: the nearest ones, at most 16. */
  readonly others: number
  /** Number of compared tickets that could be in a match with this ticket now. */
  readonly compatible: number
  /** For each rule that compares two tickets, how many of the others it lets through by itself. */
  readonly rules: readonly { readonly rule: string; readonly lets: number }[]
  /** The rule that blocks most: it lets the fewest tickets through, or the players it needs are missing. */
  readonly blocking?: string | undefined
  /** The other ticket that came closest to being let through. */
  readonly nearest?: NearMiss | undefined
  /** Players still missing for a match, if all compatible tickets were in it. */
  readonly lacks: number
  /** What the queue aims at (`targetWaitMs`), if its limits follow how many players come. */
  readonly targetWaitMs?: number | undefined
  /** Then: milliseconds by which the ticket's limits are ahead of its wait, or behind it where negative. */
  readonly aheadMs?: number | undefined
  /** The next relaxation of a limit. */
  readonly next?: NextRelaxation | undefined
}

/** How far a ticket is from being let through, in the unit of the limit. */
export interface NearMiss {
  readonly rule: string
  readonly value: number
  readonly limit: number
  /** The measured distance, latency or difference between the two tickets. */
  readonly gap: number
  /** Undefined for an attribute, whose unit is the game's. */
  readonly unit?: 'km' | 'ms' | undefined
}

export interface NextRelaxation {
  /** Milliseconds from now. */
  readonly inMs: number
  readonly changes: readonly RelaxationChange[]
}

export interface RelaxationChange {
  /** Name of the rule; undefined if the number of players in a match changes. */
  readonly rule?: string | undefined
  /** The limit so far, or the players of the smallest match. Undefined for a rule without a limit. */
  readonly from?: number | undefined
  /** The limit from then on; undefined if the rule no longer counts. */
  readonly to?: number | undefined
}
