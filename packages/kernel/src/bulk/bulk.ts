// pure: many matches at once, for a crowd that comes together
import type { Pausable } from '../data/budget.js'
import { isFree, VALUES, X, Y, Z } from '../data/columns.js'
import type { Slot } from '../data/model.js'
import type { Parts } from '../data/parts.js'
import type { RoundState } from '../round/state.js'
import type { Draft } from '../search/draft.js'
import type { Search } from '../search/search.js'
import { alongCurve, MOST_ON_CURVE, type CurveAxes } from './curve.js'

/** Fewer tickets than this are searched for one by one. */
export const CROWD = 500
/** Tickets that take part at once. */
export const MOST_IN_BULK = MOST_ON_CURVE
/** The most that a pair may cost in each pass, and the neighbours on the curve that a ticket is compared with. */
const PAIR_CAPS = [0.3, 0.6, 1, 1, 1, 1]
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
const AT_ONCE = 2048

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
}

/**
 * Matches tickets that lie beside each other on a space-filling curve, the nearest of all in the first passes. Leaves
 * out tickets without a place or a value where there are limits. Matches are made; the others are left as they were.
 */
export function createBulk<Facts>(input: BulkInput<Facts>) {
  const { model, columns, compare, levels, draft, search, state, budget } = input
  const { players, isPairs, singles, mostMatches } = input
  const { radius, spans, checks, patience } = model
  const isLimited = (limits: Float64Array | undefined) =>
    limits?.some((limit) => limit > 0 && limit < Infinity) === true
  const axes: CurveAxes = {
    byPlace: compare.perChord > 0 && isLimited(radius?.squared),
    byValue: (compare.perSpan[0] ?? 0) > 0 && isLimited(spans[0]?.limit),
  }
  const isPlain =
    !isPairs &&
    draft.isPairwise &&
    spans.length <= 1 &&
    patience === undefined &&
    (radius === undefined || compare.perChord > 0) &&
    compare.perSpan[0] !== 0 &&
    (checks?.pair ?? checks?.part ?? checks?.whole ?? checks?.unevenness ?? checks?.quotas?.[0]) === undefined
  /** What a ticket is compared by, in units of cost, along the curve. */
  let rows = new Float64Array(0)
  let least = new Float64Array(0)
  let partner = new Int32Array(0)
  const run = new Int32Array(players)
  // The strictest limits, in units of cost.
  const mostChord = Math.sqrt(radius?.squared[0] ?? Infinity) * compare.perChord
  const mostGap = (spans[0]?.limit[0] ?? Infinity) * (compare.perSpan[0] ?? 1)

  const hasRange = (row: number) => spans.length > 0 && columns.rows[row + VALUES] !== columns.rows[row + VALUES + 1]
  const fillRows = (sorted: Int32Array, cap: number) => {
    const { rows: own, stride, size } = columns
    if (least.length < sorted.length) {
      rows = new Float64Array(4 * sorted.length)
      least = new Float64Array(sorted.length)
      partner = new Int32Array(sorted.length)
    }
    const perChord = axes.byPlace ? compare.perChord : 0
    const perValue = axes.byValue ? (compare.perSpan[0] as number) : 0
    for (let at = 0; at < sorted.length; at++) {
      const row = (sorted[at] as Slot) * stride
      rows[4 * at] = perChord === 0 ? 0 : (own[row + X] as number) * perChord
      rows[4 * at + 1] = perChord === 0 ? 0 : (own[row + Y] as number) * perChord
      rows[4 * at + 2] = perChord === 0 ? 0 : (own[row + Z] as number) * perChord
      rows[4 * at + 3] = perValue === 0 ? 0 : (own[row + VALUES] as number) * perValue
      if (!isPairs && (size[sorted[at] as Slot] !== 1 || hasRange(row))) rows[4 * at + 3] = Number.NaN
      least[at] = cap
      partner[at] = -1
    }
  }

  /** Finds the nearest neighbour of each ticket on the curve. */
  const nameNearest = (from: number, to: number, count: number) => {
    for (let at = from; at < to; at++) {
      const x = rows[4 * at] as number
      const y = rows[4 * at + 1] as number
      const z = rows[4 * at + 2] as number
      const value = rows[4 * at + 3] as number
      let mine = least[at] as number
      for (let next = at + 1, end = Math.min(count, at + 1 + WINDOW); next < end; next++) {
        const dx = x - (rows[4 * next] as number)
        const dy = y - (rows[4 * next + 1] as number)
        const dz = z - (rows[4 * next + 2] as number)
        const gap = Math.abs(value - (rows[4 * next + 3] as number))
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

  /** Pairs those that are each other's nearest. */
  function* pairs(slots: Int32Array): Pausable<void> {
    let left = slots
    for (let pass = 0; pass < PAIR_CAPS.length && left.length >= CROWD; pass++) {
      const sorted = yield* alongCurve(left, pass, columns, compare, axes)
      const count = sorted.length
      fillRows(sorted, PAIR_CAPS[pass] as number)
      for (let from = 0; from < count; from += AT_ONCE) {
        nameNearest(from, Math.min(count, from + AT_ONCE), count)
        budget.chargeTime(AT_ONCE / 16)
        if (budget.isPauseDue()) yield budget.pause()
      }
      for (let at = 0; at < count; at++) {
        const named = partner[at] as number
        if (named <= at || partner[named] !== at) continue
        const [one, other] = [sorted[at] as Slot, sorted[named] as Slot]
        if (!isFree(columns, one) || !isFree(columns, other) || !draft.isPair(one, other)) continue
        const since = Math.min(columns.sinceOf(one), columns.sinceOf(other))
        if (levels.isHeldBack(least[at] as number, since)) continue
        state.group(undefined, { slots: [one, other], teams: singles })
        budget.chargeTime(1 / 8)
        if (budget.isPauseDue()) yield budget.pause()
      }
      left = sorted.filter((slot) => isFree(columns, slot))
    }
  }

  /**
   * Chooses single players from a place on the curve on, the next who may all meet at the strictest level, for no more
   * than the cap. Returns how many there are.
   */
  const chooseRun = (sorted: Int32Array, from: number, cap: number): number => {
    let [lowX, lowY, lowZ, low] = [Infinity, Infinity, Infinity, Infinity]
    let [highX, highY, highZ, high] = [-Infinity, -Infinity, -Infinity, -Infinity]
    let many = 0
    const end = Math.min(sorted.length, from + RUN * players)
    for (let at = from; many < players && end - at >= players - many; at++) {
      const value = rows[4 * at + 3] as number
      const gap = Math.max(high, value) - Math.min(low, value)
      // Not a number for parties, and for ranges of values.
      if (!(gap <= mostGap && gap <= cap) || !isFree(columns, sorted[at] as Slot)) continue
      const x = rows[4 * at] as number
      const y = rows[4 * at + 1] as number
      const z = rows[4 * at + 2] as number
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
      run[many++] = sorted[at] as Slot
    }
    return many
  }

  /**
   * Makes matches of single players that lie near each other on the curve, all of whom may meet at the strictest level;
   * returns who is left.
   */
  function* runs(slots: Int32Array): Pausable<Int32Array> {
    let left = slots
    for (const [pass, cap] of RUN_CAPS.entries()) {
      if (left.length < CROWD) break
      const sorted = yield* alongCurve(left, pass, columns, compare, axes)
      fillRows(sorted, cap)
      for (let at = 0; at + players <= sorted.length; at++) {
        if (budget.isPauseDue()) yield budget.pause()
        if (!isFree(columns, sorted[at] as Slot)) continue
        const many = chooseRun(sorted, at, cap)
        budget.chargeTime(1 / 8)
        if (many === players) state.group(undefined, { slots: [...run], teams: singles })
      }
      left = sorted.filter((slot) => isFree(columns, slot))
    }
    return left
  }

  /** Makes matches of tickets and of candidates that follow them on the curve. */
  function* teams(slots: Int32Array): Pausable<void> {
    if (slots.length < CROWD) return
    const sorted = yield* alongCurve(slots, RUN_CAPS.length, columns, compare, axes)
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

  const isComparable = (slot: Slot): boolean => {
    const row = slot * columns.stride
    if (axes.byPlace && Number.isNaN(columns.rows[row + X] as number)) return false
    return !axes.byValue || Math.abs(columns.rows[row + VALUES] as number) < Infinity
  }

  /** Parts whose tickets have one key each. */
  const byKey = (slots: Int32Array): Iterable<Int32Array> => {
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
    if (mostMatches() * players * RARE < slots.length) return
    const first = slots.length > 0 ? columns.keyOf(slots[0] as Slot) : 0
    const fitting = slots.filter((slot) => isComparable(slot) && !(isPairs && columns.size[slot] !== 1))
    const isOne = fitting.every((slot) => columns.keyOf(slot) === first)
    for (const some of isOne ? [fitting] : byKey(fitting)) {
      const left = isPlain ? yield* runs(some) : some
      if (isPairs) yield* pairs(some)
      else if (!isPlain || left.some((slot) => columns.size[slot] !== 1)) yield* teams(left)
    }
  }
}
