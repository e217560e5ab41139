// pure: assigns the members of a match to teams
import type { Budget, Pausable } from '../data/budget.js'
import type { Checks, MatchLevels } from '../data/model.js'
import type { PackingPlan } from './packing.js'
import { meetsQuotas } from './seating.js'
import { ROUNDING, unevenSizes } from './team-sizes.js'

/** The members of a match before they have teams. */
export interface Lineup<Facts> {
  /** Size (number of players) and facts of each ticket to assign to a team. */
  readonly sizes: readonly number[]
  readonly facts: readonly Facts[]
  /** For each team: the players already present, the maximum and the minimum number of players to add. */
  readonly present: readonly (readonly Facts[])[]
  readonly rooms: readonly number[]
  readonly least: readonly number[]
  /** Number of players present in each team. Default: none. */
  readonly players?: readonly number[] | undefined
  readonly levels: MatchLevels
}

/** Up to this many arrangements, all are tried. Two teams of up to six single players have no more. */
const ALL_WAYS = 4096
/** With more arrangements, at most this many exchanges are tried. An exchange without improvement is undone. */
const SOME_WAYS = 300

/** Assigns a team to each ticket by the plan for tickets of its size. */
export function byPlan(sizes: readonly number[], plan: PackingPlan): number[] {
  const given = new Map<number, number>()
  return sizes.map((size) => {
    const before = given.get(size) ?? 0
    given.set(size, before + 1)
    return plan.get(size)?.[before] ?? 0
  })
}

interface FirstTeams {
  /** Teams that were found while the members were chosen. */
  readonly seats: readonly number[] | undefined
  readonly isFull: boolean
  /** True if rules are about numbers of players. Only the plan keeps these rules. */
  readonly isCounted: boolean
  plan(): PackingPlan | undefined
}

/** Returns the initial teams: the seats if their numbers are as even as the plan's, otherwise the plan. */
export function firstTeams<Facts>(
  { sizes, rooms, least, players }: Lineup<Facts>,
  { seats, isFull, isCounted, plan }: FirstTeams,
): readonly number[] | undefined {
  const manyBy = (teams: readonly number[]) => {
    const many = rooms.map(() => 0)
    for (const [at, team] of teams.entries()) many[team] = (many[team] as number) + (sizes[at] as number)
    return many
  }
  const inSeats = seats && !isCounted ? manyBy(seats) : undefined
  const seated = inSeats?.every((many, team) => many >= (least[team] as number)) === true ? seats : undefined
  if (isFull && seated !== undefined) return seated
  const planned = plan()
  if (planned === undefined || inSeats === undefined) return planned === undefined ? seated : byPlan(sizes, planned)
  const teams = byPlan(sizes, planned)
  const uneven = (many: readonly number[]) =>
    unevenSizes(
      many.map((joining, team) => joining + (players?.[team] ?? 0)),
      rooms.map((room, team) => room + (players?.[team] ?? 0)),
    )
  return seated !== undefined && uneven(inSeats) <= uneven(manyBy(teams)) + ROUNDING ? seated : teams
}

/**
 * Returns the least uneven teams that may play. Even numbers of players count first, then `unevenness`. `balanced` is
 * called for teams whose numbers are as even as possible. With few arrangements all are tried. Otherwise parties of
 * equal size are exchanged, starting from `first`. If the exchanges find no teams that may play, all arrangements are
 * tried, as far as the budget lasts. Undefined if none of those tried may play.
 * @param first teams that are as even in number as the parties and the rules about numbers of players allow.
 */
