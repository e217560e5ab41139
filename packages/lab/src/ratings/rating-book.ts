import { predictedWin } from '@muster/matchmaker'
import { predictWin, rate, rating, type Rating } from 'openskill'
import type { Crowd, CrowdPlayer } from '../crowd/crowd.js'
import { createLuck } from './luck.js'
import { newcomerChance } from './newcomers.js'
import { createNotes, type Noted } from './notes.js'
import { ratingAttributes, type RatingAttributes } from './rating-attributes.js'
import type { RatingFigures } from './rating-figures.js'
import { BETA, readRatingOptions, type RatingOptions } from './rating-options.js'
import { skillsOf } from './skills.js'

/** Ratings during a run: it says what a ticket has of them, and learns from matches that have been played. */
export interface RatingBook {
  /** A party queues: what is known of each of its players, in their order, to be added to their attributes. */
  queued(players: readonly CrowdPlayer[]): readonly RatingAttributes[]
  /**
   * A match has been played: decides who won, by the players' true skill and luck, and rates them.
   * @param teams at least two, or nothing is decided or learned
   * @returns names of the teams, the winner first; undefined if there are not two
   */
  played(teams: readonly PlayedTeam[]): readonly string[] | undefined
  /** What is told of the ratings so far. */
  figures(): RatingFigures
}

export interface PlayedTeam {
  readonly name: string
  readonly tickets: readonly PlayedTicket[]
}

export interface PlayedTicket {
  readonly players: readonly CrowdPlayer[]
  /** Milliseconds from its creation until its match was found. */
  readonly waitMs: number
}

/** True skill of an average player, and its standard deviation among players. */
const average = rating()

/** A player as the book knows one. */
interface Known {
  readonly id: string
  rating: Rating
  /** Matches rated in this run. */
  matches: number
  /** True skill on the scale of the ratings. */
  readonly skill: number
  readonly isNew: boolean
}

/** A team that has played, with what is known of its players and how long each of them had waited. */
interface RankedTeam {
  readonly name: string
  readonly known: readonly Known[]
  readonly waits: readonly number[]
  readonly performance: number
}

/**
 * Opens a book for one run.
 *
 * Skill is the players' `truth`, brought to the scale of openskill: mean 25, standard deviation 25/3. In a match each
 * player performs at that skill plus luck, which is normal with standard deviation 25/6 (β), and the team with the
 * greatest sum wins (Herbrich, Minka and Graepel: TrueSkill, 2006); a player of average skill and luck adds nothing to
 * it, so that a larger team is not the stronger. A player's luck in the nth match is the same whatever the queue, so
 * that queues can be compared.
 * @throws {InvalidInput} if an option is wrong or the crowd's players have no `truth`, as those of recordings
 */
export function createRatingBook(crowd: Crowd, options: RatingOptions = {}): RatingBook {
  const { seed, settledSigma, deviations, ...newness } = readRatingOptions(options)
  const chanceOfNew = newcomerChance(newness)
  const skillOf = skillsOf(crowd)
  const luck = createLuck(seed)
  const notes = createNotes()
  const book = new Map<string, Known>()

  const firstSeen = (player: CrowdPlayer): Known => {
    const skill = skillOf(player)
    const isNew = luck.chanceOf(player.id) < chanceOfNew((skill - average.mu) / average.sigma)
    const known = { mu: skill + settledSigma * luck.normalOf(player.id, 0), sigma: settledSigma }
    return { id: player.id, rating: isNew ? rating() : known, matches: 0, skill, isNew }
  }
  const knownOf = (player: CrowdPlayer): Known => {
    let known = book.get(player.id)
    if (known === undefined) book.set(player.id, (known = firstSeen(player)))
    return known
  }
  const performanceOf = ({ id, skill, matches }: Known): number =>
    skill - average.mu + BETA * luck.normalOf(id, matches + 1)

  const learn = (teams: readonly RankedTeam[]) => {
    const before = teams.map(({ known }) => known.map((one) => one.rating))
    notes.matched(teams.length === 2 ? predictWin(before)[0] : undefined)
    const favourite = favouriteOf(teams)
    for (const { known, waits } of teams)
      for (const [index, one] of known.entries()) notes.played(noted(one), waits[index] as number, favourite)
    for (const [team, rated] of rate(before).entries()) {
      for (const [index, after] of rated.entries()) {
        const one = teams[team]?.known[index] as Known
        one.rating = after
        one.matches += 1
        notes.rated(noted(one))
      }
    }
  }

  return {
    queued: (players) => players.map((player) => ratingAttributes(knownOf(player).rating, deviations)),

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

const noted = ({ matches, rating: { mu }, skill, isNew }: Known): Noted => ({ matches, mu, skill, isNew })

/** How probable it truly is that the strongest team beats another: the greatest probability of any two. */
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
