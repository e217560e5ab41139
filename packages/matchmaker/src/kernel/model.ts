// pure: what the kernel knows of a queue's rules and of its tickets. All in numbers; what cannot be said so, is asked.

/**
 * Everything that relaxes is a table with one entry per level. A ticket's level follows from how long it has
 * waited; level 0 is the strictest. The level that counts between tickets depends on the rule's `WaitOf`.
 */
export interface Model<Facts> {
  /** Milliseconds of waiting at which each level begins: the first is 0, they grow, at most 255. */
  readonly levels: Float64Array
  /**
   * The level from which a ticket takes whoever it gets, and the level of the others does not count; Infinity for none.
   */
  readonly lastResortLevel: number
  /** In the order in which they are filled. */
  readonly teams: readonly TeamShape[]
  /**
   * Milliseconds for which the oldest ticket of a match waits for a full one before a smaller one (from the minimum)
   * will do.
   */
  readonly fillForMs: number
  /** The distance rule, if there is one. */
  readonly radius: Radius | undefined
  /** The difference rules: the first one narrows the search. */
  readonly spans: readonly Span[]
  /** The other rules; undefined if there are none. */
  readonly checks: Checks<Facts> | undefined
}

export interface TeamShape {
  /** Unique in the queue, e.g. `team-2`. */
  readonly name: string
  /** Players. */
  readonly max: number
  /** At each level; never grows. */
  readonly min: Uint16Array
}

export interface Radius {
  readonly by: 'each' | 'youngest' | 'oldest' | 'average'
  /**
   * At each level, the greatest square of the straight line between two places on a sphere of radius 1. Infinity:
   * anywhere.
   */
  readonly squared: Float64Array
  /** Where a place is unknown: only tickets of the same network (where the limit is not Infinity), or anyone. */
  readonly unknown: 'network' | 'any'
}

/** max(high) − min(low) over a match is at most the limit. */
export interface Span {
  readonly by: 'each' | 'youngest' | 'oldest' | 'average'
  readonly limit: Float64Array
}

/**
 * The level that counts for a match under each `WaitOf`; for `each`, in a check about the whole match, that of the
 * youngest. All are the level of last resort as soon as one of its tickets is there.
 */
export interface MatchLevels {
  readonly youngest: number
  readonly oldest: number
  readonly average: number
  /** Epoch milliseconds: the round's. */
  readonly now: number
}

/** The rules that columns of numbers cannot tell. All pure; called only for what passed the columns. */
export interface Checks<Facts> {
  /** Whether two tickets may be in one match at all. `level` as for `each`. Undefined: any two may. */
  readonly pair: ((one: Facts, other: Facts, level: number) => boolean) | undefined
  /**
   * Whether a part of a match can still become a whole one, as far as one can tell: never false for a part of a
   * match that `whole` allows. `roomOf` is how many more players each team takes; `others` is everyone who may still
   * join, as far as that is known: one list for all parts of a search. Undefined: always.
   */
  readonly part:
    | ((
        teams: readonly (readonly Facts[])[],
        roomOf: readonly number[],
        levels: MatchLevels,
        others?: readonly Facts[],
      ) => boolean)
    | undefined
  /** Whether these teams may play; for each team its members. Undefined: any may. */
  readonly whole: ((teams: readonly (readonly Facts[])[], levels: MatchLevels) => boolean) | undefined
  /**
   * How uneven the teams are, 0 for even: of several ways to make the teams the one with the least is taken. Undefined:
   * all are equal.
   */
  readonly unevenness: ((teams: readonly (readonly Facts[])[]) => number) | undefined
  /** Players of some kind that every match needs, e.g. of a role: without them nothing else is tried. Default: none. */
  readonly needs?: readonly Need<Facts>[] | undefined
  /**
   * Whether `whole` may change its answer as time goes by, without a change of level: then it is asked again each
   * second. Default false.
   */
  readonly timed?: boolean | undefined
}

export interface Need<Facts> {
  /** How many players of a ticket are of this kind. */
  countOf(facts: Facts): number
  /**
   * At each level of any of its tickets but those of last resort, how many players of this kind a match has at least,
   * in all teams together, whatever its size. Never more than that: what is said here is not tried.
   */
  readonly atLeast: Uint16Array
}

/** A waiting ticket as the kernel sees it. */
export interface Entry<Facts> {
  /** For a stable order among equals. */
  readonly id: string
  /** Players; they stay together, in one team. */
  readonly size: number
  /** Epoch milliseconds since when it waits. */
  readonly since: number
  /** Higher is served first. Default 0. */
  readonly priority: number
  /** Tickets of different keys never meet: what all equality rules that never relax make of them, joined. */
  readonly key: string
  /** A point on the sphere of radius 1; undefined where unknown. */
  readonly place: readonly [x: number, y: number, z: number] | undefined
  readonly network: string | undefined
  /** For each span, low and high in turn; not a number where it goes with anything. */
  readonly values: readonly number[]
  /** Whatever `checks` needs. */
  readonly facts: Facts
}

/** A running match that takes more players. */
export interface Opening<Facts> extends Omit<Entry<Facts>, 'size'> {
  /** How many players each team of the model takes at most. Any number from 1 in all will do. */
  readonly rooms: readonly number[]
  /** Who is there: for each team its members. They count in `checks`. */
  readonly present: readonly (readonly Facts[])[]
}

/** A ticket in the pool: valid until it is removed, then given to another. */
export type Slot = number

export interface Grouped {
  /** The opening that is filled; undefined for a new match. */
  readonly opening: Slot | undefined
  /** The oldest first. */
  readonly slots: readonly Slot[]
  /** For each of them the index of its team. */
  readonly teams: readonly number[]
}

/**
 * Matches of a round. Each is put in order when it is read, once for each time: read them before any of their tickets
 * is removed.
 */
export interface Matches extends Iterable<Grouped> {
  readonly length: number
}

/** The waiting tickets of one queue. Everything it does follows from what was added, and when; no clock, no chance. */
export interface Pool<Facts> {
  add(entry: Entry<Facts>): Slot
  addOpening(opening: Opening<Facts>): Slot
  remove(slot: Slot): void
  removeOpening(slot: Slot): void
  /** A whole round at once. @param now epoch milliseconds, not before that of the last round. */
  group(now: number): Matches
  /** A round in parts. Tickets added or removed between the parts are allowed; a group never holds a removed one. */
  round(now: number, options?: RoundOptions): Round
  /** Tickets that may be worth a look for this one, the nearest first: for `explain`. Not the slot itself. */
  around(slot: Slot, now: number, most: number): Slot[]
  /** The level of a ticket. */
  levelOf(slot: Slot, now: number): number
  /** A ticket as it was added, its key and network aside: for `explain`. */
  entryOf(slot: Slot): Pick<Entry<Facts>, 'id' | 'size' | 'since' | 'place' | 'values' | 'facts'>
  /** Waiting tickets. */
  readonly count: number
  /** Memory of its columns. */
  bytes(): number
}

export interface RoundOptions {
  /** Only matches that one of these is in. Default: all. */
  readonly anchors?: readonly Slot[] | undefined
  /** Openings before new matches, after them, or not at all. Default `first`. */
  readonly openings?: 'first' | 'last' | 'none' | undefined
}

export interface Round {
  /** Goes on for about so many tickets' worth of work. False when the round is over. */
  step(work: number): boolean
  /**
   * What was grouped since the last call. Its tickets are out of this round; the caller removes them from the pool, or
   * not.
   */
  take(): Matches
}
