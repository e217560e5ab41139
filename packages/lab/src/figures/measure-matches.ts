// pure: what latency a match has
import { type Coordinates, greatCircleKm } from '@muster/core'
import { middleOf, groupBy } from '@muster/core/internal'
import { predictWin } from 'openskill'
import type { Crowd, CrowdPlayer } from '../crowd/index.js'
import type { MatchOutcome, RunOutcome } from '../run/index.js'
import { rounded, spreadOf } from '../statistics/index.js'
import type { MatchFigures } from './figures.js'
import type { Seats, SkillScale } from './seats.js'

type Latencies = Readonly<Record<string, number>> | undefined

/**
 * Each player's latency to the beacon that is best for the match: of those that all players have measured, the one with
 * the least worst latency, then with the least average, as the matchmaker ranks them. NaN for players without
 * latencies, who do not count, and for everybody if there is no such beacon.
 */
function latenciesOf(players: readonly Latencies[]): number[] {
  const known = players.filter((latencies) => latencies !== undefined && Object.keys(latencies).length > 0)
  const best = bestBeacon(known as readonly Readonly<Record<string, number>>[])
  return players.map((latencies) => (best === undefined ? Number.NaN : (latencies?.[best] ?? Number.NaN)))
}

function bestBeacon(players: readonly Readonly<Record<string, number>>[]): string | undefined {
  let best: { readonly name: string; readonly worst: number; readonly sum: number } | undefined
  for (const name of Object.keys(players[0] ?? {})) {
    let [worst, sum] = [0, 0]
    for (const latencies of players) {
      const ms = Object.hasOwn(latencies, name) ? (latencies[name] as number) : Infinity
      worst = Math.max(worst, ms)
      sum += ms
    }
    const isBetter = best === undefined || worst < best.worst || (worst === best.worst && sum < best.sum)
    const isAlike = best !== undefined && worst === best.worst && sum === best.sum
    if (worst < Infinity && (isBetter || (isAlike && name < (best?.name ?? '')))) best = { name, worst, sum }
  }
  return best?.name
}

/** Kilometres from each place to the middle of all; NaN for an unknown place. */
function distancesOf(places: readonly (Coordinates | undefined)[]): number[] {
  const middle = middleOf(places.filter((place) => place !== undefined))
  return places.map((place) =>
    place === undefined || middle === undefined ? Number.NaN : greatCircleKm(place, middle),
  )
}

interface TeamsOutcome {
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

/** How even the teams of each match are; undefined where that is not known. */
export type Teams = readonly (TeamsOutcome | undefined)[]

/** Fills the measures of all seats, and tells about the teams of each match. */
export function measureMatches(crowd: Crowd, outcome: RunOutcome, seats: Seats, scale: SkillScale): Teams {
  const { waitMs, toPlayMs } = seats.measures
  for (const [index, { end, matchedAt, endedAt = Number.NaN, createdAt }] of outcome.tickets.entries()) {
    if (end !== 'assigned' || matchedAt === undefined) continue
    waitMs.fill(matchedAt - createdAt, seats.first[index], seats.first[index + 1])
    toPlayMs.fill(endedAt - createdAt, seats.first[index], seats.first[index + 1])
  }
  return outcome.matches.map((match) => measure(membersOf(match, crowd, outcome, seats), seats, scale))
}

interface Member {
  readonly seat: number
  readonly player: CrowdPlayer
  readonly team: string
}

const membersOf = (match: MatchOutcome, { parties }: Crowd, { tickets }: RunOutcome, { first }: Seats): Member[] =>
  match.tickets.flatMap((index) => {
    const { party, team = '' } = tickets[index] ?? { party: -1 }
    return (parties[party]?.players ?? []).map((player, place) => ({
      seat: (first[index] as number) + place,
      player,
      team,
    }))
  })

function measure(members: readonly Member[], { skill, measures }: Seats, scale: SkillScale): TeamsOutcome | undefined {
  const distances = distancesOf(members.map(({ player }) => player.coordinates))
  const latencies = latenciesOf(members.map(({ player }) => player.latencies))
  const skills = members.map(({ seat }) => skill[seat] as number)
  const known = skills.filter((one) => !Number.isNaN(one))
  const spread = Math.max(...known) - Math.min(...known)
  const teams = Array.from(groupBy(members, ({ team }) => team))
  const skillsByTeam = teams.map(([team, those]) => [team, those.map(({ seat }) => skill[seat] as number)] as const)
  const outcome = teamsOutcome(new Map(skillsByTeam), scale)
  for (const [index, { seat, team }] of members.entries()) {
    measures.distanceKm[seat] = distances[index] as number
    measures.latencyMs[seat] = latencies[index] as number
    if (!Number.isNaN(skills[index])) measures.skillSpread[seat] = spread
    if (outcome === undefined) continue
    measures.teamGap[seat] = outcome.gap
    measures.winChance[seat] = outcome.chances.get(team) as number
  }
  return outcome
}

const STEPS = 10

export function matchFigures(matches: Teams): MatchFigures {
  const known = matches.filter((teams) => teams !== undefined)
  const [gaps, favourites] = [known.map(({ gap }) => gap), known.map(({ favourite }) => favourite)]
  const counts = new Float64Array(STEPS)
  for (const favourite of favourites) {
    const step = Math.min(STEPS - 1, Math.max(0, Math.floor((favourite - 0.5) * 2 * STEPS)))
    counts[step] = (counts[step] as number) + 1
  }
  return {
    count: matches.length,
    teamGap: spreadOf(Float64Array.from(gaps), 3),
    favourite: spreadOf(Float64Array.from(favourites), 4),
    favouriteShares: Array.from(counts, (count) => (known.length === 0 ? 0 : rounded(count / known.length, 6))),
  }
}
