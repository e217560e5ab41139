// pure: the kernel's view of a queue's rules and tickets: numbers if possible, callbacks for the rest

/**
 * The rules of a queue. Everything that relaxes is a table with one entry per level. A ticket's level follows from its
 * wait. Level 0 is the strictest. The level that counts between tickets depends on the rule's `WaitOf`.
 */
export interface Model<Facts> {
  /** Milliseconds of waiting at which each level begins. They ascend from 0, with at most 255 levels. */
  readonly levels: Float64Array
  /**
   * The last-resort level, at which a ticket accepts any match, whatever the levels of other members. Infinity for
   * none.
   */
  readonly lastResortLevel: number
  /**
   * True if limits adapt: a ticket's level, except the last resort, then follows from its wait plus the head start of
   * its region. Default false: from its wait alone.
   */
  readonly adaptive?: boolean | undefined
  /** The teams, in the order in which they are filled. */
  readonly teams: readonly TeamShape[]
  /**
   * Number of milliseconds that the oldest ticket of a match waits for a full match. After that a smaller one (of at
   * least the minimum) is accepted.
   */
  readonly fillForMs: number
  /** The distance rule, if there is one. */
  readonly radius: Radius | undefined
  /**
   * Returns the squared chord between a player of a running match and a joining ticket. For an unknown location: 0 if
   * they may meet, otherwise Infinity. Default: the location of the opening counts for all its players, although they
   * may be far from it.
   */
  readonly apart?: ((present: Facts, joining: Facts) => number) | undefined
  /** The difference rules. The first two narrow the search. */
  readonly spans: readonly Span[]
  /** The other rules. Undefined if there are none. */
  readonly checks: Checks<Facts> | undefined
  /** Weights for choosing members. Default: all defaults of `Weights`. */
  readonly prefer?: Weights | undefined
  /** When to delay allowed matches. Default: never. */
  readonly patience?: Patience | undefined
}

/**
 * Weights, at least 0. A pair of tickets costs the sum of its distance and differences, each divided by its strictest
 * limit and multiplied by its weight.
 */
export interface Weights {
  /** Weight of the distance. Default 1. */
  readonly distance?: number | undefined
  /** Weight of each span. Default: 1 for the first span, 0 for the others. */
  readonly spans?: readonly (number | undefined)[] | undefined
  /** Weight of a candidate's long wait. */
  readonly waiting?: number | undefined
  /** Weight of the size of a candidate's party. */
  readonly parties?: number | undefined
}

/**
 * Holds an allowed new match back while the mean cost of its pairs is above `cost` × the wait of its oldest member /
 * `untilMs`. From `untilMs` on no match is held back. Before `thoroughMs` or the last resort, a search around a ticket
 * tries only a few choices of members. A match that is harder to find would cost too much.
 */
export interface Patience {
  /** Cost in units of the strictest limits, above 0. */
  readonly cost: number
  readonly untilMs: number
  /** At least `untilMs`. */
  readonly thoroughMs: number
}

export interface TeamShape {
  /** Unique in the queue, e.g. `team-2`. */
  readonly name: string
  /** Maximum number of players in the team. */
  readonly max: number
  /** Minimum number of players in the team at each level. It never grows. */
  readonly min: Uint16Array
  /** Teams of one kind are interchangeable for `Checks.counts` if their sizes are equal. Default: none are. */
  readonly kind?: string | undefined
}

export interface Radius {
  readonly by: 'each' | 'youngest' | 'oldest' | 'average'
  /** The maximum squared chord between two points on the unit sphere at each level. Infinity: no limit. */
  readonly squared: Float64Array
  /**
   * Which tickets a ticket without a location may match: only those of the same network (unless the limit is Infinity),
   * or any.
   */
  readonly unknown: 'network' | 'any'
}

/** A difference rule: max(high) − min(low) over a match is at most the limit of the level. */
export interface Span {
  readonly by: 'each' | 'youngest' | 'oldest' | 'average'
  readonly limit: Float64Array
}

/**
 * The level that counts for a match under each `WaitOf`. For `each`, a check of the whole match uses the level of the
 * youngest. As soon as one member is at the last-resort level, all values are that level.
 */
export interface MatchLevels {
  readonly youngest: number
  readonly oldest: number
  readonly average: number
  /** Time of the round, in epoch milliseconds. */
  readonly now: number
}

