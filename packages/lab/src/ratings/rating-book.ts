import { rate, rating, type Rating } from 'openskill'
import type { Crowd, CrowdPlayer } from '../crowd/crowd.js'
import { createLuck } from './luck.js'
import { ratingAttributes, type RatingAttributes } from './rating-attributes.js'
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

/** A player as the book knows one. */
interface Known {
  rating: Rating
  /** Matches rated in this run. */
  matches: number
  /** True skill on the scale of the ratings. */
  readonly skill: number
  readonly isNew: boolean
}

/**
 * Opens a book for one run.
 *
 * Skill is the players' `truth`, brought to the scale of openskill: mean 25, standard deviation 25/3. In a match each
 * player performs at that skill plus luck, which is normal with standard deviation 25/6 (β), and the team with the
 * greatest sum wins (Herbrich, Minka and Graepel: TrueSkill, 2006). A player's luck in the nth match is the same
 * whatever the queue, so that queues can be compared.
 * @throws {RangeError} if an option is wrong or the crowd's players have no `truth`, as those of recordings
 */
export function createRatingBook(crowd: Crowd, options: RatingOptions = {}): RatingBook {
  const { seed, newcomers, settledSigma, deviations } = readRatingOptions(options)
  const skillOf = skillsOf(crowd)
  const luck = createLuck(seed)
  const book = new Map<string, Known>()

  const firstSeen = (player: CrowdPlayer): Known => {
    const skill = skillOf(player)
    const isNew = luck.chanceOf(player.id) < newcomers
    const known = { mu: skill + settledSigma * luck.normalOf(player.id, 0), sigma: settledSigma }
    return { rating: isNew ? rating() : known, matches: 0, skill, isNew }
  }
  const knownOf = (player: CrowdPlayer): Known => {
    let known = book.get(player.id)
    if (known === undefined) book.set(player.id, (known = firstSeen(player)))
    return known
  }
  const performanceOf = (player: CrowdPlayer): number => {
    const { skill, matches } = knownOf(player)
    return skill + BETA * luck.normalOf(player.id, matches + 1)
  }

  return {
    queued: (players) => players.map((player) => ratingAttributes(knownOf(player).rating, deviations)),

    played: (given) => {
      const all = given.map(({ name, tickets }) => ({ name, players: tickets.flatMap((ticket) => ticket.players) }))
      const teams = all.filter(({ players }) => players.length > 0)
      if (teams.length < 2) return undefined
      const ranked = teams
        .map(({ name, players }) => ({
          name,
          known: players.map(knownOf),
          performance: players.reduce((sum, player) => sum + performanceOf(player), 0),
        }))
        .toSorted((one, other) => other.performance - one.performance)
      const before = ranked.map(({ known }) => known.map((one) => one.rating))
      const after = rate(before)
      for (const [team, { known }] of ranked.entries())
        for (const [index, one] of known.entries()) {
          one.rating = after[team]?.[index] ?? one.rating
          one.matches += 1
        }
      return ranked.map(({ name }) => name)
    },
  }
}
