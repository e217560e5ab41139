// pure: the figures of a run
import type { Crowd } from '../crowd/index.js'
import type { RatingFigures } from '../ratings/rating-book.js'
import type { RequestUse, RunOutcome, TicketOutcome } from '../run/index.js'
import type { Spread } from '../statistics/index.js'

/** The figures of a run: plain data of limited size for any crowd. */
export interface Figures {
  readonly all: Slice
  /**
   * The same by queue, by region of the party's first player, by party size, and by band of skill. By queue, every
   * player counts who waited in it, including those who were matched in another; otherwise every player counts once.
   */
  readonly by: Readonly<Record<Dimension, Readonly<Record<string, Slice>>>>
  /** The bands of skill in ascending order, by quantiles of the crowd's skill. Empty if no skill is known. */
  readonly skillBands: readonly SkillBand[]
  /** Figures of all matches, and of the matches of each queue. */
  readonly matches: MatchFigures
  readonly queues: Readonly<Record<string, QueueFigures>>
  readonly fairness: Fairness
  /** Why tickets were refused, the most frequent reasons first. */
  readonly refusals: readonly Refusal[]
  readonly servers: ServerFigures
  /** Figures of each pool of the run, by its name. */
  readonly pools: Readonly<Record<string, PoolFigures>>
  /** Requests by operation. */
  readonly requests: Readonly<Record<string, RequestUse>>
}

export type Dimension = 'queue' | 'region' | 'partySize' | 'skillBand'

/** How a ticket ended; `otherQueue`: in a match of another queue than the described one. */
export type End = TicketOutcome['end'] | 'otherQueue'

/** Figures of a part of the players. The spreads are over players, so that large matches weigh more. */
export interface Slice {
  /** Players in tickets: a player who queues twice counts twice. */
  readonly players: number
  /** Shares of those players, from 0 to 1. */
  readonly matched: number
  readonly gaveUp: number
  /** The share of each end that occurred; `assigned` equals `matched`. They add up to 1. */
  readonly ends: Readonly<Partial<Record<End, number>>>
  /** Milliseconds from the ticket's creation until its match was found, of the matched players. */
  readonly waitMs: Spread
  /** Milliseconds from the ticket's creation until its server was assigned, of the matched players. */
  readonly toPlayMs: Spread
  /** The share of all these players who were matched within each of `WAIT_POINTS_MS`. */
  readonly waitCurve: readonly number[]
  /** Kilometres from each matched player to the middle of the match. */
  readonly distanceKm: Spread
  /** Milliseconds to the best beacon for the match, of players who have measured their latency to it. */
  readonly latencyMs: Spread
  /** Difference between the highest and the lowest skill within the match, for each matched player. */
  readonly skillSpread: Spread
  /** Difference between the highest and the lowest average skill of the match's teams, for each matched player. */
  readonly teamGap: Spread
  /** Probability that the player's own team wins, from 0 to 1. */
  readonly winChance: Spread
}

export interface SkillBand {
  /** E.g. `lowest 10 %`, `50–75 %`. */
  readonly name: string
  /** Range of the band in skill: at least `from`, and below `to`, which is null in the last band. */
  readonly from: number
  readonly to: number | null
}

/** Figures of matches. Each match counts once, regardless of its size. */
export interface MatchFigures {
  readonly count: number
  /** Difference between the highest and the lowest average skill of the teams. */
  readonly teamGap: Spread
  /** Probability that the stronger team wins, from 0.5 to 1. Of matches with teams of known skill. */
  readonly favourite: Spread
  /** Share of those matches for each of ten equal steps of `favourite` from 0.5 to 1. */
  readonly favouriteShares: readonly number[]
}

export interface QueueFigures {
  readonly matches: MatchFigures
  /** For each limit that relaxes, its values when matches were found. */
  readonly expansion: readonly Expansion[]
}

/**
 * The values of a limit when players were matched. If each ticket has its own limit (`by: each`, between pairs), that
 * of the player's ticket counts; otherwise that of the match.
 */
export interface Expansion {
  /** Name of the limit, as in `describeQueue`. */
  readonly rule: string
  /** `km`, `ms`, `players`, `entries`; empty for plain numbers. */
  readonly unit: string
  /** Sorted from the strictest to the loosest. */
  readonly steps: readonly ExpansionStep[]
}

export interface ExpansionStep {
  /** Milliseconds of waiting after which it holds. */
  readonly after: number
  /** Null if the rule no longer applies. */
  readonly limit: number | null
  /** Share of the matched players for whom it was in force. */
  readonly share: number
}

/**
 * The distribution of bad service. The worst served are players who found no match before their patience, their ticket
 * or its attempts ended, or whom no queue accepted; then those who waited longest. Players who left or declined do not
 * count.
 */
export interface Fairness {
  /** The share of players that counts as the worst served. */
  readonly share: number
  /** The shortest wait among them, in milliseconds. Null if all of them found no match. */
  readonly fromMs: number | null
  readonly by: Readonly<Record<Exclude<Dimension, 'queue'>, GroupFairness>>
}