export function* arrange<Facts>(
  checks: Checks<Facts> | undefined,
  lineup: Lineup<Facts>,
  first: readonly number[],
  budget: Budget,
): Pausable<readonly number[] | undefined> {
  const { part, whole, unevenness, balanced, counts, quotas = [] } = checks ?? {}
  if ((part ?? whole ?? unevenness ?? balanced ?? counts ?? quotas[0]) === undefined) return first
  const { sizes, facts, present, rooms, least, levels } = lineup
  const players = lineup.players ?? rooms.map(() => 0)
  const most = rooms.map((room, team) => room + (players[team] as number))
  const seated = present.map((members) => [...members])
  const noRoom = rooms.map(() => 0)
  /** Number of players in each team of the arrangement that is rated. */
  const many = [...players]
  /** True if numbers of players may differ between arrangements. */
  const mayDiffer = sizes.reduce((sum, size) => sum + size, 0) < rooms.reduce((sum, room) => sum + room, 0)
  /** The best arrangement that may play: its unevenness in number, its other unevenness, and whether it is balanced. */
  let bestInNumber = Infinity
  let best = Infinity
  let isBalanced = false
  let bestTeams: readonly number[] | undefined

  const mayPlay = (): boolean => {
    budget.charge(1)
    if (counts?.allows(many, many, levels) === false) return false
    if (!meetsQuotas(quotas, seated, levels.youngest)) return false
    if (part?.(seated, noRoom, levels) === false) return false
    if (whole === undefined) return true
    budget.noteSlow()
    return whole(seated, levels)
  }
  const keepIfBetter = (teams: readonly number[]): boolean => {
    const inNumber = unevenSizes(many, most)
    const isMoreEven = inNumber < bestInNumber - ROUNDING
    if (!isMoreEven && inNumber > bestInNumber + ROUNDING) return false
    // Infinitely uneven teams are better than no teams.
    const uneven = Math.min(unevenness?.(seated) ?? 0, Number.MAX_VALUE)
    if (!isMoreEven && isBalanced && uneven >= best) return false
    const isEnough = balanced?.(seated, levels) ?? true
    if (!isMoreEven && !isEnough && (isBalanced || uneven >= best)) return false
    if (!mayPlay()) return false
    bestInNumber = inNumber
    best = uneven
    isBalanced = isEnough
    bestTeams = [...teams]
    return true
  }
  let leastInNumber = 0
  /** True if no other arrangement is better. */
  const isBest = () => isBalanced && best === 0 && (balanced === undefined || bestInNumber <= leastInNumber + ROUNDING)
  const empty = () => {
    for (const [team, members] of present.entries()) (seated[team] as Facts[]).length = members.length
  }
  /** Rates one arrangement. Returns true if it is better than all before. */
  const rate = (teams: readonly number[]): boolean => {
    empty()
    for (let team = 0; team < many.length; team++) many[team] = players[team] as number
    for (const [ticket, team] of teams.entries()) {
      ;(seated[team] as Facts[]).push(facts[ticket] as Facts)
      many[team] = (many[team] as number) + (sizes[ticket] as number)
    }
    return keepIfBetter(teams)
  }

  /** Exchanges two tickets of the same size as long as that improves the teams. */
  function* exchange(): Pausable<void> {
    const teams = [...first]
    let tries = 0
    for (let better = true; better;) {
      better = false
      for (let one = 0; one < teams.length; one++) {
        for (let other = one + 1; other < teams.length; other++) {
          if (teams[one] === teams[other] || sizes[one] !== sizes[other]) continue
          if (isBest() || ++tries > SOME_WAYS || !budget.spend()) return
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
    /** The team of each placed ticket. −1 for the others. */
    const teams = sizes.map(() => -1)
    const left = [...rooms]
    const behind = remaining(sizes)
    for (const [team, count] of players.entries()) many[team] = count
    empty()
    for (let ticket = 0; ticket >= 0;) {
      if (budget.isPauseDue()) yield budget.pause()
      if (budget.isOut()) return
      const size = sizes[ticket] as number
      const before = teams[ticket] as number
      if (before >= 0) {
        left[before] = (left[before] as number) + size
        many[before] = (many[before] as number) - size
        seated[before]?.pop()
      }
      const team = left.findIndex((room, at) => at > before && room >= size)
      teams[ticket] = team
      if (team === -1) {
        ticket -= 1
        continue
      }
      left[team] = (left[team] as number) - size
      many[team] = (many[team] as number) + size
      ;(seated[team] as Facts[]).push(facts[ticket] as Facts)
      if (mayDiffer && leastUneven(many, most, behind[ticket] as number) > bestInNumber + ROUNDING) continue
      // Once a balanced arrangement is found, the rules about unevenness exclude most others at less cost than `part`.
      if (part !== undefined && !isBalanced) {
        budget.charge(1)
        if (!part(seated, left, levels, facts)) continue
      }
      if (ticket < sizes.length - 1) {
        ticket += 1
        continue
      }
      const isEnough = left.every((room, at) => (rooms[at] as number) - room >= (least[at] as number))
      if (isEnough && !budget.spend()) return
      if (isEnough) keepIfBetter(teams)
      if (isBest()) return
    }
  }

  rate(first)
  leastInNumber = unevenSizes(many, most)
  const ways = rooms.length ** sizes.length
  if (!isBest() && ways > 1) {
    if (ways > ALL_WAYS) yield* exchange()
    if (ways <= ALL_WAYS || !isBalanced) yield* tryAll()
  }
  return isBalanced ? bestTeams : undefined
}

/** Returns, for each ticket, the number of players after it. */
function remaining(sizes: readonly number[]): number[] {
  let left = sizes.reduce((sum, size) => sum + size, 0)
  return sizes.map((size) => (left -= size))
}

/** Returns a lower bound of the unevenness once `left` more players have a team. Each adds at least `added`. */
function leastUneven(many: readonly number[], most: readonly number[], left: number): number {
  let added = Infinity
  for (let team = 0; team < many.length; team++)
    added = Math.min(added, (2 * (many[team] as number) + 1) / Math.max(1, most[team] as number))
  return unevenSizes(many, most) + left * added
}

function swap(teams: number[], one: number, other: number): void {
  const kept = teams[one] as number
  teams[one] = teams[other] as number
  teams[other] = kept
}
