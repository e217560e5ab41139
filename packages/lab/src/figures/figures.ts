// pure: the figures of a run
import type { Crowd } from '../crowd/index.js'
import type { RatingFigures } from '../ratings/rating-book.js'
import type { RequestUse, RunOutcome, TicketOutcome } from '../run/index.js'
import type { Spread } from '../statistics/index.js'

/** The figures of a run, as plain data. Their size does not grow with the crowd. */
export interface Figures {
  readonly all: Slice
  /**
   * The same figures by queue, by region of the party's first player, by party size, and by band of skill. In the
   * figures of a queue, each player who waited in it counts, even if matched in another queue. In the other dimensions
   * each player counts once.
   */
  readonly by: Readonly<Record<Dimension, Readonly<Record<string, Slice>>>>
  /** The bands of skill in ascending order, by quantiles of the crowd's skill. Empty if no skill is known. */
  readonly skillBands: readonly SkillBand[]
  /** Figures of all matches, and of the matches of each queue. */
  readonly matches: MatchFigures
  readonly queues: Readonly<Record<string, QueueFigures>>
  readonly fairness: Fairness
  /** Why queues refused tickets, the most frequent reasons first. */
  readonly refusals: readonly Refusal[]
  readonly servers: ServerFigures
  /** Figures of each pool of the run, by its name. */
  readonly pools: Readonly<Record<string, PoolFigures>>
  /** Use of the deployment service's rate limits, by operation. */
  readonly requests: Readonly<Record<string, RequestUse>>
}

export type Dimension = 'queue' | 'region' | 'partySize' | 'skillBand'

/** How a ticket ended. `otherQueue`: it was matched in another queue than the described one. */
export type End = TicketOutcome['end'] | 'otherQueue'

/** Figures of a part of the players. Spreads are over players, so a large match weighs more than a small one. */
export interface Slice {
  /** Number of players in tickets. A player who queues twice counts twice. */
  readonly players: number
  /** Shares of the players, from 0 to 1: those who were matched, and those who gave up. */
  readonly matched: number
  readonly gaveUp: number
  /** The share of each end that occurred. The share of `assigned` equals `matched`. All shares add up to 1. */
  readonly ends: Readonly<Partial<Record<End, number>>>
  /** Milliseconds from the creation of a ticket until its match was found, for the matched players. */
  readonly waitMs: Spread
  /** Milliseconds from the creation of a ticket until its server was assigned, for the matched players. */
  readonly toPlayMs: Spread
  /** The share of all players of this part who were matched within each of `WAIT_POINTS_MS`. */
  readonly waitCurve: readonly number[]
  /** Kilometres from each matched player to the middle of the match. */
  readonly distanceKm: Spread
  /** Milliseconds to the best beacon of the match, for players who have measured their latency to that beacon. */
  readonly latencyMs: Spread
  /** Difference between the highest and the lowest skill within the match, for each matched player. */
  readonly skillSpread: Spread
  /** Difference between the highest and the lowest average skill of the match's teams, for each matched player. */
  readonly teamGap: Spread
  /** Probability from 0 to 1 that a player's own team wins. */
  readonly winChance: Spread
}

export interface SkillBand {
  /** Name of the band, e.g. `lowest 10 %` or `50–75 %`. */
  readonly name: string
  /** Range of skill in the band: at least `from`, and below `to`. `to` is null in the last band. */
  readonly from: number
  readonly to: number | null
}

/** Figures of matches. Each match counts once, regardless of its size. */
export interface MatchFigures {
  readonly count: number
  /** Difference between the highest and the lowest average skill of the teams. */
  readonly teamGap: Spread
  /** Probability that the stronger team wins, from 0.5 to 1, for matches whose teams all have a known skill. */
  readonly favourite: Spread
  /** Shares of the matches in `favourite`, for each of ten equal steps of the probability from 0.5 to 1. */
  readonly favouriteShares: readonly number[]
}

