// pure: decides which parties fit into the teams together
import type { MatchLevels } from '../data/model.js'
import { ROUNDING, type Taker, type TeamSizes, unevenSizes } from './team-sizes.js'

/** Identifies the multiset of party sizes in a match. 0 for none. */
export type Packed = number

/**
 * Packs parties into teams. Parties are never split: parties of 3, 3, 3 and 1 are ten players, but do not fill two
 * teams of 5.
 */
export interface Packing {
  /** Number of players of a full match. */
  readonly players: number
  /** Adds one party of this size. Returns −1 if the parties do not fit into the teams together. */
  add(packed: Packed, size: number): Packed
  /** Returns the number of players of the packed parties. */
  count(packed: Packed): number
  /**
   * Returns the team of each party, by size, with numbers of players as even as the parties allow. Undefined if no
   * assignment gives every team its minimum at these levels.
   */
  plan(packed: Packed, levels: MatchLevels): PackingPlan | undefined
  /** Which numbers of players the teams may have. Undefined if no rule is about them. */
  readonly sizes: TeamSizes | undefined
  /**
   * Drops cached states if there are many. They are computed again when needed. Invalidates every earlier `Packed`
   * except 0.
   */
  prune(): void
}

/** For each party size, the teams of the parties of that size. */
export type PackingPlan = ReadonlyMap<number, readonly number[]>

interface PackingState {
  /** Party sizes, the largest first. */
  readonly sizes: readonly number[]
  readonly count: number
  /** The states after one more party, by the size of the party. */
  readonly next: (Packed | undefined)[]
  /** Plans by the name of the levels; `full` for a full match, which satisfies all minima. */
  readonly plans: Map<string, PackingPlan | undefined>
}

const NONE = -1
/**
 * Maximum number of placements tried before parties count as not fitting. With few large teams, far fewer are needed.
 */
const MOST_TRIES = 5000
const MOST_STATES = 20_000
/** Maximum number of further placements tried for more even numbers once parties fit. */
const MORE_TRIES = 300
/** Maximum number of team sizes that parties are tried for. */
const MOST_SHAPES = 200

export function createPacking(teams: readonly Taker[], sizes?: TeamSizes): Packing {
  const rooms = teams.map(({ max }) => max)
  const present = teams.map((team) => team.present ?? 0)
  const players = rooms.reduce((sum, room) => sum + room, 0)
  const states: PackingState[] = []
  const known = new Map<string, Packed>()

  const stateOf = (parties: readonly number[], count: number): Packed => {
    // With a single team, the number of players identifies a state.
    const name = rooms.length === 1 ? String(count) : parties.join()
    const isNone = count > players || (rooms.length > 1 && count > 0 && fill(parties, rooms) === undefined)
    const state =
      known.get(name) ?? (isNone ? NONE : states.push({ sizes: parties, count, next: [], plans: new Map() }) - 1)
    known.set(name, state)
    return state
  }
  const packEvenly = (parties: readonly number[], count: number, levels: MatchLevels): number[] | undefined => {
    const shapes = sizes?.shapesOf(count, levels)
    if (shapes === undefined) {
      if (count === players) return fill(parties, rooms)
      return spread(parties, { rooms, present, minima: teams.map(({ min }) => min[levels.oldest] ?? 0) })
    }
    for (const shape of shapes.slice(0, MOST_SHAPES)) {
      const packed = fill(parties, shape)
      if (packed !== undefined) return packed
    }
    return undefined
  }

  stateOf([], 0)
  return {
    players,
    sizes,
    add: (packed, size) => {
      const { sizes: parties, count, next } = states[packed] as PackingState
      return (next[size] ??= stateOf(
        [...parties, size].toSorted((one, other) => other - one),
        count + size,
      ))
    },
    count: (packed) => (states[packed] as PackingState).count,
    plan: (packed, levels) => {
      const { sizes: parties, count, plans } = states[packed] as PackingState
      const name = sizes?.nameOf(levels) ?? (count === players ? 'full' : String(levels.oldest))
      if (!plans.has(name)) plans.set(name, planOf(parties, packEvenly(parties, count, levels)))
      return plans.get(name)
    },
    prune: () => {
      if (known.size < MOST_STATES) return
      states.length = 0
      known.clear()
      stateOf([], 0)
    },
  }
}

interface Vessels {
  readonly rooms: readonly number[]
  readonly present: readonly number[]
  /** Minimum number of players to add to each team. */
  readonly minima: readonly number[]
}

