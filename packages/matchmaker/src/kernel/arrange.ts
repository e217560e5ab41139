// pure: who of a match plays in which team
import type { Checks, MatchLevels } from './model.js'
import type { Plan } from './packing.js'

/** A match whose members are known. */
export interface Lineup<Facts> {
  /** Tickets that are to have a team, and what each is. */
  readonly sizes: readonly number[]
  readonly facts: readonly Facts[]
  /** For each team, who is there already, how many more players it takes, and how many it must get. */
  readonly present: readonly (readonly Facts[])[]
  readonly rooms: readonly number[]
  readonly least: readonly number[]
  readonly levels: MatchLevels
}

/** Up to so many ways (as many as two teams have of five players and more) all are tried. */
const ALL_WAYS = 4096
/** Otherwise so many are looked at, each of them better than the one before or dropped. */
const SOME_WAYS = 300

/** The team of each ticket, given which teams parties of its size are in. */
export function byPlan(sizes: readonly number[], plan: Plan): number[] {
  const given = new Map<number, number>()
  return sizes.map((size) => {
    const before = given.get(size) ?? 0
    given.set(size, before + 1)
    return plan.get(size)?.[before] ?? 0
  })
}

/**
 * The least uneven teams that may play: of all if there are few ways, else from `first` on, by exchanging parties of
 * equal size. Undefined if none of those tried may play.
 */
export function arrange<Facts>(checks: Checks<Facts> | undefined, lineup: Lineup<Facts>, first: readonly number[]): readonly number[] | undefined {
  if (checks === undefined || (checks.part === undefined && checks.whole === undefined && checks.unevenness === undefined)) return first
  const seated = lineup.present.map((there) => [...there])
  const noRoom = lineup.rooms.map(() => 0)

  const mayPlay = () => (checks.part?.(seated, noRoom, lineup.levels) ?? true) && (checks.whole?.(seated, lineup.levels) ?? true)

  /** Infinity if they may not play. */
  const rate = (teams: readonly number[], toBeat: number): number => {
    for (const [team, there] of lineup.present.entries()) (seated[team] as Facts[]).length = there.length
    for (const [ticket, team] of teams.entries()) (seated[team] as Facts[]).push(lineup.facts[ticket] as Facts)
    const uneven = checks.unevenness?.(seated) ?? 0
    return uneven < toBeat && mayPlay() ? uneven : Infinity
  }

  const rated = rate(first, Infinity)
  if (rated === 0) return first
  const ways = lineup.rooms.length ** lineup.sizes.length
  return ways <= ALL_WAYS ? bestOfAll(lineup, first, rated, rate) : bestByExchange(lineup, first, rated, rate)
}

type Rate = (teams: readonly number[], toBeat: number) => number

function bestOfAll<Facts>({ sizes, rooms, least }: Lineup<Facts>, first: readonly number[], rated: number, rate: Rate): readonly number[] | undefined {
  let [best, bestTeams] = [rated, rated === Infinity ? undefined : first]
  const teams = sizes.map(() => 0)
  const inTeam = rooms.map(() => 0)

  const place = (ticket: number): void => {
    if (best === 0) return
    if (ticket === sizes.length) {
      if (inTeam.some((players, team) => players < (least[team] as number))) return
      const uneven = rate(teams, best)
      if (uneven < best) [best, bestTeams] = [uneven, [...teams]]
      return
    }
    const size = sizes[ticket] as number
    for (let team = 0; team < rooms.length; team++) {
      const there = inTeam[team] as number
      if (there + size > (rooms[team] as number)) continue
      inTeam[team] = there + size
      teams[ticket] = team
      place(ticket + 1)
      inTeam[team] = there
    }
  }
  place(0)
  return bestTeams
}

function bestByExchange<Facts>({ sizes }: Lineup<Facts>, first: readonly number[], rated: number, rate: Rate): readonly number[] | undefined {
  const teams = [...first]
  let best = rated
  let tries = 0
  for (let better = true; better && best > 0; ) {
    better = false
    for (let one = 0; one < teams.length; one++) {
      for (let other = one + 1; other < teams.length; other++) {
        if (teams[one] === teams[other] || sizes[one] !== sizes[other]) continue
        if (++tries > SOME_WAYS) return best === Infinity ? undefined : teams
        exchange(teams, one, other)
        const uneven = rate(teams, best)
        if (uneven < best) [best, better] = [uneven, true]
        else exchange(teams, one, other)
      }
    }
  }
  return best === Infinity ? undefined : teams
}

function exchange(teams: number[], one: number, other: number): void {
  const kept = teams[one] as number
  teams[one] = teams[other] as number
  teams[other] = kept
}
