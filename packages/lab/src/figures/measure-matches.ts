// pure: latency, distance and balance of a match
import { type Coordinates, greatCircleKm } from '@muster/core'
import { middleOf, groupBy } from '@muster/core/internal'
import { predictWin } from 'openskill'
import type { Crowd, CrowdPlayer } from '../crowd/index.js'
import type { MatchOutcome, RunOutcome } from '../run/index.js'
import { rounded, spreadOf } from '../statistics/index.js'
import type { MatchFigures } from './figures.js'
import type { SeatTable, SkillScale } from './seats.js'

type Latencies = Readonly<Record<string, number>> | undefined

/**
 * Returns each player's latency to the best beacon of the match. Of the beacons that all players have measured, the
 * best has the lowest worst latency, then the lowest average, as in the matchmaker. Players without latencies are
 * ignored and get NaN. All players get NaN if there is no common beacon.
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

/** Returns the kilometres from each location to the middle of all; NaN for an unknown location. */
function distancesOf(places: readonly (Coordinates | undefined)[]): number[] {
  const middle = middleOf(places.filter((place) => place !== undefined))
  return places.map((place) =>
    place === undefined || middle === undefined ? Number.NaN : greatCircleKm(place, middle),
  )
}

interface TeamsOutcome {
  /** Difference between the highest and the lowest average skill of the teams. */
  readonly gap: number
  /** Probability that the strongest team beats another team of the match, from 0.5 to 1. */
  readonly favourite: number
  /** Probability that each team beats another team of the match. */
  readonly chances: ReadonlyMap<string, number>
}

/** Standard deviation of the crowd's skill in openskill's units: the default sigma of a new player's rating. */
const DEVIATION = 25 / 3

/** Standard deviation of a player's performance between matches: openskill's default. */
const BETA = DEVIATION / 2

/**
 * Computes how even teams are, by the model of openskill, by which the lab also decides matches. One standard deviation
 * of the crowd's skill is 25/3 of openskill's units. Skill is known exactly, and a player's performance varies with a
 * deviation of 25/6. So a player whose skill is one deviation above an opponent's wins 92 % of duels. A player of
 * average skill adds nothing to a team, so that teams of different sizes are even if all their players are average.
 * @param teams the players' skills in each team. @returns undefined unless there are at least two teams whose skills
 * are all known.
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
    // predictWin adds beta² once for each team. The variation of the team's other players is added as uncertainty.
    return [{ mu: ((total - scale.mean * size) / scale.deviation) * DEVIATION, sigma: BETA * Math.sqrt(size - 1) }]
  })
  // predictWin also adds beta² of all teams to each pair of teams. Its results are the average chances of each team
  // against the others, scaled to a sum of 1.
  const shares = predictWin(teamRatings, { beta: BETA * Math.sqrt(2 / teams.size) })
  const chances = shares.map((share) => (share * teams.size) / 2)
  return {
    gap: Math.max(...averages) - Math.min(...averages),
    favourite: Math.max(...chances),
    chances: new Map([...teams.keys()].map((name, index) => [name, chances[index] as number])),
  }
}

/** For each match, how even its teams are; undefined if that is unknown. */
export type MatchTeams = readonly (TeamsOutcome | undefined)[]

/** Fills the measures of all seats. Returns for each match how even its teams are. */
export function measureMatches(crowd: Crowd, outcome: RunOutcome, seats: SeatTable, scale: SkillScale): MatchTeams {
  const { waitMs, toPlayMs } = seats.measures
  for (const [index, { end, matchedAt, endedAt = Number.NaN, createdAt }] of outcome.tickets.entries()) {
    if (end !== 'assigned' || matchedAt === undefined) continue
    waitMs.fill(matchedAt - createdAt, seats.first[index], seats.first[index + 1])
    toPlayMs.fill(endedAt - createdAt, seats.first[index], seats.first[index + 1])
  }
  return outcome.matches.map((match) => measure(membersOf(match, crowd, outcome, seats), seats, scale))
}

interface TeamSeat {
  readonly seat: number
  readonly player: CrowdPlayer
  readonly team: string
}

const membersOf = (
  match: MatchOutcome,
  { parties }: Crowd,
  { tickets }: RunOutcome,
  { first }: SeatTable,
): TeamSeat[] =>
  match.tickets.flatMap((index) => {
    const { party, team = '' } = tickets[index] ?? { party: -1 }
    return (parties[party]?.players ?? []).map((player, place) => ({
      seat: (first[index] as number) + place,
      player,
      team,
    }))
  })

function measure(
  members: readonly TeamSeat[],
  { skill, measures }: SeatTable,
  scale: SkillScale,
): TeamsOutcome | undefined {
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

export function matchFigures(matches: MatchTeams): MatchFigures {
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
