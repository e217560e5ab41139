// pure: how many players each team of a match may have, and which numbers are even
import type { Checks, MatchLevels } from '../data/model.js'

/** A team that takes players. Teams of a new match are empty, those of a running match may have players already. */
export interface Taker {
  /** Maximum number of players to add, and the minimum at each level. */
  readonly max: number
  readonly min: Uint16Array
  /** Number of players who are in the team already. Default 0. */
  readonly present?: number | undefined
  /** Teams of one kind are interchangeable if they are otherwise equal. Default: none are. */
  readonly kind?: string | undefined
}

/** Which numbers of players the teams may have, if rules are about numbers of players. */
export interface TeamSizes {
  /** Returns the numbers by which all teams may grow together, greatest first. Undefined if too many to list. */
  totalsAt(levels: MatchLevels): readonly number[] | undefined
  /**
   * Returns the players to add to each team for this total, the most even numbers first. Undefined if there are too
   * many to list.
   */
  shapesOf(total: number, levels: MatchLevels): readonly (readonly number[])[] | undefined
  /** Returns a name shared by levels that have the same result. */
  nameOf(levels: MatchLevels): string
}

type Shapes = ReadonlyMap<number, readonly (readonly number[])[]>

/** Maximum number of player counts tried for one list. With more, the list is not made. */
const MOST_TRIED = 50_000
/** Maximum number of cached lists. */
const MOST_KEPT = 256
/** Smaller differences are rounding errors. */
export const ROUNDING = 1e-9

/**
 * Unevenness of numbers of players. It is least if each team has the same share of its maximum. Of teams of one size,
 * three and one are more uneven than two and two.
 */
export function unevenSizes(sizes: ArrayLike<number>, most: ArrayLike<number>): number {
  let sum = 0
  for (let team = 0; team < sizes.length; team++)
    sum += (sizes[team] as number) ** 2 / Math.max(1, most[team] as number)
  return sum
}

/** Returns the levels of a match whose members all have this level. */
export const atLevel = (level: number): MatchLevels => ({ youngest: level, oldest: level, average: level, now: 0 })

export function createTeamSizes(
  teams: readonly Taker[],
  { allows, isSteady }: NonNullable<Checks<never>['counts']>,
): TeamSizes {
  const known = new Map<string, Shapes | undefined>()
  const present = teams.map((team) => team.present ?? 0)
  const most = teams.map(({ max }, team) => max + (present[team] as number))
  const isAlike = teams.map((team, at) => {
    const before = teams[at - 1]
    if (before?.kind === undefined || before.kind !== team.kind || before.max !== team.max) return false
    return present[at] === present[at - 1] && before.min.every((least, level) => least === team.min[level])
  })
  const nameOf = ({ youngest, oldest, average }: MatchLevels) =>
    isSteady ? String(oldest) : `${youngest} ${oldest} ${average}`

  const listAt = (levels: MatchLevels): Shapes | undefined => {
    const least = teams.map(({ min }, team) => (min[levels.oldest] ?? 0) + (present[team] as number))
    // The minimum and maximum number of players of each team. They are equal for teams that are decided.
    const [fewest, greatest] = [[...least], [...most]]
    const shapes = new Map<number, number[][]>()
    let tries = 0
    const decide = (team: number): boolean => {
      if (team === teams.length) {
        const added = fewest.map((players, at) => players - (present[at] as number))
        const total = added.reduce((sum, players) => sum + players, 0)
        const alike = shapes.get(total)
        if (alike === undefined) shapes.set(total, [added])
        else alike.push(added)
        return true
      }
      const highest = Math.min(most[team] as number, isAlike[team] === true ? (fewest[team - 1] as number) : Infinity)
      for (let players = highest; players >= (least[team] as number); players--) {
        if (++tries > MOST_TRIED) return false
        fewest[team] = greatest[team] = players
        if (allows(fewest, greatest, levels) && !decide(team + 1)) return false
      }
      fewest[team] = least[team] as number
      greatest[team] = most[team] as number
      return true
    }
    if (!decide(0)) return undefined
    const unevenness = (added: readonly number[]) =>
      unevenSizes(
        added.map((players, team) => players + (present[team] as number)),
        most,
      )
    for (const alike of shapes.values()) alike.sort((one, other) => unevenness(one) - unevenness(other))
    return new Map([...shapes].toSorted(([one], [other]) => other - one))
  }
  const shapesAt = (levels: MatchLevels): Shapes | undefined => {
    const name = nameOf(levels)
    if (!known.has(name)) {
      if (known.size >= MOST_KEPT) known.clear()
      known.set(name, listAt(levels))
    }
    return known.get(name)
  }
  return {
    nameOf,
    totalsAt: (levels) => {
      const shapes = shapesAt(levels)
      return shapes && [...shapes.keys()]
    },
    shapesOf: (total, levels) => {
      const shapes = shapesAt(levels)
      return shapes && (shapes.get(total) ?? [])
    },
  }
}
