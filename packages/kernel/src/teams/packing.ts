// pure: which parties fit into the teams together
import type { TeamShape } from '../data/model.js'

/** A number for the multiset of party sizes in a match; 0 for none. */
export type Packed = number

/**
 * Packs parties into teams. Parties are never split, so not every set of the right total makes a match: parties of 3,
 * 3, 3 and 1 do not fill two teams of 5.
 */
export interface Packing {
  /** Players of a full match. */
  readonly players: number
  /** Adds one party of this size; −1 if the parties do not fit into the teams together. */
  add(packed: Packed, size: number): Packed
  /** Players of the parties packed. */
  count(packed: Packed): number
  /** The team of each party, by size; undefined if no assignment brings every team to its minimum at this level. */
  plan(packed: Packed, level: number): Plan | undefined
  /**
   * Forgets cached states if there are many; they are computed again when needed. Invalidates every earlier `Packed`
   * but 0.
   */
  prune(): void
}

/** For each party size, the teams of the parties of that size. */
export type Plan = ReadonlyMap<number, readonly number[]>

interface State {
  /** The largest first. */
  readonly sizes: readonly number[]
  readonly count: number
  /** By the size of one more party. */
  readonly next: (Packed | undefined)[]
  /** By level; −1 for a full match, which has all minima. */
  readonly plans: Map<number, Plan | undefined>
}

const NONE = -1
/** Placements tried before parties count as not fitting: with few large teams, far fewer are needed. */
const MOST_TRIES = 5000
const MOST_STATES = 20_000

export function createPacking(teams: readonly Pick<TeamShape, 'max' | 'min'>[]): Packing {
  const rooms = teams.map(({ max }) => max)
  const players = rooms.reduce((sum, room) => sum + room, 0)
  const states: State[] = []
  const known = new Map<string, Packed>()

  const stateOf = (sizes: readonly number[], count: number): Packed => {
    // With a single team, the number of players identifies a state.
    const name = rooms.length === 1 ? String(count) : sizes.join()
    const isNone = count > players || (rooms.length > 1 && count > 0 && pack(sizes, rooms, undefined) === undefined)
    const state = known.get(name) ?? (isNone ? NONE : states.push({ sizes, count, next: [], plans: new Map() }) - 1)
    known.set(name, state)
    return state
  }

  stateOf([], 0)
  return {
    players,
    add: (packed, size) => {
      const { sizes, count, next } = states[packed] as State
      return (next[size] ??= stateOf(
        [...sizes, size].toSorted((one, other) => other - one),
        count + size,
      ))
    },
    count: (packed) => (states[packed] as State).count,
    plan: (packed, level) => {
      const { sizes, count, plans } = states[packed] as State
      const wanted = count === players ? -1 : level
      if (!plans.has(wanted)) {
        const minima = wanted === -1 ? undefined : teams.map(({ min }) => min[wanted] ?? 0)
        plans.set(wanted, planOf(sizes, pack(sizes, rooms, minima)))
      }
      return plans.get(wanted)
    },
    prune: () => {
      if (known.size < MOST_STATES) return
      states.length = 0
      known.clear()
      stateOf([], 0)
    },
  }
}

/**
 * Assigns a team to each party, largest party first. Without minima, team after team is filled. With minima, each party
 * goes to the team with the smallest filled share, so that a match that is not full is not lopsided.
 */
function pack(
  sizes: readonly number[],
  rooms: readonly number[],
  minima: readonly number[] | undefined,
): number[] | undefined {
  const inTeam = rooms.map(() => 0)
  const chosen: number[] = []
  let left = sizes.reduce((sum, size) => sum + size, 0)
  let tries = 0
  const lacking = () => (minima ?? []).reduce((sum, min, team) => sum + Math.max(0, min - (inTeam[team] as number)), 0)
  const share = (team: number) => (inTeam[team] as number) / Math.max(1, rooms[team] as number)
  const order = (): number[] => {
    const all = [...rooms.keys()]
    return minima === undefined ? all : all.toSorted((one, other) => share(one) - share(other) || one - other)
  }

  const place = (party: number): boolean => {
    if (lacking() > left) return false
    if (party === sizes.length) return true
    const size = sizes[party] as number
    const tried = new Set<string>()
    for (const team of order()) {
      const filled = inTeam[team] as number
      // Teams of the same shape and the same number of players are interchangeable.
      const alike = `${rooms[team] as number} ${minima?.[team] ?? 0} ${filled}`
      if (filled + size > (rooms[team] as number) || tried.has(alike)) continue
      if (++tries > MOST_TRIES) return false
      tried.add(alike)
      inTeam[team] = filled + size
      left -= size
      chosen[party] = team
      if (place(party + 1)) return true
      inTeam[team] = filled
      left += size
    }
    return false
  }
  return place(0) ? chosen : undefined
}

function planOf(sizes: readonly number[], teams: readonly number[] | undefined): Plan | undefined {
  if (teams === undefined) return undefined
  return new Map(sizes.map((size) => [size, teams.filter((_, party) => sizes[party] === size)]))
}
