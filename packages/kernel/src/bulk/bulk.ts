// pure: many matches at once, for a crowd that comes together
import type { Budget, Pausable } from '../data/budget.js'
import { isFree, KEY, VALUES, X, Y, Z, type Columns } from '../data/columns.js'
import type { Compare } from '../data/compare.js'
import type { Model, Slot } from '../data/model.js'
import type { Draft } from '../search/draft.js'
import type { Found, Search } from '../search/search.js'
import { alongCurve, MOST_ON_CURVE, type CurveAxes } from './curve.js'

/** Fewer tickets than this are searched for one by one. */
export const CROWD = 500
/** The most that a pair may cost in each pass, and the neighbours on the curve that a ticket is compared with. */
const PAIR_CAPS = [0.3, 0.6, 1, 1, 1, 1]
const WINDOW = 8
/** The most that a match may cost: a run of tickets across all of it, in each pass; others the mean of their pairs. */
const RUN_CAPS = [0.75, 1.25, 2, 2]
const TEAM_CAP = 1
/** The passes over runs end once one matches less than this part. */
const WORTH = 1 / 8
/** Candidates of a match, per player, and neighbours on the curve that are looked at for them. */
const CANDIDATES = 4
const NEIGHBOURS = 20
/** Players of a kind are rare if there are matches for less than this part of a crowd. */
const RARE = 4
const AT_ONCE = 2048

export interface BulkInput<Facts> {
  readonly model: Model<Facts>
  readonly columns: Columns
  readonly compare: Compare
  readonly draft: Draft<Facts>
  readonly search: Search<Facts>
  readonly budget: Budget
  /** Players of a full match. */
  readonly players: number
  /** Whether a match is any two tickets that may meet. */
  readonly isPairs: boolean
  /** Whether no more tries are left in this round. */
  isOver(): boolean
  /** A search has led to no match. @param tries of the budget before it. @param spent likewise. */
  failed(tries: number, spent: number): void
  /** The most matches that there are players of all needed kinds for. */
  mostMatches(): number
  readonly group: (found: Found) => void
}

/**
 * Matches tickets that lie beside each other on a space-filling curve, the nearest of all in the first passes. Leaves
 * out tickets without a place or a value where there are limits. Matches are made; the others are left as they were.
 */
