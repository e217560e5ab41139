// pure: pairs tickets of a crowd that are neighbours on the curve
import type { Pausable } from '../data/budget.js'
import { isFree } from '../data/columns.js'
import type { Slot } from '../data/model.js'
import { type BulkCrowd, CROWD, type CrowdParts, MATCHED, NOBODY, unmatched } from './crowd.js'
import { alongCurve } from './curve.js'

/**
 * Maximum costs of a pair. For each inner list, the crowd is sorted along a shifted curve, then paired once for each
 * cost.
 */
const PAIR_CAPS = [
  [0.3, 0.6],
  [0.6, 1],
  [1, 1],
  [1.5, 1.5],
]
/**
 * A crowd of up to this many tickets skips the last list of `PAIR_CAPS`: its remaining tickets are paired later, with
 * more care.
 */
const MANY = 5000
/** Number of following tickets on the curve that a ticket is compared with. */
const WINDOW = 8
/** Weight of the distance along the curve, so that of equally cheap pairs the adjacent tickets are paired. */
const TIE = 1e-9
/** Number of tickets compared between two pauses. */
const AT_ONCE = 2048

/** Pairs two tickets if each is the nearest of the other's neighbours on the curve. */
export class CrowdPairs<Facts> {
  readonly #parts: CrowdParts<Facts>
  /** The partner of each ticket and the cost of that pair, by the ticket's index in the crowd. */
  #partner = new Int32Array(0)
  #least = new Float64Array(0)

  constructor(parts: CrowdParts<Facts>) {
    this.#parts = parts
  }

  /** Pairs the tickets of a crowd, the cheapest pairs in the first passes. */
  *match(crowd: BulkCrowd): Pausable<void> {
    const passes = crowd.slots.length > MANY ? PAIR_CAPS : PAIR_CAPS.slice(0, -1)
    let left = crowd
    for (const [pass, caps] of passes.entries()) {
      if (left.slots.length < CROWD) return
      left = yield* alongCurve(left, pass)
      for (const cap of caps) left = yield* this.#pairOff(left, cap)
    }
  }

  /** Pairs tickets that are each other's nearest and cost at most the cap. Returns the remaining tickets. */
  *#pairOff(crowd: BulkCrowd, cap: number): Pausable<BulkCrowd> {
    const { columns, budget, draft, levels, state, singles } = this.#parts
    const { slots, points } = crowd
    const count = slots.length
    this.#clear(count, cap)
    const partner = this.#partner
    const least = this.#least
    for (let from = 0; from < count; from += AT_ONCE) {
      this.#nameNearest(points, from, Math.min(count, from + AT_ONCE), count)
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
    return unmatched(crowd, partner)
  }

  /** Resets the state: no ticket has a partner yet. */
  #clear(count: number, cap: number): void {
    if (this.#partner.length < count) {
      this.#partner = new Int32Array(count)
      this.#least = new Float64Array(count)
    }
    this.#partner.fill(NOBODY, 0, count)
    this.#least.fill(cap, 0, count)
  }

  /** Finds the cheapest partner of each ticket, below the cap, among its neighbours on the space-filling curve. */
  #nameNearest(points: Float64Array, from: number, to: number, count: number): void {
    const partner = this.#partner
    const least = this.#least
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
}
