// pure: many matches at once, for a crowd that comes together
import type { Pausable } from '../data/budget.js'
import { isFree, VALUES, X, Y, Z } from '../data/columns.js'
import type { Slot } from '../data/model.js'
import type { Parts } from '../data/parts.js'
import type { RoundState } from '../round/state.js'
import type { Draft } from '../search/draft.js'
import type { Search } from '../search/search.js'
import { alongCurve, copyPoint, MOST_ON_CURVE, type Crowd } from './curve.js'

/** Fewer tickets than this are searched for one by one. */
export const CROWD = 500
/** Tickets that take part at once. */
export const MOST_IN_BULK = MOST_ON_CURVE
/** The most that a pair may cost: in each pass along the curve, the caps of one choice after the other. */
const PAIR_CAPS = [
  [0.3, 0.6],
  [0.6, 1],
  [1, 1],
  [1.5, 1.5],
]
/** A crowd of no more than this has no last pass: whoever is left of it is paired with care. */
const MANY = 5000
/** The neighbours on the curve that a ticket is compared with. */
const WINDOW = 8
/** Of several pairs at one price, neighbours two by two are the cheapest. */
const TIE = 1e-9
/** The most that a match may cost: a run of tickets across all of it, in each pass; others the mean of their pairs. */
const RUN_CAPS = [0.75, 1.25, 2, 2]
const TEAM_CAP = 1
/** A run is chosen among so many neighbours on the curve, per player. */
const RUN = 2
/** The candidates of a match are chosen among so many neighbours on the curve, per player. */
const NEIGHBOURS = 4
/** Players of a kind are rare if there are matches for less than this part of a crowd. */
const RARE = 4
/** Tickets that are compared between two pauses. */
const AT_ONCE = 2048
// In place of the number of a partner.
const NOBODY = -1
const MATCHED = -2
const UNFIT = -3

export interface BulkInput<Facts> extends Parts<Facts> {
  readonly draft: Draft<Facts>
  readonly search: Search<Facts>
  readonly state: RoundState
  /** Players of a full match. */
  readonly players: number
  /** Whether a match is any two tickets that may meet. */
  readonly isPairs: boolean
  /** The team of each player where all are single. */
  readonly singles: readonly number[]
  /** The most matches that there are players of all needed kinds for. */
  mostMatches(): number
  /** Whether the tickets have different keys. */
  hasManyKeys(): boolean
}

/**
 * Matches tickets that lie beside each other on a space-filling curve, the nearest of all in the first passes. Leaves
 * out tickets without a place or a value where there are limits. Matches are made; the others are left as they were.
 */
