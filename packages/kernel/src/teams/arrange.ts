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
  if (
    checks === undefined ||
    (checks.part === undefined &&
      checks.whole === undefined &&
      checks.unevenness === undefined &&
      (checks.quotas ?? []).length === 0)
  )
    return first
  const arrangement = new Arrangement(checks, lineup, budget)
  arrangement.rate(first)
  const ways = lineup.rooms.length ** lineup.sizes.length
  if (arrangement.best === 0 || ways === 1) return arrangement.bestTeams
  const fewWays = ways <= ALL_WAYS
  if (!fewWays) yield* arrangement.exchange(first)
  if (fewWays || arrangement.best === Infinity) yield* arrangement.tryAll()
  return arrangement.bestTeams
}

/** The search for an arrangement of the teams, and the best one so far. */
class Arrangement<Facts> {
  /** Unevenness of the best arrangement. Infinity until one that may play is found. */
  best = Infinity
  bestTeams: readonly number[] | undefined
  readonly #checks: Checks<Facts>
  readonly #lineup: Lineup<Facts>
  readonly #budget: Budget
  readonly #seated: Facts[][]
  readonly #noRoom: readonly number[]

  constructor(checks: Checks<Facts>, lineup: Lineup<Facts>, budget: Budget) {
    this.#checks = checks
    this.#lineup = lineup
    this.#budget = budget
    this.#seated = lineup.present.map((players) => [...players])
    this.#noRoom = lineup.rooms.map(() => 0)
  }

  /** Rates one arrangement; true if it is better than all before. */
  rate(teams: readonly number[]): boolean {
    const { present, facts } = this.#lineup
    for (const [team, players] of present.entries()) (this.#seated[team] as Facts[]).length = players.length
    for (const [ticket, team] of teams.entries()) (this.#seated[team] as Facts[]).push(facts[ticket] as Facts)
    return this.#keepIfBetter(teams)
  }

  /** Improves on `first`: exchanges two tickets of the same size as long as that makes the teams better. */
  *exchange(first: readonly number[]): Pausable<void> {
    const { sizes } = this.#lineup
    const teams = [...first]
    let tries = 0
    for (let better = true; better && this.best > 0;) {
      better = false
      for (let one = 0; one < teams.length; one++) {
        for (let other = one + 1; other < teams.length; other++) {
          if (teams[one] === teams[other] || sizes[one] !== sizes[other]) continue
          if (++tries > SOME_WAYS || !this.#budget.take()) return
          if (this.#budget.isPauseDue()) yield this.#budget.pause()
          swap(teams, one, other)
          if (this.rate(teams)) better = true
          else swap(teams, one, other)
        }
      }
    }
  }

  /**
   * Tries every arrangement, team by team for each ticket in turn. Ends when the teams are even or the budget is spent.
   */
  *tryAll(): Pausable<void> {
    const { sizes, facts, present, rooms, least } = this.#lineup
    const last = sizes.length - 1
    /** The team of each ticket placed; −1 for the others. */
    const teams = sizes.map(() => -1)
    const left = [...rooms]
    for (const [team, players] of present.entries()) (this.#seated[team] as Facts[]).length = players.length

    for (let ticket = 0; ticket >= 0;) {
      if (this.#budget.isPauseDue()) yield this.#budget.pause()
      if (this.#budget.isOut()) return
      const size = sizes[ticket] as number
      const before = teams[ticket] as number
      if (before >= 0) {
        left[before] = (left[before] as number) + size
        this.#seated[before]?.pop()
      }
      const team = nextWithRoom(left, before, size)
      teams[ticket] = team
      if (team === -1) {
        ticket -= 1
        continue
      }
      left[team] = (left[team] as number) - size
      ;(this.#seated[team] as Facts[]).push(facts[ticket] as Facts)
      if (!this.#mayBecomeMatch(left)) continue
      if (ticket < last) {
        ticket += 1
        continue
      }
      const isEnough = left.every((room, at) => (rooms[at] as number) - room >= (least[at] as number))
      if (isEnough && !this.#budget.take()) return
      if (isEnough) this.#keepIfBetter(teams)
      if (this.best === 0) return
    }
  }

  /**
   * `part` is asked only until an allowed arrangement is found: from then on unevenness rules out most arrangements at
   * less cost.
   */
  #mayBecomeMatch(left: readonly number[]): boolean {
    const { levels, facts } = this.#lineup
    const { part } = this.#checks
    if (part === undefined || this.best < Infinity) return true
    this.#budget.charge(1)
    return part(this.#seated, left, levels, facts)
  }

  #keepIfBetter(teams: readonly number[]): boolean {
    // Infinitely uneven teams are better than none.
    const uneven = Math.min(this.#checks.unevenness?.(this.#seated) ?? 0, Number.MAX_VALUE)
    if (uneven >= this.best || !this.#mayPlay()) return false
    this.best = uneven
    this.bestTeams = [...teams]
    return true
  }

  #mayPlay(): boolean {
    const { part, whole, quotas } = this.#checks
    const { levels } = this.#lineup
    this.#budget.charge(1)
    if (!meetsQuotas(quotas, this.#seated, levels.youngest)) return false
    if (part?.(this.#seated, this.#noRoom, levels) === false) return false
    if (whole === undefined) return true
    this.#budget.noteSlow()
    return whole(this.#seated, levels)
  }
}

/** The first team after `before` with room for so many players; −1 if there is none. */
function nextWithRoom(left: readonly number[], before: number, size: number): number {
  for (let team = before + 1; team < left.length; team++) if ((left[team] as number) >= size) return team
  return -1
}

function swap(teams: number[], one: number, other: number): void {
  const kept = teams[one] as number
  teams[one] = teams[other] as number
  teams[other] = kept
}
