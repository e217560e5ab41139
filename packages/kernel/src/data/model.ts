// pure: the kernel's view of a queue's rules and tickets: numbers where possible, callbacks for the rest

/**
 * The rules of a queue. Everything that relaxes is a table with one entry per level. A ticket's level follows from its
 * wait; level 0 is the strictest. The level that counts between tickets depends on the rule's `WaitOf`.
 */
export interface Model<Facts> {
  /** Milliseconds of waiting at which each level begins: ascending from 0, at most 255 levels. */
  readonly levels: Float64Array
  /**
   * The last-resort level, at which a ticket accepts any match and the other members' levels do not count; Infinity for
   * none.
   */
  readonly lastResortLevel: number
  /**
   * Whether limits adapt: then a ticket's level, other than the last resort, follows from its wait and the head start
   * of its region together. Default: from its wait alone.
   */
  readonly adaptive?: boolean | undefined
  /** The teams, in the order in which they are filled. */
  readonly teams: readonly TeamShape[]
  /**
   * Milliseconds for which the oldest ticket of a match waits for a full match before a smaller one (from the minimum)
   * is accepted.
   */
  readonly fillForMs: number
  /** The distance rule, if there is one. */
  readonly radius: Radius | undefined
  /**
   * The squared chord between a player of an opening and a ticket; if a place is unknown, 0 if they may meet, otherwise
   * Infinity. Players in a match may be far from its middle. Default: the place of the opening counts for all of them.
   */
  readonly apart?: ((present: Facts, joining: Facts) => number) | undefined
  /** The difference rules. The first two narrow the search. */
  readonly spans: readonly Span[]
  /** The other rules; undefined if there are none. */
  readonly checks: Checks<Facts> | undefined
  /** What counts when members are chosen. Default: the defaults of each weight. */
  readonly prefer?: Weights | undefined
  /** Default: a match is made as soon as it may be. */
  readonly patience?: Patience | undefined
}

/** Weights from 0 on. The cost of two tickets is in units of the strictest limits, each times its weight. */
export interface Weights {
  /** Default 1. */
  readonly distance?: number | undefined
  /** By span. Default 1 for the first, and 0 for others. */
  readonly spans?: readonly (number | undefined)[] | undefined
  /** How much a long wait counts for a candidate. */
  readonly waiting?: number | undefined
  /** How much the size of a party counts for it. */
  readonly parties?: number | undefined
}

/**
 * Holds a new match back, although it may be made, while the mean cost of its pairs is above `cost` × the wait of its
 * oldest member / `untilMs`. From `untilMs` on no match is held back. Until a ticket has waited for `thoroughMs`, or is
 * at the last resort, only a few choices of members are tried for a full match around it: one that is hard to find
 * costs more than most.
 */
export interface Patience {
  /** In units of the strictest limits, above 0. */
  readonly cost: number
  readonly untilMs: number
  /** At least `untilMs`. */
  readonly thoroughMs: number
}

export interface TeamShape {
  /** Unique in the queue, e.g. `team-2`. */
  readonly name: string
  /** The most players in the team. */
  readonly max: number
  /** The fewest players in the team at each level; never grows. */
  readonly min: Uint16Array
  /** Teams of one kind are interchangeable for `Checks.counts` if their sizes are the same. Default: none are. */
  readonly kind?: string | undefined
}

export interface Radius {
  readonly by: 'each' | 'youngest' | 'oldest' | 'average'
  /** At each level, the greatest squared chord between two places on a sphere of radius 1. Infinity: anywhere. */
  readonly squared: Float64Array
  /**
   * Whom a ticket without a place may be matched with: tickets of the same network only (unless the limit is Infinity),
   * or any ticket.
   */
  readonly unknown: 'network' | 'any'
}

/** A difference rule: max(high) − min(low) over a match is at most the limit of the level. */
export interface Span {
  readonly by: 'each' | 'youngest' | 'oldest' | 'average'
  readonly limit: Float64Array
}

/**
 * The level that counts for a match under each `WaitOf`; for `each`, a check about the whole match uses that of the
 * youngest. As soon as one member is at the last-resort level, all of these are that level.
 */
export interface MatchLevels {
  readonly youngest: number
  readonly oldest: number
  readonly average: number
  /** Time of the round, in epoch milliseconds. */
  readonly now: number
}