export interface GroupFairness {
  /**
   * The share of the worst served that would have to be other players for every group to have its proportional part:
   * from 0, perfectly fair, to almost 1.
   */
  readonly uneven: number
  readonly groups: Readonly<Record<string, { readonly ofAll: number; readonly ofWorst: number }>>
}

export interface ServerFigures {
  readonly created: number
  readonly most: number
  /** From create to stop, which is what is paid for: during matches, without a match, and until READY. */
  readonly hours: number
  readonly playingHours: number
  readonly idleHours: number
  readonly bootHours: number
  /** `hours` times the price of a server hour. Undefined without a price. */
  readonly cost?: number | undefined
  /** Currency of the cost, in three letters (ISO 4217). */
  readonly currency?: string | undefined
}

/** The figures of a pool for the matches of its queues, and the cost of its servers. */
export interface PoolFigures extends ServerFigures {
  readonly matches: number
  /** Share of them that found a warm server, from 0 to 1. */
  readonly warm: number
  /** Like that of a slice, for the players of these matches. */
  readonly toPlayMs: Spread
}

/** Why queues refused tickets, and the share of players affected. */
export interface Refusal {
  /** The reason, e.g. `players: a party of 3 is too big: a team takes at most 2`. */
  readonly why: string
  /** Share of all players in tickets, from 0 to 1. */
  readonly share: number
}

/** Number of reasons that are listed separately, and the name of all others together. */
const LISTED = 5
const OTHERS = 'for other reasons'
const LONGEST = 300

/** The reasons for which most players were refused, the most frequent first. */
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

/** The reason without details that differ between tickets: the player, and the player's values. */
const reasonIn = (refusal: string): string =>
  refusal
    .replace(/^ticket: /, '')
    .replace(/\bplayers\.\d+/, 'players')
    .replace(/, got .*$/s, '')
    .slice(0, LONGEST)

/**
 * Waits in milliseconds at which the share of matched players is listed. All runs have the same, so that curves can be
 * averaged. They are close together at first, where rules and players differ most.
 */
export const WAIT_POINTS_MS: readonly number[] = [
  0, 1, 2, 3, 4, 5, 7, 10, 12, 15, 20, 25, 30, 35, 40, 45, 50, 60, 75, 90, 105, 120, 150, 180, 240, 300, 420, 600, 900,
  1800, 3600,
].map((seconds) => seconds * 1000)

/**
 * The share of `players` who waited at most as long as each point. @param waits waits of matched players, ascending.
 */
export function curveOf(waits: Float64Array, players: number): readonly number[] {
  let matched = 0
  return WAIT_POINTS_MS.map((point) => {
    while (matched < waits.length && (waits[matched] as number) <= point) matched += 1
    return players === 0 ? 0 : Math.round((matched / players) * 1e6) / 1e6
  })
}

/** The `format` of a saved result. It changes if older versions could not read new results. */
export const RESULT_FORMAT = 'muster-lab-result-2'

/** The result of `muster lab run`: the figures of each variant of the queues for each seed. Plain data. */
export interface LabResult {
  readonly format: typeof RESULT_FORMAT
  readonly crowd: CrowdSummary
  /** One seed for each run of a variant: the same crowd for every variant. At least one, all different. */
  readonly seeds: readonly number[]
  /** At least one. The others are compared with the first. */
  readonly variants: readonly Variant[]
}

export interface CrowdSummary {
  /** E.g. the name of its file. */
  readonly name: string
  /** Number of players with the first seed. */
  readonly players: number
  readonly parties: number
  /** Epoch milliseconds. */
  readonly startsAt: number
  readonly durationMs: number
}

/** A name, and its description in plain English. */
interface Described {
  readonly name: string
  readonly sentences: readonly string[]
}

/** Queues that ran together, e.g. those of one file. */
export interface Variant {
  /** Unique name of the variant, e.g. that of the file. */
  readonly name: string
  /** Each queue's description, from `describeQueue`. */
  readonly queues: readonly Described[]
  /** The same for the pools that they name. */
  readonly pools: readonly Described[]
  /** In order of the seeds. */
  readonly runs: readonly VariantRun[]
}

export interface VariantRun {
  readonly figures: Figures
  /** Set if ratings followed from the matches. */
  readonly ratings?: RatingFigures | undefined
  /** The best possible costs, compared with the actual ones. Undefined if they were not requested. */
  readonly possible?: readonly Possible[] | undefined
}

/** An actual cost, and the minimum possible. */
export interface Possible {
  readonly queue: string
  /** The counted quantity, e.g. `skill difference in a match`. */
  readonly what: string
  /** `km`, `ms`; empty for plain numbers. */
  readonly unit: string
  readonly reached: number
  readonly possible: number
  /** `optimum` if it was really possible, `lower bound` if it only is a limit. */
  readonly kind: 'optimum' | 'lower bound'
}