export interface QueueFigures {
  readonly matches: MatchFigures
  /** For each limit that relaxes: its values when matches were found. */
  readonly expansion: readonly Expansion[]
}

/**
 * The values of a limit when players were matched. If each ticket has its own limit (`by: each`, between pairs), a
 * player counts with the limit of the own ticket. Otherwise the player counts with the limit of the match.
 */
export interface Expansion {
  /** Name of the limit, as in `describeQueue`. */
  readonly rule: string
  /** Unit of the limit: `km`, `ms`, `players` or `entries`; empty for plain numbers. */
  readonly unit: string
  /** The values of the limit, from the strictest to the loosest. */
  readonly steps: readonly ExpansionStep[]
}

export interface ExpansionStep {
  /** Milliseconds of waiting after which the limit has this value. */
  readonly after: number
  /** The value; null if the rule no longer applies. */
  readonly limit: number | null
  /** Share of the matched players for whom this value applied. */
  readonly share: number
}

/**
 * How bad service is distributed. The worst served are first the players who found no match: their patience, their
 * ticket or its attempts ended, or no queue accepted them. Next are those who waited longest. Players who left or
 * declined are not counted.
 */
export interface Fairness {
  /** Share of the players that counts as the worst served, from 0 to 1. */
  readonly share: number
  /** The shortest wait among the worst served, in milliseconds. Null if all of them found no match. */
  readonly fromMs: number | null
  readonly by: Readonly<Record<Exclude<Dimension, 'queue'>, GroupFairness>>
}

export interface GroupFairness {
  /**
   * Share of the worst served who would have to be replaced by others, so that each group had its proportional part.
   * From 0 (perfectly fair) to almost 1.
   */
  readonly uneven: number
  readonly groups: Readonly<Record<string, { readonly ofAll: number; readonly ofWorst: number }>>
}

export interface ServerFigures {
  readonly created: number
  readonly most: number
  /** Server hours from create to stop, which are billed: during matches, without a match, and until READY. */
  readonly hours: number
  readonly playingHours: number
  readonly idleHours: number
  readonly bootHours: number
  /** `hours` times the price of a server hour. Undefined without a price. */
  readonly cost?: number | undefined
  /** Currency of the cost, in three letters (ISO 4217). */
  readonly currency?: string | undefined
}

/** The figures of a pool for the matches of its queues, with its servers and their cost. */
export interface PoolFigures extends ServerFigures {
  readonly matches: number
  /** Share of the matches that found a warm server, from 0 to 1. */
  readonly warm: number
  /**
   * Milliseconds from the creation of a ticket until its server was assigned, for the players of the pool's matches.
   */
  readonly toPlayMs: Spread
}

/** Why queues refused tickets, and for which share of the players. */
export interface Refusal {
  /** The reason, e.g. `players: a party of 3 is too big: a team takes at most 2`. */
  readonly why: string
  /** Share of all players in tickets, from 0 to 1. */
  readonly share: number
}

/** Number of reasons that are listed separately. All others are one entry, named `OTHERS`. */
const LISTED = 5
const OTHERS = 'for other reasons'
const LONGEST = 300

/** Returns the reasons for which most players were refused, the most frequent first. */
export function refusalsOf({ parties }: Crowd, { tickets }: RunOutcome): Refusal[] {
  const refused = new Map<string, number>()
  let players = 0
  for (const { party, refusal } of tickets) {
    const size = parties[party]?.players.length ?? 0
    players += size
    if (refusal === undefined) continue
    const why = reasonIn(refusal)
    refused.set(why, (refused.get(why) ?? 0) + size)
  }
  const all = Array.from(refused, ([why, count]) => ({ why, share: count / players }))
  const ranked = all.toSorted((a, b) => b.share - a.share || (a.why < b.why ? -1 : 1))
  const others = ranked.slice(LISTED).reduce((sum, { share }) => sum + share, 0)
  return [...ranked.slice(0, LISTED), ...(others > 0 ? [{ why: OTHERS, share: others }] : [])]
}