/**
 * The rules that columns of numbers cannot express. All functions are pure, and called only for tickets that pass the
 * columns.
 */
export interface Checks<Facts> {
  /**
   * Whether two tickets may be in one match at all. `level` as for `each`; then the level of each of the two.
   * Undefined: any two may.
   */
  readonly pair:
    ((one: Facts, other: Facts, level: number, levelOfOne: number, levelOfOther: number) => boolean) | undefined
  /**
   * Whether a partial match can still become a whole one, as far as can be told: never false for a part of a match that
   * `whole` allows. `roomOf` is how many more players each team takes. `others` are the facts of everyone who may still
   * join, if known: the same array for all parts of a search. Undefined: always true.
   */
  readonly part:
    | ((
        teams: readonly (readonly Facts[])[],
        roomOf: readonly number[],
        levels: MatchLevels,
        others?: readonly Facts[],
      ) => boolean)
    | undefined
  /** Whether these teams, each given by the facts of its members, may play. Undefined: any may. */
  readonly whole: ((teams: readonly (readonly Facts[])[], levels: MatchLevels) => boolean) | undefined
  /**
   * Whether teams are even enough. It is asked of the teams whose numbers of players are as even as the other rules,
   * the parties and the sizes of the teams allow: teams that are less even in number are not made in their place.
   * Default: any are.
   */
  readonly balanced?: ((teams: readonly (readonly Facts[])[], levels: MatchLevels) => boolean) | undefined
  /** Rules about numbers of players: they choose which sizes of a match are tried. Default: any numbers may play. */
  readonly counts?: CountCheck | undefined
  /**
   * How uneven the teams are, 0 for even: the least uneven of several arrangements is chosen. Undefined: all are
   * equally even. Teams that are more even in number come first.
   */
  readonly unevenness: ((teams: readonly (readonly Facts[])[]) => number) | undefined
  /**
   * Bounds on how many players of some kind a team has, e.g. of a role: counted as members come and go, so that places
   * are kept free for kinds that are still missing. Default: none.
   */
  readonly quotas?: readonly Quota<Facts>[] | undefined
  /**
   * Whether `whole` may change its answer as time passes without a change of level: then tickets are tried again each
   * second. Default false.
   */
  readonly timed?: boolean | undefined
}

/** The rules that need no more of a match than how many players each of its teams has. */
export interface CountCheck {
  /**
   * Whether teams may play whose numbers of players are within these bounds, as far as bounds can tell; exact where the
   * fewest and the most are the same.
   */
  allows(fewest: readonly number[], most: readonly number[], levels: MatchLevels): boolean
  /** Whether the answer is the same at all levels. */
  readonly isSteady: boolean
}

/**
 * How many players of a kind each of some teams has. It counts at the level of the youngest member; a rule that relaxes
 * by another wait gives bounds that hold in any case, and checks the rest in `whole`.
 */
export interface Quota<Facts> {
  /** How many players of a ticket are of this kind. */
  countOf(facts: Facts): number
  /** The indexes of the teams. */
  readonly teams: readonly number[]
  /** At each level the fewest players of this kind in each of these teams. */
  readonly least: Uint16Array
  /** At each level the most of them; undefined: any number. */
  readonly most?: Uint16Array | undefined
  /** Whether players of this kind are left to other matches once a match has enough. Default false. */
  readonly isSpared?: boolean | undefined
}

/** A waiting ticket as the kernel sees it. */
export interface Entry<Facts> {
  /** Breaks ties between tickets that are otherwise equal. */
  readonly id: string
  /** The party's players; they stay together in one team. */
  readonly size: number
  /** When the wait began, in epoch milliseconds. */
  readonly since: number
  /** Tickets of higher priority are served first. Default 0. */
  readonly priority: number
  /** Index of the ticket's head start among those of `setHeadStarts`, up to 254. Default: it has none. */
  readonly region?: number | undefined
  /** The joined values of all equality rules that never relax: tickets of different keys are never matched. */
  readonly key: string
  /** A point on the sphere of radius 1; undefined where unknown. */
  readonly place: readonly [x: number, y: number, z: number] | undefined
  readonly network: string | undefined
  /** Low and high of each span, in turn; NaN where the ticket matches any value. */
  readonly values: readonly number[]
  /** The data that `checks` reads. */
  readonly facts: Facts
}

