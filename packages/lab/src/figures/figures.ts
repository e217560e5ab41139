// pure: what is told of a run
import type { Spread } from '../statistics/spread.js'
import type { TicketOutcome } from '../run/outcome.js'
import type { Refusal } from './refusals.js'

/** What is told of a run. It is plain data of limited size, whatever the crowd. */
export interface Figures {
  readonly all: Slice
  /**
   * The same by queue, region of the party's first player, party size, and band of skill. By queue, every player counts
   * who waited in it, also those who were matched in another; by all else, every player counts once.
   */
  readonly by: Readonly<Record<Dimension, Readonly<Record<string, Slice>>>>
  /** The bands of skill in ascending order, by quantiles of the crowd's skill. Empty if no skill is known. */
  readonly skillBands: readonly SkillBand[]
  /** Of all matches, and of those of each queue. */
  readonly matches: MatchFigures
  readonly queues: Readonly<Record<string, QueueFigures>>
  readonly fairness: Fairness
  /** Why tickets were refused, the commonest reasons first. */
  readonly refusals: readonly Refusal[]
  readonly servers: ServerFigures
  /** By operation. */
  readonly requests: Readonly<Record<string, RequestFigures>>
}

export type Dimension = 'queue' | 'region' | 'partySize' | 'skillBand'

/** How a ticket ended; `otherQueue`: in a match of another queue than the one that is told of. */
export type End = TicketOutcome['end'] | 'otherQueue'

/** What happened to some of the players. The spreads are over players, so that large matches weigh more. */
export interface Slice {
  /** Players in tickets: one who queues twice counts twice. */
  readonly players: number
  /** Shares of those players, from 0 to 1. */
  readonly matched: number
  readonly gaveUp: number
  /** The share of each end that occurred; `assigned` is `matched` once more. Together 1. */
  readonly ends: Readonly<Partial<Record<End, number>>>
  /** Milliseconds from the ticket's creation until its match was found, of the matched players. */
  readonly waitMs: Spread
  /** The share of all these players who were matched within each of `WAIT_POINTS_MS`. */
  readonly waitCurve: readonly number[]
  /** Kilometres from each matched player to the middle of the match. */
  readonly distanceKm: Spread
  /** Milliseconds to the beacon that is best for the match, of players who have measured their latency to it. */
  readonly latencyMs: Spread
  /** Highest minus lowest skill within the match, for each matched player. */
  readonly skillSpread: Spread
  /** Highest minus lowest average skill of the teams of the match, for each matched player. */
  readonly teamGap: Spread
  /** How probable it was that the player's own team wins, from 0 to 1. */
  readonly winChance: Spread
}

export interface SkillBand {
  /** E.g. `lowest 10 %`, `50–75 %`. */
  readonly name: string
  /** Skill of those in it: at least `from`, and below `to`, which is null in the last band. */
  readonly from: number
  readonly to: number | null
}

/** What was made, one per match whatever its size. */
export interface MatchFigures {
  readonly count: number
  /** Highest minus lowest average skill of the teams. */
  readonly teamGap: Spread
  /** How probable it is that the stronger team wins, from 0.5 to 1. Of matches with teams whose skill is known. */
  readonly favourite: Spread
  /** Share of those matches for each of ten equal steps of `favourite` from 0.5 to 1. */
  readonly favouriteShares: readonly number[]
}

export interface QueueFigures {
  readonly matches: MatchFigures
  /** For each limit that relaxes, what was in force when matches were found. */
  readonly expansion: readonly Expansion[]
}

/**
 * Which value of a limit was in force when players were matched. Where each ticket has a limit of its own (`by: each`,
 * between pairs), that of the player's ticket counts; otherwise that of the match.
 */
export interface Expansion {
  /** Name of the limit, as `describeQueue` has it. */
  readonly rule: string
  /** `km`, `ms`, `players`, `entries`; empty for plain numbers. */
  readonly unit: string
  /** From the strictest to the loosest. */
  readonly steps: readonly ExpansionStep[]
}

export interface ExpansionStep {
  /** Milliseconds of waiting from which it holds. */
  readonly after: number
  /** Null: the rule no longer counts. */
  readonly limit: number | null
  /** Share of the matched players for whom it was in force. */
  readonly share: number
}

/**
 * Who pays: who the worst served are. Worst served are those who found no match before their patience, their ticket or
 * its attempts ended, or whom no queue took; then those who waited longest. Who left or declined does not count.
 */
export interface Fairness {
  /** The share of players called the worst served. */
  readonly share: number
  /** The shortest wait among them, in milliseconds. Null if all of them found no match. */
  readonly fromMs: number | null
  readonly by: Readonly<Record<Exclude<Dimension, 'queue'>, GroupFairness>>
}

export interface GroupFairness {
  /**
   * The share of the worst served who would have to be others for every group to bear its part: from 0, perfectly fair,
   * to almost 1.
   */
  readonly uneven: number
  readonly groups: Readonly<Record<string, { readonly ofAll: number; readonly ofWorst: number }>>
}

export interface ServerFigures {
  readonly created: number
  readonly most: number
  readonly hours: number
  /** `hours` times the price of a server hour. None without a price. */
  readonly cost?: number | undefined
  /** Currency of the cost, as its three letters (ISO 4217). */
  readonly currency?: string | undefined
}

export interface RequestFigures {
  readonly total: number
  /** The most in any window of the operation's documented limit. */
  readonly busiest: number
  /** What the service allows in such a window, and its milliseconds. None if no limit is documented. */
  readonly limit?: number | undefined
  readonly windowMs?: number | undefined
}