/**
 * The rules that columns of numbers cannot express. All functions are pure. They are called only for tickets that pass
 * the column rules.
 */
export interface Checks<Facts> {
  /**
   * True if two tickets may be in one match. `level` is the level that counts for `each`; the last arguments are the
   * two tickets' own levels. Undefined: any two may.
   */
  readonly pair:
    | ((one: Facts, other: Facts, level: number, levelOfOne: number, levelOfOther: number) => boolean)
    | undefined
  /**
   * True if a partial match can still become a whole one, as far as is known. It is never false for a part of a match
   * that `whole` allows. `roomOf` returns how many more players a team takes. `others` are the facts of all tickets
   * that may still join, if known: the same array for all parts of a search. Undefined: always true.
   */
  readonly part:
    | ((
        teams: readonly (readonly Facts[])[],
        roomOf: readonly number[],
        levels: MatchLevels,
        others?: readonly Facts[],
      ) => boolean)
    | undefined
  /** True if these teams may play. Each team is given by the facts of its members. Undefined: any teams may. */
  readonly whole: ((teams: readonly (readonly Facts[])[], levels: MatchLevels) => boolean) | undefined
  /**
   * True if the teams are even enough. It is called only for teams whose numbers of players are as even as the other
   * rules, the parties and the team sizes allow. If it rejects these, less even numbers are not tried. Default: all
   * teams are even enough.
   */
  readonly balanced?: ((teams: readonly (readonly Facts[])[], levels: MatchLevels) => boolean) | undefined
  /** Rules about numbers of players. They choose which match sizes are tried. Default: any numbers may play. */
  readonly counts?: CountCheck | undefined
  /**
   * Unevenness of the teams, 0 for even. Of several arrangements the least uneven is chosen. Undefined: all are equally
   * even. Teams with more even numbers of players come first.
   */
  readonly unevenness: ((teams: readonly (readonly Facts[])[]) => number) | undefined
  /**
   * Limits on the number of players of a kind (e.g. a role) in a team. They are counted as members join and leave, so
   * that seats stay free for kinds that are still missing. Default: none.
   */
  readonly quotas?: readonly Quota<Facts>[] | undefined
  /**
   * True if the result of `whole` may change over time without a change of level. Tickets are then tried again every
   * second. Default false.
   */
  readonly timed?: boolean | undefined
}

/** The rules that depend only on the number of players in each team. */
export interface CountCheck {
  /** False only if no teams may play whose numbers of players are from `fewest` to `most`. Exact if both are equal. */
  allows(fewest: readonly number[], most: readonly number[], levels: MatchLevels): boolean
  /** True if the result is the same at all levels. */
  readonly isSteady: boolean
}

/**
 * How many players of a kind some teams need or allow, at the level of the youngest member. If the rule relaxes by
 * another wait, these limits hold in any case, and `whole` checks the rest.
 */
export interface Quota<Facts> {
  /** Returns the number of a ticket's players that are of this kind. */
  countOf(facts: Facts): number
  /** The indexes of the teams to which the limits apply. */
  readonly teams: readonly number[]
  /** Minimum number of players of this kind in each of these teams, by level. */
  readonly least: Uint16Array
  /** Maximum number of players of this kind in each of these teams, by level. Undefined: any number. */
  readonly most?: Uint16Array | undefined
  /** True if a match that has enough players of this kind leaves the others to other matches. Default false. */
  readonly isSpared?: boolean | undefined
}

/** A waiting ticket as the kernel sees it. */
export interface Entry<Facts> {
  /** Decides between tickets that are otherwise equal. */
  readonly id: string
  /** Number of the party's players. They stay together in one team. */
  readonly size: number
  /** When the wait began (epoch milliseconds). */
  readonly since: number
  /** Tickets of higher priority are served first. Default 0. */
  readonly priority: number
  /** Index of the ticket's head start in `setHeadStarts`, up to 254. Default: no head start. */
  readonly region?: number | undefined
  /** The joined values of all equality rules that never relax. Tickets with different keys never match. */
  readonly key: string
  /** A point on the unit sphere. Undefined if unknown. */
  readonly place: readonly [x: number, y: number, z: number] | undefined
  readonly network: string | undefined
  /** Low and high of each span, alternating. NaN if the ticket matches any value. */
  readonly values: readonly number[]
  /** The data that `checks` reads. */
  readonly facts: Facts
}