/** A running match that takes more players. */
export interface Opening<Facts> extends Omit<Entry<Facts>, 'size'> {
  /** How many more players each team takes at most. An opening accepts any number of players from 1 in all. */
  readonly rooms: readonly number[]
  /** How many players each team has. Default: the most of the team, less the room in it. */
  readonly players?: readonly number[] | undefined
  /** The players present: for each team the facts of its members, which count in `checks`. */
  readonly present: readonly (readonly Facts[])[]
}

/** The number of a ticket or opening in the pool: valid until its removal, then reused for another. */
export type Slot = number

export interface Grouped {
  /** The opening that is filled; undefined for a new match. */
  readonly opening: Slot | undefined
  /** The members, oldest first. */
  readonly slots: readonly Slot[]
  /** For each member the index of its team. */
  readonly teams: readonly number[]
}

/**
 * The matches of a round. Each match is put in order every time it is read: read all matches before any of their
 * tickets is removed.
 */
export interface Matches extends Iterable<Grouped> {
  readonly length: number
}

/**
 * The waiting tickets of one queue. Results depend only on what was added and on the times given: no clock, no
 * randomness.
 */
export interface Pool<Facts> {
  add(entry: Entry<Facts>): Slot
  addOpening(opening: Opening<Facts>): Slot
  remove(slot: Slot): void
  removeOpening(slot: Slot): void
  /**
   * Sets by how many milliseconds the tickets of each region are ahead of their wait, or behind it where negative, from
   * the next round on. The level of a ticket in the pool never falls. Only for models with `adaptive`.
   */
  setHeadStarts(headStarts: Float64Array): void
  /** Runs a whole round at once. @param now epoch milliseconds, not before that of the last round. */
  group(now: number): Matches
  /**
   * Starts a round that runs in steps. Tickets may be added or removed between the steps; a match never holds a removed
   * ticket.
   */
  round(now: number, options?: RoundOptions): Round
  /**
   * The tickets nearest to this one, nearest first and whether they may be matched or not: for `explain`. Excludes the
   * slot itself.
   */
  around(slot: Slot, now: number, most: number): Slot[]
  /** Some of the waiting tickets, whether they may be matched with one another or not: for `explain`. */
  some(most: number): Slot[]
  /** The level of a ticket at a time. */
  levelOf(slot: Slot, now: number): number
  /**
   * The numbers of players that a new match may have at a level, greatest first, by `Checks.counts` and the minima of
   * the teams; undefined without such rules, or where there are too many to list.
   */
  sizesAt(level: number): readonly number[] | undefined
  /** Milliseconds by which a ticket's level is ahead of its wait, or behind it where negative; 0 unless `adaptive`. */
  aheadOf(slot: Slot, now: number): number
  /** A ticket as it was added, without its key and network: for `explain`. */
  entryOf(slot: Slot): Pick<Entry<Facts>, 'id' | 'size' | 'since' | 'place' | 'values' | 'facts'>
  /** The number of waiting tickets. */
  readonly count: number
  /** Searches since creation that were given up because their tries were spent: a match may have been missed. */
  readonly givenUp: number
}

export interface RoundOptions {
  /** Only matches with one of these tickets are made. Default: all matches. */
  readonly anchors?: readonly Slot[] | undefined
  /** Whether openings are filled before new matches are made, after, or not at all. Default `first`. */
  readonly openings?: 'first' | 'last' | 'none' | undefined
  /**
   * New matches after which the round ends. They are then made around one ticket after the other, the highest priority
   * and the longest wait first; tickets without a turn have it in the next round. Default: no limit.
   */
  readonly most?: number | undefined
}

export interface Round {
  /**
   * Continues for about `work` tickets' worth of work, or until `isDue` says that time is up: it is asked every few
   * tries, and after each check of teams. False when the round is over.
   */
  step(work: number, isDue?: () => boolean): boolean
  /**
   * The matches made since the last call. Their tickets are out of this round; removing them from the pool is up to the
   * caller.
   */
  take(): Matches
  /**
   * Ends the round early where matches are checked as a whole: the search under way is finished, and the tickets that
   * had no turn come first in the next round, which sees new tickets too.
   */
  hurry(): void
}
