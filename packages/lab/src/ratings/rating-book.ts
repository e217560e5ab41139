import { InvalidInput } from '@muster/core'
import { seededRandom } from '@muster/core/clock'
import { read } from '@muster/core/internal'
import { predictedWin } from '@muster/matchmaker'
import { ordinal, predictWin, rate, type Rating, rating } from 'openskill'
import { z } from 'zod'
import { type Crowd, type CrowdPlayer, hashOf } from '../crowd/index.js'
import { meanAndDeviation, normal, rankCorrelation, rounded, type Spread, spreadOf } from '../statistics/index.js'

/** The numbers of matches after which ratings are compared with the true skill. */
const CHECKPOINTS = [1, 2, 3, 5, 10, 20, 30, 50, 100]
/** Names of ranges of experience, each with its minimum number of matches. */
const EXPERIENCES = [
  ['first 5', 0],
  ['5–9', 5],
  ['10–29', 10],
  ['from 30', 30],
] as const
const BEFORE = 'rated before'
const STEP = 0.05

function createNotes() {
  let matches = 0
  const predictions = Array.from({ length: 10 }, () => ({ matches: 0, predicted: 0, won: 0 }))
  const compared = new Map<number, (readonly [mu: number, skill: number])[]>(CHECKPOINTS.map((count) => [count, []]))
  const experiences = new Map(
    [...EXPERIENCES.map(([name]) => name), BEFORE].map((name) => [
      name,
      { waits: [] as number[], favourites: [] as number[] },
    ]),
  )

  return {
    /**
     * Records a match.
     * @param predicted the predicted probability that the winner wins; undefined unless there were two teams
     */
    matched: (predicted: number | undefined): void => {
      matches += 1
      if (predicted === undefined) return
      const favourite = Math.max(predicted, 1 - predicted)
      const at = predictions[Math.min(predictions.length - 1, Math.floor((favourite - 0.5) / STEP))]
      if (at === undefined) return
      at.matches += 1
      at.predicted += favourite
      // A match with even chances has no favourite, so its result counts as half a win of the favourite.
      at.won += predicted > 0.5 ? 1 : predicted === 0.5 ? 0.5 : 0
    },
    /** Records a player's match. @param favourite the true probability that the favourite of the match wins. */
    played: ({ isNew, matches: played }: RatedPlayer, waitMs: number, favourite: number): void => {
      const name = isNew ? EXPERIENCES.findLast(([, from]) => from <= played)?.[0] : BEFORE
      const experience = experiences.get(name ?? BEFORE)
      experience?.waits.push(waitMs)
      experience?.favourites.push(favourite)
    },
    /** Records a player's rating after a match. */
    rated: ({ isNew, matches: played, rating: { mu }, skill }: RatedPlayer): void => {
      if (isNew) compared.get(played)?.push([mu, skill])
    },
    figures: (): RatingFigures => ({
      matches,
      calibration: predictions.flatMap(({ matches: many, predicted, won }, step): Calibration[] => {
        if (many === 0) return []
        const from = rounded(0.5 + step * STEP, 2)
        return [{ from, matches: many, predicted: rounded(predicted / many, 4), won: rounded(won / many, 4) }]
      }),
      convergence: [...compared].flatMap(([count, pairs]) => convergenceOf(count, pairs)),
      experience: [...experiences].flatMap(([name, { waits, favourites }]): Experience[] => {
        if (waits.length === 0) return []
        const [waitMs, favourite] = [spreadOf(Float64Array.from(waits), 0), spreadOf(Float64Array.from(favourites), 4)]
        return [{ name, players: waits.length, waitMs, favourite }]
      }),
    }),
  }
}

function convergenceOf(matches: number, pairs: readonly (readonly [number, number])[]): Convergence[] {
  if (pairs.length < 2) return []
  const squares = pairs.reduce((sum, [mu, skill]) => sum + (mu - skill) ** 2, 0)
  return [
    {
      matches,
      players: pairs.length,
      correlation: rounded(rankCorrelation(pairs), 4),
      error: rounded(Math.sqrt(squares / pairs.length), 3),
    },
  ]
}

/**
 * Returns the probability that a player is new, given the true skill in standard deviations from the average. It falls
 * with skill in such a way that new players have a skew normal distribution (A. Azzalini, 1985) with the given mean,
 * while the whole crowd stays normally distributed.
 */
function newcomerChance(newcomers: number, newcomersBelow: number): (deviations: number) => number {
  if (newcomersBelow === 0) return () => newcomers
  const delta = newcomersBelow * Math.sqrt(Math.PI / 2)
  const shape = delta / Math.sqrt(1 - delta ** 2)
  return (deviations) => newcomers * 2 * chanceBelow(-shape * deviations)
}