/** Returns the reason without the parts that differ between tickets, such as the player and the time. */
const reasonIn = (refusal: string): string =>
  refusal
    .replace(/^ticket: /, '')
    .replace(/^Player "(?:[^"\\]|\\.)*" (.*?)(?: for \d+ s)?\. ?.*$/s, 'a player $1')
    .replace(/ (ticket|match) [\w-]+$/, ' a $1')
    .replace(/\bplayers\.\d+/, 'players')
    .replace(/, got .*$/s, '')
    .slice(0, LONGEST)

/**
 * Waits in milliseconds at which the share of matched players is listed. All runs have the same points, so that curves
 * can be averaged. Short waits have more points, because rules and players differ most there.
 */
export const WAIT_POINTS_MS: readonly number[] = [
  0, 1, 2, 3, 4, 5, 7, 10, 12, 15, 20, 25, 30, 35, 40, 45, 50, 60, 75, 90, 105, 120, 150, 180, 240, 300, 420, 600, 900,
  1800, 3600,
].map((seconds) => seconds * 1000)

/**
 * Returns the share of `players` who waited at most as long as each point. @param waits waits of matched players, in
 * ascending order.
 */
export function curveOf(waits: Float64Array, players: number): readonly number[] {
  let matched = 0
  return WAIT_POINTS_MS.map((point) => {
    while (matched < waits.length && (waits[matched] as number) <= point) matched += 1
    return players === 0 ? 0 : Math.round((matched / players) * 1e6) / 1e6
  })
}

/** The `format` of a saved result. It changes when earlier versions cannot read new results. */
export const RESULT_FORMAT = 'muster-lab-result-2'

/** The result of `muster lab run`: the figures of each variant of the queues, for each seed. Plain data. */
export interface LabResult {
  readonly format: typeof RESULT_FORMAT
  readonly crowd: CrowdSummary
  /**
   * One seed for each run of a variant. All variants have the same crowd for a seed. At least one seed, all different.
   */
  readonly seeds: readonly number[]
  /** At least one variant. The others are compared with the first. */
  readonly variants: readonly Variant[]
}

export interface CrowdSummary {
  /** Name of the crowd, e.g. that of its file. */
  readonly name: string
  /** Number of players in the crowd of the first seed. */
  readonly players: number
  readonly parties: number
  /** Epoch milliseconds at which the crowd begins. */
  readonly startsAt: number
  readonly durationMs: number
}

/** A name, and its description in plain English. */
interface Described {
  readonly name: string
  readonly sentences: readonly string[]
}

/** Queues that run together, e.g. those of one file. */
export interface Variant {
  /** Unique name of the variant, e.g. that of the file. */
  readonly name: string
  /** The description of each queue, from `describeQueue`. */
  readonly queues: readonly Described[]
  /** The description of each pool that the queues name. */
  readonly pools: readonly Described[]
  /** The runs, in the order of the seeds. */
  readonly runs: readonly VariantRun[]
}

export interface VariantRun {
  readonly figures: Figures
  /** Figures about ratings. Undefined if the run had no ratings. */
  readonly ratings?: RatingFigures | undefined
  /** The best possible costs compared with the actual ones. Undefined if they were not requested. */
  readonly possible?: readonly Possible[] | undefined
}

/** The actual cost of a queue's matches, and the minimum possible cost. */
export interface Possible {
  readonly queue: string
  /** The quantity that is compared, e.g. `skill difference in a match`. */
  readonly what: string
  /** Unit of the quantity: `km` or `ms`; empty for plain numbers. */
  readonly unit: string
  readonly reached: number
  readonly possible: number
  /** `optimum`: matches of this cost were possible. `lower bound`: no matches could have cost less. */
  readonly kind: 'optimum' | 'lower bound'
}
