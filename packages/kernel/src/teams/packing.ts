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
  readonly sizes: readonly number[]
  readonly count: number
  readonly plans: Map<number, Plan | undefined>
}

const UNKNOWN = -2
const NONE = -1
/**
 * Placements tried before parties count as not fitting. Exhaustive search stays far below this with few large teams.
 */
const MOST_TRIES = 5000
const MOST_STATES = 20_000

export function createPacking(teams: readonly Pick<TeamShape, 'max' | 'min'>[]): Packing {
  const rooms = teams.map(({ max }) => max)
  const players = rooms.reduce((sum, room) => sum + room, 0)
  const largest = Math.max(0, ...rooms)
  const states: State[] = []
  const known = new Map<string, Packed>()
  let next = new Int32Array(0)
  // With a single team, the number of players identifies a state.
  const nameOf = (sizes: readonly number[], count: number) => (rooms.length === 1 ? String(count) : sizes.join())

  const stateOf = (sizes: readonly number[], count: number): Packed => {
    const name = nameOf(sizes, count)
    const old = known.get(name)
    if (old !== undefined) return old
    if (states.length > 0 && rooms.length > 1 && pack(sizes, rooms, undefined) === undefined) {
      known.set(name, NONE)
      return NONE
    }
    const state = states.push({ sizes, count, plans: new Map() }) - 1
    known.set(name, state)
    if ((state + 1) * (largest + 1) > next.length) {
      const wider = new Int32Array(Math.max(64, 2 * next.length, (state + 1) * (largest + 1))).fill(UNKNOWN)
      wider.set(next)
      next = wider
    }
    return state
  }

  const explore = (packed: Packed, size: number): Packed => {
    const { sizes, count } = states[packed] as State
    const at = sizes.findIndex((other) => other < size)
    const found =
      count + size > players ? NONE : stateOf(at === -1 ? [...sizes, size] : sizes.toSpliced(at, 0, size), count + size)
    next[packed * (largest + 1) + size] = found
    return found
  }

  const packing: Packing = {
    players,
    add: (packed, size) => {
      if (size > largest) return NONE
      const found = next[packed * (largest + 1) + size] as number
      return found === UNKNOWN ? explore(packed, size) : found
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
      next.fill(UNKNOWN)
      stateOf([], 0)
    },
  }
  stateOf([], 0)
  return packing
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
  const fill = (team: number) => (inTeam[team] as number) / Math.max(1, rooms[team] as number)
  const order = (): number[] => {
    const open = rooms.map((_, team) => team)
    return minima === undefined ? open : open.toSorted((one, other) => fill(one) - fill(other) || one - other)
  }

  const place = (party: number): boolean => {
    if (minima !== undefined && lacking() > left) return false
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
  const plan = new Map<number, number[]>()
  for (const [party, size] of sizes.entries()) {
    const known = plan.get(size)
    if (known === undefined) plan.set(size, [teams[party] as number])
    else known.push(teams[party] as number)
  }
  return plan
}
