// pure: assigns the members of a match to teams
import type { Budget, Pausable } from '../data/budget.js'
import type { Checks, MatchLevels } from '../data/model.js'
import type { Plan } from './packing.js'
import { meetsQuotas } from './seating.js'

/** The members of a match, before they have teams. */
export interface Lineup<Facts> {
  /** Sizes (players) and facts of the tickets to assign to teams. */
  readonly sizes: readonly number[]
  readonly facts: readonly Facts[]
  /** For each team: the players already present, how many more players fit in, and how many it must get. */
  readonly present: readonly (readonly Facts[])[]
  readonly rooms: readonly number[]
  readonly least: readonly number[]
  readonly levels: MatchLevels
}

/** Up to this many arrangements, all are tried: two teams of up to six single players have no more. */
const ALL_WAYS = 4096
/** With more arrangements than that, at most this many exchanges are tried; an exchange that is no better is undone. */
const SOME_WAYS = 300

/** The team of each ticket, by the plan for tickets of its size. */
export function byPlan(sizes: readonly number[], plan: Plan): number[] {
  const given = new Map<number, number>()
  return sizes.map((size) => {
    const before = given.get(size) ?? 0
    given.set(size, before + 1)
    return plan.get(size)?.[before] ?? 0
  })
}

/**
 * The least uneven teams that may play. With few arrangements all are tried, otherwise parties of equal size are
 * exchanged, starting from `first`. If the exchanges find no teams that may play, all arrangements are tried, as far as
 * the budget goes. Undefined if none of those tried may play.
 */
export function* arrange<Facts>(
  checks: Checks<Facts> | undefined,
  lineup: Lineup<Facts>,
  first: readonly number[],
  budget: Budget,
): Pausable<readonly number[] | undefined> {
  const { part, whole, unevenness, quotas = [] } = checks ?? {}
  if ((part ?? whole ?? unevenness ?? quotas[0]) === undefined) return first
  const { sizes, facts, present, rooms, least, levels } = lineup
  const seated = present.map((players) => [...players])
  const noRoom = rooms.map(() => 0)
  /** Unevenness of the best arrangement. Infinity until one that may play is found. */
  let best = Infinity
  let bestTeams: readonly number[] | undefined

  const mayPlay = (): boolean => {
    budget.charge(1)
    if (!meetsQuotas(quotas, seated, levels.youngest)) return false
    if (part?.(seated, noRoom, levels) === false) return false
    if (whole === undefined) return true
    budget.noteSlow()
    return whole(seated, levels)
  }
  const keepIfBetter = (teams: readonly number[]): boolean => {
    // Infinitely uneven teams are better than none.
    const uneven = Math.min(unevenness?.(seated) ?? 0, Number.MAX_VALUE)
    if (uneven >= best || !mayPlay()) return false
    best = uneven
    bestTeams = [...teams]
    return true
  }
  const empty = () => {
    for (const [team, players] of present.entries()) (seated[team] as Facts[]).length = players.length
  }
  /** Rates one arrangement; true if it is better than all before. */
  const rate = (teams: readonly number[]): boolean => {
    empty()
    for (const [ticket, team] of teams.entries()) (seated[team] as Facts[]).push(facts[ticket] as Facts)
    return keepIfBetter(teams)
  }

  /** Exchanges two tickets of the same size as long as that makes the teams better. */
  function* exchange(): Pausable<void> {
    const teams = [...first]
    let tries = 0
    for (let better = true; better;) {
      better = false
      for (let one = 0; one < teams.length; one++) {
        for (let other = one + 1; other < teams.length; other++) {
          if (teams[one] === teams[other] || sizes[one] !== sizes[other]) continue
          if (best === 0 || ++tries > SOME_WAYS || !budget.take()) return
          if (budget.isPauseDue()) yield budget.pause()
          swap(teams, one, other)
          if (rate(teams)) better = true
          else swap(teams, one, other)
        }
      }
    }
  }

  /** Tries every arrangement, team by team for each ticket in turn, until the teams are even or the budget is spent. */
  function* tryAll(): Pausable<void> {
    /** The team of each ticket placed; −1 for the others. */
    const teams = sizes.map(() => -1)
    const left = [...rooms]
    empty()
    for (let ticket = 0; ticket >= 0;) {
      if (budget.isPauseDue()) yield budget.pause()
      if (budget.isOut()) return
      const size = sizes[ticket] as number
      const before = teams[ticket] as number
      if (before >= 0) {
        left[before] = (left[before] as number) + size
        seated[before]?.pop()
      }
      const team = left.findIndex((room, at) => at > before && room >= size)
      teams[ticket] = team
      if (team === -1) {
        ticket -= 1
        continue
      }
      left[team] = (left[team] as number) - size
      ;(seated[team] as Facts[]).push(facts[ticket] as Facts)
      // Once an arrangement is found, unevenness rules out most others at less cost.
      if (part !== undefined && best === Infinity) {
        budget.charge(1)
        if (!part(seated, left, levels, facts)) continue
      }
      if (ticket < sizes.length - 1) {
        ticket += 1
        continue
      }
      const isEnough = left.every((room, at) => (rooms[at] as number) - room >= (least[at] as number))
      if (isEnough && !budget.take()) return
      if (isEnough) keepIfBetter(teams)
      if (best === 0) return
    }
  }

  rate(first)
  const ways = rooms.length ** sizes.length
  if (best === 0 || ways === 1) return bestTeams
  if (ways > ALL_WAYS) yield* exchange()
  if (ways <= ALL_WAYS || best === Infinity) yield* tryAll()
  return bestTeams
}

function swap(teams: number[], one: number, other: number): void {
  const kept = teams[one] as number
  teams[one] = teams[other] as number
  teams[other] = kept
}