/** Returns Φ(lead): the probability of winning with this lead, if the performances of both sides vary by √½. */
const chanceBelow = (lead: number) => predictedWin([{ mean: lead, uncertainty: 0 }], [], Math.SQRT1_2)

/** The attributes of a player's rating, which rules can compare. */
interface RatingAttributes {
  /** The most probable skill of the player. */
  readonly mu: number
  /** Uncertainty of `mu` as a standard deviation, above 0. */
  readonly sigma: number
  /** A conservative estimate of the skill: mu minus some deviations. It rises while a player becomes better known. */
  readonly rating: number
}

/** How ratings develop in a run. Each field has a default. */
export interface RatingOptions {
  /** Seed of luck, and of the choice of the new players. Default 1. */
  readonly seed?: number | undefined
  /**
   * Share of the players who are new when the run begins, from 0 to 1. Their rating is the default: mu 25 and sigma
   * 25/3. The others have been rated before. Default 0.1 (our choice).
   */
  readonly newcomers?: number | undefined
  /**
   * How far the true skill of new players is below the average, in standard deviations: 0 to 0.7. The other players are
   * better in return, so that the crowd as a whole is unchanged. Default 0. If it is above 0, `newcomers` is at most
   * 0.5.
   */
  readonly newcomersBelow?: number | undefined
  /**
   * Uncertainty of players who have been rated before: the standard deviation of their mu from their true skill.
   * Default 2, as after some hundred matches (our choice).
   */
  readonly settledSigma?: number | undefined
  /**
   * Number of standard deviations by which the attribute `rating` is below mu. Default 3, like openskill's `ordinal`:
   * the true skill is then above `rating` with a probability of 99.9 %.
   */
  readonly deviations?: number | undefined
  /**
   * The `beta` of `rate` and `predictWin`: the variation of a performance that ratings assume. Default 25/6,
   * openskill's own. The simulated variation is always 25/6.
   */
  readonly beta?: number | undefined
}

/** Standard deviation of a player's performance between matches: openskill's default of `beta`, half of its sigma. */
const BETA = 25 / 6

const schema = z
  .strictObject({
    seed: z.int().default(1),
    newcomers: z.number().min(0).max(1).default(0.1),
    newcomersBelow: z.number().min(0).max(0.7).default(0),
    settledSigma: z.number().positive().max(25).default(2),
    deviations: z.number().min(0).max(10).default(3),
    beta: z.number().positive().max(1000).default(BETA),
  })
  .refine(({ newcomers, newcomersBelow }) => newcomersBelow === 0 || newcomers <= 0.5, {
    path: ['newcomersBelow'],
    error: 'must be 0 where more than half of the players are new',
  })

/**
 * Converts the `truth` of a crowd's players to the scale of openskill's ratings. The mean becomes openskill's default
 * mu, and the standard deviation its default sigma, which is the assumed spread of skills of unknown players.
 * @throws {InvalidInput} if a player has no truth, or all have the same
 */
function skillsOf({ parties }: Crowd): (player: CrowdPlayer) => number {
  const { mean, deviation } = meanAndDeviation(parties.flatMap(({ players }) => players.map(truthOf)))
  if (!(deviation > 0))
    throw new InvalidInput('ratings: truth is the same for all players, so ratings cannot be compared')
  return (player) => average.mu + ((truthOf(player) - mean) / deviation) * average.sigma
}

function truthOf({ id, truth }: CrowdPlayer): number {
  if (truth !== undefined) return truth
  throw new InvalidInput(`ratings: player ${JSON.stringify(id)} has no truth, the skill that decides who wins`)
}

/** The ratings of players during a run. They are attributes of tickets, and change with each match that is played. */
export interface RatingBook {
  /**
   * Returns the rating attributes of each player in a party that queues, in order. They are added to the player's own
   * attributes.
   */
  queued(players: readonly CrowdPlayer[]): readonly RatingAttributes[]
  /**
   * Decides the winner of a match by the players' true skill and luck, and rates the players.
   * @param teams at least two. With fewer, there is no winner and no rating changes
   * @returns names of the teams, the winner first. Undefined for fewer than two teams
   */
  played(teams: readonly PlayedTeam[]): readonly string[] | undefined
  /** Returns the figures about ratings so far. */
  figures(): RatingFigures
}

export interface PlayedTeam {
  readonly name: string
  readonly tickets: readonly PlayedTicket[]
}

export interface PlayedTicket {
  readonly players: readonly CrowdPlayer[]
  /** Milliseconds from the creation of the ticket until its match was found. */
  readonly waitMs: number
}

/** Default rating: the true skill of an average player, and the standard deviation of skill among players. */
const average = rating()

/** A player of the book. */
interface RatedPlayer {
  readonly id: string
  rating: Rating
  /** Number of the player's matches that were rated in this run. */
  matches: number
  /** True skill on the scale of the ratings. */
  readonly skill: number
  readonly isNew: boolean
}