/** A running match that takes more players. */
export interface Opening<Facts> extends Omit<Entry<Facts>, 'size'> {
  /** Maximum number of players that each team still takes. An opening accepts any total number of players from 1 on. */
  readonly rooms: readonly number[]
  /** Number of players in each team. Default: the team's maximum minus its room. */
  readonly players?: readonly number[] | undefined
  /** The players present: for each team the facts of its members. `checks` apply to them too. */
  readonly present: readonly (readonly Facts[])[]
}

/** The index of a ticket or opening in the pool. It is valid until the removal, then reused. */
export type Slot = number

export interface Grouped {
  /** The opening that is filled. Undefined for a new match. */
  readonly opening: Slot | undefined
  /** The members, oldest first. */
  readonly slots: readonly Slot[]
  /** The team index of each member. */
  readonly teams: readonly number[]
}

/**
 * The matches of a round. Reading a match sorts its members each time, so read all matches before you remove any of
 * their tickets.
 */
export interface Matches extends Iterable<Grouped> {
  readonly length: number
}

/**
 * The waiting tickets of one queue. Results depend only on the added tickets and the given times. There is no clock and
 * no randomness.
 */
export interface Pool<Facts> {
  add(entry: Entry<Facts>): Slot
  addOpening(opening: Opening<Facts>): Slot
  remove(slot: Slot): void
  removeOpening(slot: Slot): void
  /**
   * Sets by how many milliseconds the tickets of each region are ahead of their wait (behind it if negative). Takes
   * effect in the next round. The level of a ticket in the pool never falls. Only for models with `adaptive`.
   */
  setHeadStarts(headStarts: Float64Array): void
  /** Runs a whole round at once. @param now epoch milliseconds, not earlier than those of the last round. */
  group(now: number): Matches
  /**
   * Starts a round that runs in steps. Tickets may be added or removed between the steps; a match never holds a removed
   * ticket.
   */
  round(now: number, options?: RoundOptions): Round
  /**
   * Returns the tickets nearest to this one, nearest first, whether they may match or not. For `explain`. Excludes the
   * slot itself.
   */
  around(slot: Slot, now: number, most: number): Slot[]
  /** Returns some of the waiting tickets, whether they may match each other or not. For `explain`. */
  some(most: number): Slot[]
  /** Returns the level of a ticket at the given time. */
  levelOf(slot: Slot, now: number): number
  /**
   * Returns the numbers of players that a new match may have at a level, greatest first, by `Checks.counts` and the
   * minima of the teams. Undefined without `Checks.counts`, or if there are too many to list.
   */
  sizesAt(level: number): readonly number[] | undefined
  /**
   * Returns the number of milliseconds by which a ticket's level is ahead of its wait (behind it if negative). 0 unless
   * `adaptive`.
   */
  aheadOf(slot: Slot, now: number): number
  /** Returns a ticket as it was added, without its key and network. For `explain`. */
  entryOf(slot: Slot): Pick<Entry<Facts>, 'id' | 'size' | 'since' | 'place' | 'values' | 'facts'>
  /** The number of waiting tickets. */
  readonly count: number
  /** Number of searches since creation that ran out of tries. Each may have missed a match. */
  readonly givenUp: number
}

export interface RoundOptions {
  /** Makes only matches with one of these tickets. Default: all matches. */
  readonly anchors?: readonly Slot[] | undefined
  /** When openings are filled: before new matches, after them, or not at all. Default `first`. */
  readonly openings?: 'first' | 'last' | 'none' | undefined
  /**
   * Number of new matches after which the round ends. Matches are then made around one ticket after the other: the
   * highest priority first, then the longest wait. Tickets without a turn have it in the next round. Default: no limit.
   */
  readonly most?: number | undefined
}

export interface Round {
  /**
   * Continues for the work of about `work` tickets, or until `isDue` returns true. `isDue` is called every few tries
   * and after each check of teams. Returns false when the round is over.
   */
  step(work: number, isDue?: () => boolean): boolean
  /**
   * Returns the matches made since the last call. Their tickets are out of this round. The caller removes them from the
   * pool.
   */
  take(): Matches
  /**
   * Ends the round early if matches are checked as a whole. The current search is finished. Tickets that had no turn
   * come first in the next round, which includes new tickets too.
   */
  hurry(): void
  /** Ends the round for good: its remaining searches are not made, and its matches that were not taken are lost. */
  drop(): void
}
