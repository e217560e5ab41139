// pure: how even the teams of a match are
import { predictWin } from 'openskill'
import type { SkillScale } from './skill.js'

export interface TeamsOutcome {
  /** Highest minus lowest average skill of the teams. */
  readonly gap: number
  /** How probable it is that the strongest team beats another of the match, from 0.5 to 1. */
  readonly favourite: number
  /** How probable it is that each team beats another of the match. */
  readonly chances: ReadonlyMap<string, number>
}

/** Standard deviation of skill in openskill's units, by its defaults: that of a new player's rating. */
const DEVIATION = 25 / 3

/** How much a player's performance varies from match to match: openskill's default. */
const BETA = DEVIATION / 2

/**
 * How even teams are, by the model of openskill, in which the lab's matches are won, too. One standard deviation of the
 * crowd's skill is 25/3 of its units; the skill is known for certain, and each player performs at it give or take 25/6:
 * one who is a deviation above an opponent wins 92 % of duels. An average player adds nothing to a team, so that teams
 * of different sizes are even if their players are average.
 * @param teams skills of their players. Undefined unless there are at least two teams whose skills are all known.
 */
export function teamsOutcome(
  teams: ReadonlyMap<string, readonly number[]>,
  scale: SkillScale,
): TeamsOutcome | undefined {
  const skills = [...teams.values()]
  if (skills.length < 2 || skills.some((team) => team.some(Number.isNaN))) return undefined
  const totals = skills.map((team) => team.reduce((sum, skill) => sum + skill, 0))
  const averages = totals.map((total, index) => total / (skills[index] as readonly number[]).length)
  const teamRatings = totals.map((total, index) => {
    const size = (skills[index] as readonly number[]).length
    // predictWin adds beta² once for each team; the luck of its other players is told as uncertainty.
    return [{ mu: ((total - scale.mean * size) / scale.deviation) * DEVIATION, sigma: BETA * Math.sqrt(size - 1) }]
  })
  // It also adds beta² of all teams to each pair of them, and shares 1 among the teams, by the average of their chances
  // against each other team.
  const shares = predictWin(teamRatings, { beta: BETA * Math.sqrt(2 / teams.size) })
  const chances = shares.map((share) => (share * teams.size) / 2)
  return {
    gap: Math.max(...averages) - Math.min(...averages),
    favourite: Math.max(...chances),
    chances: new Map([...teams.keys()].map((name, index) => [name, chances[index] as number])),
  }
}