export function createBulk<Facts>(input: BulkInput<Facts>) {
  const { model, columns, compare, draft, search, budget, players, isPairs, isOver, failed, mostMatches, group } = input
  const { radius, spans, checks } = model
  const limited = (limits: Float64Array | undefined) => limits?.some((limit) => limit > 0 && limit < Infinity) === true
  const axes: CurveAxes = { byPlace: limited(radius?.squared), byValue: limited(spans[0]?.limit) }
  const isPlain =
    draft.isPairwise &&
    spans.length <= 1 &&
    checks?.pair === undefined &&
    checks?.part === undefined &&
    checks?.whole === undefined &&
    checks?.unevenness === undefined &&
    (checks?.quotas ?? []).length === 0
  const singles = model.teams.flatMap(({ max }, team) => new Array<number>(max).fill(team))
  /** What a ticket is compared by, in units of cost, along the curve. */
  let rows = new Float64Array(0)
  let least = new Float64Array(0)
  let partner = new Int32Array(0)

  const mayPair = (one: Slot, other: Slot): boolean => {
    if (draft.isPairwise) return draft.mayMeet(one, other)
    if (!draft.begin(one) || !draft.admits(other)) return false
    draft.push(other)
    return draft.isSound()
  }
  const groupPair = (one: Slot, other: Slot) => group({ slots: [one, other], teams: singles })

  const fillRows = (sorted: Int32Array, cap: number, from: number, to: number) => {
    const { rows: own, stride } = columns
    for (let at = from; at < to; at++) {
      const row = (sorted[at] as Slot) * stride
      rows[4 * at] = axes.byPlace ? (own[row + X] as number) / compare.chordUnit : 0
      rows[4 * at + 1] = axes.byPlace ? (own[row + Y] as number) / compare.chordUnit : 0
      rows[4 * at + 2] = axes.byPlace ? (own[row + Z] as number) / compare.chordUnit : 0
      rows[4 * at + 3] = axes.byValue ? (own[row + VALUES] as number) / compare.spanUnit : 0
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
        const cost = gap + Math.sqrt(dx * dx + dy * dy + dz * dz)
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

  /** The neighbour that no other is nearer to, on either side; of several, the first that is free. −1: none. */
  const partnerOf = (sorted: Int32Array, at: number): number => {
    const one = sorted[at] as Slot
    const named = partner[at] as number
    if (named === -1) return -1
    const isMatch = (other: number) => isFree(columns, sorted[other] as Slot) && mayPair(one, sorted[other] as Slot)
    if (named > at && partner[named] === at && isMatch(named)) return named
    const cost = least[at] as number
    for (let next = at + 1, end = Math.min(sorted.length, at + 1 + WINDOW); next < end; next++)
      if (least[next] === cost && costOf(at, next) === cost && isMatch(next)) return next
    return -1
  }

  const costOf = (at: number, other: number): number => {
    const by = (axis: number) => (rows[4 * at + axis] as number) - (rows[4 * other + axis] as number)
    return Math.abs(by(3)) + Math.sqrt(by(0) ** 2 + by(1) ** 2 + by(2) ** 2)
  }

  /** Pairs those that are each other's nearest. */
  function* pairs(slots: Int32Array): Pausable<void> {
    let left = slots
    for (let pass = 0; pass < PAIR_CAPS.length && left.length >= CROWD; pass++) {
      const sorted = yield* alongCurve(left, pass, columns, compare, axes)
      const count = sorted.length
      if (least.length < count) {
        rows = new Float64Array(4 * count)
        least = new Float64Array(count)
        partner = new Int32Array(count)
      }
      for (let from = 0; from < count; from += AT_ONCE)
        fillRows(sorted, PAIR_CAPS[pass] as number, from, Math.min(count, from + AT_ONCE))
      for (let from = 0; from < count; from += AT_ONCE) {
        nameNearest(from, Math.min(count, from + AT_ONCE), count)
        budget.chargeTime(AT_ONCE / 16)
        if (budget.isPauseDue()) yield budget.pause()
      }
      for (let at = 0; at < count; at++) {
        const one = sorted[at] as Slot
        const other = isFree(columns, one) ? partnerOf(sorted, at) : -1
        if (other === -1) continue
        groupPair(one, sorted[other] as Slot)
        budget.chargeTime(1 / 8)
        if (budget.isPauseDue()) yield budget.pause()
      }
      left = sorted.filter((slot) => isFree(columns, slot))
    }
  }

  /** Whether a run of single players is so close together that all may meet at the strictest level. */
  const isClose = (sorted: Int32Array, from: number, cap: number): boolean => {
    const { size } = columns
    for (let at = from; at < from + players; at++) {
      const slot = sorted[at] as Slot
      if (size[slot] !== 1 || !isFree(columns, slot)) return false
    }
    const gap = axes.byValue ? across(sorted, from, VALUES, VALUES + 1) : 0
    if (gap / compare.spanUnit > cap || (spans.length > 0 && gap > (spans[0]?.limit[0] as number))) return false
    if (!axes.byPlace) return true
    const square =
      across(sorted, from, X, X) ** 2 + across(sorted, from, Y, Y) ** 2 + across(sorted, from, Z, Z) ** 2
    if (radius !== undefined && square > (radius.squared[0] as number)) return false
    return Math.sqrt(square) / compare.chordUnit + gap / compare.spanUnit <= cap
  }

  /** How far the tickets of a run are apart in one column, or from the least of one to the most of another. */
  const across = (sorted: Int32Array, from: number, lowColumn: number, highColumn: number): number => {
    const { rows: own, stride } = columns
    let [low, high] = [Infinity, -Infinity]
    for (let at = from; at < from + players; at++) {
      const row = (sorted[at] as Slot) * stride
      low = Math.min(low, own[row + lowColumn] as number)
      high = Math.max(high, own[row + highColumn] as number)
    }
    return high - low
  }

  /** Makes matches of single players that follow each other on the curve. */
  function* runs(slots: Int32Array): Pausable<Int32Array> {
    let left = slots
    for (const [pass, cap] of RUN_CAPS.entries()) {
      if (left.length < CROWD) break
      const sorted = yield* alongCurve(left, pass, columns, compare, axes)
      for (let at = 0; at + players <= sorted.length;) {
        budget.chargeTime(1 / 16)
        if (budget.isPauseDue()) yield budget.pause()
        const isRun = isClose(sorted, at, cap)
        if (isRun) group({ slots: [...sorted.subarray(at, at + players)], teams: singles })
        at += isRun ? players : 1
      }
      const before = left.length
      left = sorted.filter((slot) => isFree(columns, slot))
      if (before - left.length < WORTH * before) break
    }
    return left
  }

  /** Makes matches of tickets and of candidates that follow them on the curve. */
  function* teams(slots: Int32Array): Pausable<void> {
    if (slots.length < CROWD) return
    const sorted = yield* alongCurve(slots, RUN_CAPS.length, columns, compare, axes)
    const among = new Int32Array(CANDIDATES * players)
    for (let at = 0; at < sorted.length; at++) {
      if (budget.isPauseDue()) yield budget.pause()
      if (isOver()) return
      const anchor = sorted[at] as Slot
      if (!isFree(columns, anchor)) continue
      let many = 0
      const end = Math.min(sorted.length, at + 1 + NEIGHBOURS * players)
      for (let next = at + 1; next < end && many < among.length; next++) {
        const slot = sorted[next] as Slot
        if (isFree(columns, slot) && (!draft.isPairwise || draft.mayMeet(anchor, slot))) among[many++] = slot
      }
      const { tries, spent } = budget
      const { rejected } = search
      const found = yield* search.around(anchor, { among: among.subarray(0, many), mostCost: TEAM_CAP })
      if (found !== undefined) group(found)
      // Among so few candidates only checks of whole matches take long.
      else if (search.rejected > rejected) failed(tries, spent)
    }
  }

  const isComparable = (slot: Slot): boolean => {
    const row = slot * columns.stride
    if (axes.byPlace && Number.isNaN(columns.rows[row + X] as number)) return false
    return !axes.byValue || Math.abs(columns.rows[row + VALUES] as number) < Infinity
  }

  const keyOf = (slot: Slot) => columns.rows[slot * columns.stride + KEY] as number
  /** Parts whose tickets have one key each. */
  const byKey = (slots: Int32Array): Iterable<Int32Array> => {
    const first = slots.length > 0 ? keyOf(slots[0] as Slot) : 0
    if (slots.every((slot) => keyOf(slot) === first)) return [slots]
    const parts = new Map<number, Slot[]>()
    for (const slot of slots) {
      const known = parts.get(keyOf(slot))
      if (known === undefined) parts.set(keyOf(slot), [slot])
      else known.push(slot)
    }
    return Array.from(parts.values(), (part) => Int32Array.from(part))
  }

  return function* bulk(slots: Int32Array): Pausable<void> {
    // Where a kind of player is rare, hardly any ticket has one beside it.
    if (mostMatches() * players * RARE < slots.length) return
    const left = slots.filter((slot) => isComparable(slot) && !(isPairs && columns.size[slot] !== 1))
    for (const ofKey of byKey(left))
      for (let from = 0; ofKey.length - from >= CROWD; from += MOST_ON_CURVE) {
        const part = ofKey.slice(from, from + MOST_ON_CURVE)
        if (isPairs) yield* pairs(part)
        else yield* teams(isPlain ? yield* runs(part) : part)
      }
  }
}