export function createBulk<Facts>(input: BulkInput<Facts>) {
  const { model, columns, compare, levels, draft, search, state, budget } = input
  const { players, isPairs, singles, mostMatches, hasManyKeys } = input
  const { radius, spans, checks, patience } = model
  const isLimited = (limits: Float64Array | undefined) =>
    limits?.some((limit) => limit > 0 && limit < Infinity) === true
  const byPlace = compare.perChord > 0 && isLimited(radius?.squared)
  const byValue = (compare.perSpan[0] ?? 0) > 0 && isLimited(spans[0]?.limit)
  const isPlain =
    !isPairs &&
    draft.isPairwise &&
    spans.length <= 1 &&
    patience === undefined &&
    (radius === undefined || compare.perChord > 0) &&
    compare.perSpan[0] !== 0 &&
    (checks?.pair ?? checks?.part ?? checks?.whole ?? checks?.counts ?? checks?.unevenness ?? checks?.quotas?.[0]) ===
      undefined
  /** By the number of a ticket in the crowd: its partner, and what that pair costs. */
  let partner = new Int32Array(0)
  let least = new Float64Array(0)
  /** By slot: 1 for a single player of one value. */
  let isSingle = new Uint8Array(0)
  const run = new Int32Array(players)
  // The strictest limits, in units of cost.
  const mostChord = Math.sqrt(radius?.squared[0] ?? Infinity) * compare.perChord
  const mostGap = (spans[0]?.limit[0] ?? Infinity) * (compare.perSpan[0] ?? 1)

  /** Those of these tickets that can be compared along the curve, and where they are. */
  const crowdOf = (slots: Int32Array): Crowd => {
    const { rows, stride, size, capacity } = columns
    if (isSingle.length < capacity) isSingle = new Uint8Array(capacity)
    const fitting = new Int32Array(slots.length)
    const points = new Float64Array(4 * slots.length)
    const { perChord } = compare
    const perValue = compare.perSpan[0] as number
    let count = 0
    for (const slot of slots) {
      const row = slot * stride
      const isOfOneValue = spans.length === 0 || rows[row + VALUES] === rows[row + VALUES + 1]
      isSingle[slot] = isOfOneValue && size[slot] === 1 ? 1 : 0
      if (byPlace && Number.isNaN(rows[row + X] as number)) continue
      if (byValue && Math.abs(rows[row + VALUES] as number) === Infinity) continue
      if (isPairs && size[slot] !== 1) continue
      if (byPlace) {
        points[4 * count] = (rows[row + X] as number) * perChord
        points[4 * count + 1] = (rows[row + Y] as number) * perChord
        points[4 * count + 2] = (rows[row + Z] as number) * perChord
      }
      if (byValue) points[4 * count + 3] = (rows[row + VALUES] as number) * perValue
      fitting[count++] = slot
    }
    return { slots: fitting.subarray(0, count), points }
  }

  /** Those of a crowd that are not marked as matched, in the same memory. */
  const unmatched = ({ slots, points }: Crowd): Crowd => {
    let count = 0
    for (let at = 0; at < slots.length; at++) {
      if (partner[at] === MATCHED) continue
      slots[count] = slots[at] as Slot
      copyPoint(points, at, points, count++)
    }
    return { slots: slots.subarray(0, count), points }
  }

  /** Nobody of a crowd has a partner yet. */
  const clear = (count: number, cap: number) => {
    if (partner.length < count) {
      partner = new Int32Array(count)
      least = new Float64Array(count)
    }
    partner.fill(NOBODY, 0, count)
    least.fill(cap, 0, count)
  }

  /** Finds the nearest neighbour of each ticket on the curve. */
  const nameNearest = (points: Float64Array, from: number, to: number, count: number) => {
    for (let at = from; at < to; at++) {
      const x = points[4 * at] as number
      const y = points[4 * at + 1] as number
      const z = points[4 * at + 2] as number
      const value = points[4 * at + 3] as number
      let mine = least[at] as number
      for (let next = at + 1, end = Math.min(count, at + 1 + WINDOW); next < end; next++) {
        const dx = x - (points[4 * next] as number)
        const dy = y - (points[4 * next + 1] as number)
        const dz = z - (points[4 * next + 2] as number)
        const gap = Math.abs(value - (points[4 * next + 3] as number))
        const cost = gap + Math.sqrt(dx * dx + dy * dy + dz * dz) + TIE * (at ^ next)
        if (cost < mine) {
          mine = cost
          partner[at] = next
        }
        if (cost < (least[next] as number)) {
          least[next] = cost
          partner[next] = at
        }
      }
      least[at] = mine
    }
  }

  /** Pairs those that are each other's nearest, for no more than the cap; returns who is left. */
  function* pairOff(crowd: Crowd, cap: number): Pausable<Crowd> {
    const { slots, points } = crowd
    const count = slots.length
    clear(count, cap)
    for (let from = 0; from < count; from += AT_ONCE) {
      nameNearest(points, from, Math.min(count, from + AT_ONCE), count)
      budget.chargeTime(AT_ONCE / 16)
      if (budget.isPauseDue()) yield budget.pause()
    }
    for (let at = 0; at < count; at++) {
      const named = partner[at] as number
      if (named <= at || partner[named] !== at) continue
      const [one, other] = [slots[at] as Slot, slots[named] as Slot]
      if (!isFree(columns, one) || !isFree(columns, other) || !draft.isPair(one, other)) continue
      const since = Math.min(columns.sinceOf(one), columns.sinceOf(other))
      if (levels.isHeldBack(least[at] as number, since)) continue
      state.group(undefined, { slots: [one, other], teams: singles })
      partner[at] = partner[named] = MATCHED
      budget.chargeTime(1 / 8)
      if (budget.isPauseDue()) yield budget.pause()
    }
    return unmatched(crowd)
  }

  /** Pairs a crowd off, the cheapest pairs in the first passes. */
  function* pairs(crowd: Crowd): Pausable<void> {
    const passes = crowd.slots.length > MANY ? PAIR_CAPS : PAIR_CAPS.slice(0, -1)
    let left = crowd
    for (const [pass, caps] of passes.entries()) {
      if (left.slots.length < CROWD) return
      left = yield* alongCurve(left, pass, byPlace)
      for (const cap of caps) left = yield* pairOff(left, cap)
    }
  }

  /**
   * Chooses single players from a place on the curve on, the next who may all meet at the strictest level, for no more
   * than the cap. Returns how many there are.
   */
  const chooseRun = (points: Float64Array, count: number, from: number, cap: number): number => {
    let [lowX, lowY, lowZ, low] = [Infinity, Infinity, Infinity, Infinity]
    let [highX, highY, highZ, high] = [-Infinity, -Infinity, -Infinity, -Infinity]
    let many = 0
    const end = Math.min(count, from + RUN * players)
    for (let at = from; many < players && end - at >= players - many; at++) {
      const value = points[4 * at + 3] as number
      const gap = Math.max(high, value) - Math.min(low, value)
      if (!(gap <= mostGap && gap <= cap) || partner[at] !== NOBODY) continue
      const x = points[4 * at] as number
      const y = points[4 * at + 1] as number
      const z = points[4 * at + 2] as number
      const dx = Math.max(highX, x) - Math.min(lowX, x)
      const dy = Math.max(highY, y) - Math.min(lowY, y)
      const dz = Math.max(highZ, z) - Math.min(lowZ, z)
      const chord = Math.sqrt(dx * dx + dy * dy + dz * dz)
      if (!(chord <= mostChord && chord + gap <= cap)) continue
      lowX = Math.min(lowX, x)
      lowY = Math.min(lowY, y)
      lowZ = Math.min(lowZ, z)
      low = Math.min(low, value)
      highX = Math.max(highX, x)
      highY = Math.max(highY, y)
      highZ = Math.max(highZ, z)
      high = Math.max(high, value)
      run[many++] = at
    }
    return many
  }

  /** Makes matches of single players who lie near each other on the curve; returns who is left. */
  function* chooseRuns(crowd: Crowd, cap: number): Pausable<Crowd> {
    const { slots, points } = crowd
    clear(slots.length, cap)
    for (let at = 0; at < slots.length; at++) if (isSingle[slots[at] as Slot] === 0) partner[at] = UNFIT
    for (let at = 0; at + players <= slots.length; at++) {
      if (budget.isPauseDue()) yield budget.pause()
      if (partner[at] !== NOBODY) continue
      const many = chooseRun(points, slots.length, at, cap)
      budget.chargeTime(1 / 8)
      if (many < players) continue
      const members = Array.from(run, (member) => slots[member] as Slot)
      if (members.every((slot) => isFree(columns, slot))) state.group(undefined, { slots: members, teams: singles })
      // Also those who have left meanwhile.
      for (const member of run) if (!isFree(columns, slots[member] as Slot)) partner[member] = MATCHED
    }
    return unmatched(crowd)
  }

  /** Makes matches of single players, the cheapest in the first passes; returns who is left, parties too. */
  function* runs(crowd: Crowd): Pausable<Crowd> {
    let left = crowd
    for (const [pass, cap] of RUN_CAPS.entries()) {
      if (left.slots.length < CROWD) break
      left = yield* chooseRuns(yield* alongCurve(left, pass, byPlace), cap)
    }
    return left
  }

  /** Makes matches of tickets and of candidates that follow them on the curve. */
  function* teams(crowd: Crowd): Pausable<void> {
    if (crowd.slots.length < CROWD) return
    const { slots: sorted } = yield* alongCurve(crowd, RUN_CAPS.length, byPlace)
    const among = new Int32Array(NEIGHBOURS * players)
    for (let at = 0; at < sorted.length; at++) {
      if (budget.isPauseDue()) yield budget.pause()
      if (state.isOver()) return
      const anchor = sorted[at] as Slot
      if (!isFree(columns, anchor)) continue
      let many = 0
      let missing = players - (columns.size[anchor] as number)
      const end = Math.min(sorted.length, at + 1 + among.length)
      for (let next = at + 1; next < end; next++) {
        const slot = sorted[next] as Slot
        if (!isFree(columns, slot) || (draft.isPairwise && !draft.mayMeet(anchor, slot))) continue
        among[many++] = slot
        missing -= columns.size[slot] as number
      }
      budget.chargeTime(many / 16)
      if (missing > 0) continue
      const { tries, spent } = budget
      const { rejected } = search
      const found = yield* search.around(anchor, { among: among.subarray(0, many), mostCost: TEAM_CAP })
      if (found !== undefined) state.group(undefined, found)
      // Among so few candidates only checks of whole matches take long.
      else if (search.rejected > rejected) state.failed(tries, spent)
    }
  }

  /** Parts whose tickets have one key each. */
  const byKey = (slots: Int32Array): readonly Int32Array[] => {
    if (!hasManyKeys()) return [slots]
    const parts = new Map<number, Slot[]>()
    for (const slot of slots) {
      const key = columns.keyOf(slot)
      const known = parts.get(key)
      if (known === undefined) parts.set(key, [slot])
      else known.push(slot)
    }
    return Array.from(parts.values(), (part) => Int32Array.from(part))
  }

  /** Up to `MOST_IN_BULK` tickets; less than a crowd stays as it is. */
  return function* bulk(slots: Int32Array): Pausable<void> {
    // Where a kind of player is rare, hardly any ticket has one beside it.
    if (slots.length < CROWD || mostMatches() * players * RARE < slots.length) return
    for (const some of byKey(slots)) {
      const crowd = crowdOf(some)
      if (isPairs) yield* pairs(crowd)
      else {
        const left = isPlain ? yield* runs(crowd) : crowd
        if (!isPlain || left.slots.some((slot) => columns.size[slot] !== 1)) yield* teams(left)
      }
    }
  }
}
