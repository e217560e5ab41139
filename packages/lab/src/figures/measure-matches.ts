// pure: what each match was like
import type { Crowd, CrowdPlayer } from '../crowd/crowd.js'
import type { MatchOutcome, RunOutcome } from '../run/outcome.js'
import { latenciesOf } from './latencies.js'
import { distancesOf } from './places.js'
import type { Seats } from './seats.js'
import type { SkillScale } from './skill.js'
import { teamsOutcome, type TeamsOutcome } from './teams.js'

/** How even the teams of each match are; undefined where that is not known. */
export type Teams = readonly (TeamsOutcome | undefined)[]

/** Fills the measures of all seats, and tells about the teams of each match. */
export function measureMatches(crowd: Crowd, outcome: RunOutcome, seats: Seats, scale: SkillScale): Teams {
  const { waitMs } = seats.measures
  for (const [index, { end, matchedAt, createdAt }] of outcome.tickets.entries()) {
    if (end !== 'assigned' || matchedAt === undefined) continue
    waitMs.fill(matchedAt - createdAt, seats.first[index], seats.first[index + 1])
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
  const outcome = teamsOutcome(skillsByTeam(members, skills), scale)
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

function skillsByTeam(members: readonly Member[], skills: readonly number[]): ReadonlyMap<string, readonly number[]> {
  const teams = new Map<string, number[]>()
  for (const [index, { team }] of members.entries()) {
    const skill = skills[index] as number
    const others = teams.get(team)
    if (others === undefined) teams.set(team, [skill])
    else others.push(skill)
  }
  return teams
}