/** Assigns a team to each party, the largest party first. Fills team after team. */
function fill(parties: readonly number[], rooms: readonly number[]): number[] | undefined {
  const order = [...rooms.keys()]
  let found: number[] | undefined
  place(parties, rooms, {
    order: () => order,
    mayContinue: (tries) => tries <= MOST_TRIES,
    keep: (chosen) => {
      found = [...chosen]
      return true
    },
  })
  return found
}

/**
 * Assigns a team to each party so that all minima are met and the numbers of players are as even as possible. Each
 * party goes first to the team with the smallest filled share.
 */
function spread(parties: readonly number[], { rooms, present, minima }: Vessels): number[] | undefined {
  const most = rooms.map((room, team) => room + (present[team] as number))
  const least = leastUneven(parties, { rooms, present, minima })
  let [found, best, triesLeft] = [undefined as number[] | undefined, Infinity, MOST_TRIES]
  place(parties, rooms, {
    minima,
    present,
    order: (inTeam) => {
      const share = (team: number) =>
        ((inTeam[team] as number) + (present[team] as number)) / Math.max(1, most[team] as number)
      return [...rooms.keys()].toSorted((one, other) => share(one) - share(other) || one - other)
    },
    mayContinue: () => --triesLeft >= 0,
    keep: (chosen, inTeam) => {
      const uneven = unevenSizes(
        inTeam.map((players, team) => players + (present[team] as number)),
        most,
      )
      if (found === undefined) triesLeft = Math.min(triesLeft, MORE_TRIES)
      if (uneven < best - ROUNDING) [found, best] = [[...chosen], uneven]
      return best <= least + ROUNDING
    },
  })
  return found
}

/** Returns the minimum unevenness of the numbers, as if all players were single. */
function leastUneven(parties: readonly number[], { rooms, present, minima }: Vessels): number {
  const inTeam = rooms.map((room, team) => Math.min(room, minima[team] as number) + (present[team] as number))
  const most = rooms.map((room, team) => room + (present[team] as number))
  let left = parties.reduce((sum, size) => sum + size, 0) - minima.reduce((sum, min) => sum + min, 0)
  for (; left > 0; left--) {
    let [best, least] = [-1, Infinity]
    for (let team = 0; team < rooms.length; team++) {
      const added = (2 * (inTeam[team] as number) + 1) / Math.max(1, most[team] as number)
      if ((inTeam[team] as number) < (most[team] as number) && added < least) [best, least] = [team, added]
    }
    if (best === -1) break
    inTeam[best] = (inTeam[best] as number) + 1
  }
  return unevenSizes(inTeam, most)
}

interface Placing {
  readonly minima?: readonly number[]
  readonly present?: readonly number[]
  /** Returns the teams to try for the next party, in order. */
  order(inTeam: readonly number[]): readonly number[]
  mayContinue(tries: number): boolean
  /** Called with the team of each party and the number of players in each team. Returns true to stop. */
  keep(chosen: readonly number[], inTeam: readonly number[]): boolean
}

/** Tries the ways to put parties into teams, the largest party first. */
function place(
  parties: readonly number[],
  rooms: readonly number[],
  { minima = [], present = [], order, mayContinue, keep }: Placing,
): void {
  const inTeam = rooms.map(() => 0)
  const chosen: number[] = []
  let left = parties.reduce((sum, size) => sum + size, 0)
  let tries = 0
  const lacking = () => minima.reduce((sum, min, team) => sum + Math.max(0, min - (inTeam[team] as number)), 0)

  /** Returns true once the search is stopped or its budget is used up. */
  const from = (party: number): boolean => {
    if (lacking() > left) return false
    if (party === parties.length) return keep(chosen, inTeam)
    const size = parties[party] as number
    const tried = new Set<string>()
    for (const team of order(inTeam)) {
      const filled = inTeam[team] as number
      // Teams of the same shape and the same number of players are interchangeable.
      const alike = `${rooms[team] as number} ${minima[team] ?? 0} ${present[team] ?? 0} ${filled}`
      if (filled + size > (rooms[team] as number) || tried.has(alike)) continue
      if (!mayContinue(++tries)) return true
      tried.add(alike)
      inTeam[team] = filled + size
      left -= size
      chosen[party] = team
      if (from(party + 1)) return true
      inTeam[team] = filled
      left += size
    }
    return false
  }
  from(0)
}

function planOf(sizes: readonly number[], teams: readonly number[] | undefined): PackingPlan | undefined {
  if (teams === undefined) return undefined
  return new Map(sizes.map((size) => [size, teams.filter((_, party) => sizes[party] === size)]))
}