/** A team that has played, with its rated players and their waits. */
interface RankedTeam {
  readonly name: string
  readonly known: readonly RatedPlayer[]
  readonly waits: readonly number[]
  readonly performance: number
}

/**
 * Creates the ratings of one run.
 *
 * Skill is the players' `truth` on the scale of openskill: mean 25, standard deviation 25/3. In a match each player
 * performs at that skill plus luck, which is normally distributed with a standard deviation of 25/6 (β). The team with
 * the highest sum of performances wins (Herbrich, Minka and Graepel: TrueSkill, 2006). Sums are taken relative to an
 * average player, so that a larger team is not stronger. A player's luck in the nth match is the same in every queue,
 * so that queues can be compared.
 * @throws {InvalidInput} if an option is invalid, or if the crowd's players have no `truth`, like those of recordings
 */
export function createRatingBook(crowd: Crowd, options: RatingOptions = {}): RatingBook {
  const refuse = (field: string, message: string) => new InvalidInput(`ratings: ${message}`, { field })
  const { seed, settledSigma, deviations, newcomers, newcomersBelow, beta } = read(schema, options, refuse)
  const chanceOfNew = newcomerChance(newcomers, newcomersBelow)
  const skillOf = skillsOf(crowd)
  /**
   * Returns random numbers for a player's nth match. They are the same in every run of the seed, regardless of other
   * events.
   */
  const chanceOf = (player: string, nth: number) => seededRandom(hashOf(`${seed} ${nth} ${player}`))
  const notes = createNotes()
  const book = new Map<string, RatedPlayer>()

  const firstSeen = (player: CrowdPlayer): RatedPlayer => {
    const skill = skillOf(player)
    const isNew = chanceOf(player.id, -1)() < chanceOfNew((skill - average.mu) / average.sigma)
    const known = { mu: skill + settledSigma * normal(chanceOf(player.id, 0)), sigma: settledSigma }
    return { id: player.id, rating: isNew ? rating() : known, matches: 0, skill, isNew }
  }
  const knownOf = (player: CrowdPlayer): RatedPlayer => {
    let known = book.get(player.id)
    if (known === undefined) book.set(player.id, (known = firstSeen(player)))
    return known
  }
  const performanceOf = ({ id, skill, matches }: RatedPlayer): number =>
    skill - average.mu + BETA * normal(chanceOf(id, matches + 1))

  const learn = (teams: readonly RankedTeam[]) => {
    const before = teams.map(({ known }) => known.map((one) => one.rating))
    notes.matched(teams.length === 2 ? predictWin(before, { beta })[0] : undefined)
    const favourite = favouriteOf(teams)
    for (const { known, waits } of teams)
      for (const [index, one] of known.entries()) notes.played(one, waits[index] as number, favourite)
    for (const [team, rated] of rate(before, { beta }).entries()) {
      for (const [index, after] of rated.entries()) {
        const one = teams[team]?.known[index] as RatedPlayer
        one.rating = after
        one.matches += 1
        notes.rated(one)
      }
    }
  }

  return {
    queued: (players) =>
      players.map((player) => {
        const { rating: known } = knownOf(player)
        return { mu: known.mu, sigma: known.sigma, rating: ordinal(known, { z: deviations }) }
      }),

    played: (given) => {
      const teams = given.map(({ name, tickets }): RankedTeam => {
        const known = tickets.flatMap(({ players }) => players.map(knownOf))
        const waits = tickets.flatMap(({ players, waitMs }) => players.map(() => waitMs))
        return { name, known, waits, performance: known.reduce((sum, one) => sum + performanceOf(one), 0) }
      })
      const ranked = teams
        .filter(({ known }) => known.length > 0)
        .toSorted((one, other) => other.performance - one.performance)
      if (ranked.length < 2) return undefined
      learn(ranked)
      return ranked.map(({ name }) => name)
    },

    figures: notes.figures,
  }
}

/** Returns the highest true probability with which a team beats another team of the match. */
function favouriteOf(teams: readonly RankedTeam[]): number {
  const sides = teams.map(({ known }) => ({
    count: known.length,
    sum: { mean: known.reduce((sum, { skill }) => sum + skill - average.mu, 0), uncertainty: 0 },
  }))
  const chances = sides.flatMap((one, index) =>
    sides.slice(0, index).map((other) => {
      const chance = predictedWin([one.sum], [other.sum], BETA * Math.sqrt((one.count + other.count) / 2))
      return Math.max(chance, 1 - chance)
    }),
  )
  return Math.max(...chances)
}

/** Figures about the ratings of a run, as plain data. Their size does not grow with the crowd. */
export interface RatingFigures {
  /** Number of matches that were rated. */
  readonly matches: number
  /**
   * How often the favourite won, compared with the prediction of openskill's `predictWin`. Only matches of two teams
   * count.
   */
  readonly calibration: readonly Calibration[]
  /** How well ratings distinguish the players who started as new, by the number of their matches. */
  readonly convergence: readonly Convergence[]
  /** Waits of players and balance of their matches, by how well their rating was known. */
  readonly experience: readonly Experience[]
}

/** Matches whose favourite was predicted to win with a probability from `from` to `from` + 0.05. */
interface Calibration {
  readonly from: number
  readonly matches: number
  /** The average predicted probability that the favourite wins. */
  readonly predicted: number
  /** The share of the matches that the favourite won. */
  readonly won: number
}

interface Convergence {
  /** Number of matches after which the ratings are compared. */
  readonly matches: number
  /** Number of new players who have played this many matches. */
  readonly players: number
  /** Spearman's rank correlation of these players' mu with their true skill. */
  readonly correlation: number
  /** Root mean square difference between mu and true skill, on the scale of the ratings. */
  readonly error: number
}

export interface Experience {
  /**
   * `first 5`, `5–9`, `10–29` or `from 30`: the number of matches by which new players had been rated. `rated before`:
   * players who had a rating when the run began.
   */
  readonly name: string
  /** Number of players in matches. A player who played twice counts twice. */
  readonly players: number
  /** Milliseconds from the ticket's creation until its match was found. */
  readonly waitMs: Spread
  /** The true probability that the favourite of a player's match wins, from 0.5 to 1. */
  readonly favourite: Spread
}

/** The variants whose ratings are reported, each with its runs. */
interface Rated {
  readonly variants: readonly {
    readonly name: string
    readonly runs: readonly { readonly ratings?: RatingFigures | undefined }[]
  }[]
}

/** Minimum number of players in a printed figure (our choice). Fewer show little. */
const FEWEST = 20
const SHOWN = [1, 5, 10, 30, 100]

/** Returns a line about ratings for each variant whose runs had ratings, over all of its runs. */
export const ratingSentences = ({ variants }: Rated): string[] =>
  variants.flatMap(({ name, runs }) => {
    const all = runs.flatMap(({ ratings }) => ratings ?? [])
    if (all.length === 0) return []
    const parts = [matchesIn(all), convergenceIn(all), predictionIn(all), newcomersIn(all)]
    return [`${name}: ${parts.filter((part) => part !== '').join('; ')}.`]
  })

const matchesIn = (all: readonly RatingFigures[]) => {
  const matches = all.reduce((sum, one) => sum + one.matches, 0)
  return `${matches} ${matches === 1 ? 'match was' : 'matches were'} rated`
}

function convergenceIn(all: readonly RatingFigures[]): string {
  const points = SHOWN.flatMap((matches) => {
    const found = all.flatMap(({ convergence }) => convergence.filter((one) => one.matches === matches))
    const players = found.reduce((sum, one) => sum + one.players, 0)
    return players < FEWEST ? [] : [`${meanOfRatings(found, 'correlation', 'players').toFixed(2)} after ${matches}`]
  })
  return points.length === 0 ? '' : `rank correlation of new players' mu with their skill ${points.join(', ')} matches`
}

function predictionIn(all: readonly RatingFigures[]): string {
  const found = all.flatMap(({ calibration }): readonly Calibration[] => calibration)
  if (found.length === 0) return ''
  const [predicted, won] = [meanOfRatings(found, 'predicted', 'matches'), meanOfRatings(found, 'won', 'matches')]
  return `favourites, predicted to win ${percent(predicted)}, won ${percent(won)}`
}

function newcomersIn(all: readonly RatingFigures[]): string {
  const of = (name: string) => all.flatMap(({ experience }) => experience.filter((one) => one.name === name))
  const [fresh, known] = [of('first 5'), of('rated before')]
  if (fresh.length === 0 || known.length === 0) return ''
  return `in the first 5 matches ${experienceText(fresh)}, of players rated before ${experienceText(known)}`
}

function experienceText(some: readonly Experience[]): string {
  const spreads = some.map(({ waitMs: { count, mean }, favourite }) => ({
    count,
    wait: mean,
    favourite: favourite.mean,
  }))
  const seconds = (meanOfRatings(spreads, 'wait', 'count') / 1000).toFixed(1)
  return `a mean wait of ${seconds} s and a true favourite of ${percent(meanOfRatings(spreads, 'favourite', 'count'))}`
}

/** Returns the average of a field, weighted by another field. */
function meanOfRatings<Key extends string, Weight extends string>(
  some: readonly Readonly<Record<Key | Weight, number>>[],
  key: Key,
  weight: Weight,
): number {
  const total = some.reduce((sum, one) => sum + one[weight], 0)
  return total === 0 ? 0 : some.reduce((sum, one) => sum + one[key] * one[weight], 0) / total
}

const percent = (share: number) => `${(share * 100).toFixed(1)} %`
