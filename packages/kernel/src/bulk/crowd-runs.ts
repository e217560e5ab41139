// pure: makes matches of single players of a crowd who are neighbours on the curve
import type { Pausable } from '../data/budget.js'
import { isFree, VALUES } from '../data/columns.js'
import type { Slot } from '../data/model.js'
import { type BulkCrowd, CROWD, type CrowdParts, MATCHED, NOBODY, unmatched } from './crowd.js'
import { alongCurve } from './curve.js'

/** Maximum cost of a whole match in each pass along the curve. */
export const RUN_CAPS = [0.75, 1.25, 2, 2]
/** Number of neighbours on the curve, per player of the match, among which its members are chosen. */
const RUN = 2
/** The mark of a ticket that is not a single player with one value. Other marks: `NOBODY` and `MATCHED`. */
const UNFIT = -3

/** Makes matches of single players who are close to each other on the curve and may all meet at the strictest level. */
export class CrowdRuns<Facts> {
  readonly #parts: CrowdParts<Facts>
  /** The strictest limits of the distance and of the first value, in units of cost. */
  readonly #mostChord: number
  readonly #mostGap: number
  /** By slot: 1 for a single player with one value, otherwise 0. */
  #isSingle = new Uint8Array(0)
  /** The mark of each ticket, by its index in the crowd. */
  #marks = new Int32Array(0)
  /** The tickets chosen last, by index in the crowd. */
  readonly #run: Int32Array

  constructor(parts: CrowdParts<Facts>) {
    const { model, compare, players } = parts
    this.#parts = parts
    this.#mostChord = Math.sqrt(model.radius?.squared[0] ?? Infinity) * (compare.perChord || 1)
    this.#mostGap = (model.spans[0]?.limit[0] ?? Infinity) * (compare.perSpan[0] ?? 1)
    this.#run = new Int32Array(players)
  }

  /**
   * Makes matches of single players, the cheapest in the first passes. Returns the remaining tickets, including
   * parties.
   */
  *match(crowd: BulkCrowd): Pausable<BulkCrowd> {
    this.#findSingles(crowd)
    let left = crowd
    for (const [pass, cap] of RUN_CAPS.entries()) {
      if (left.slots.length < CROWD) break
      left = yield* this.#chooseRuns(yield* alongCurve(left, pass), cap)
    }
    return left
  }

  #findSingles({ slots }: BulkCrowd): void {
    const { model, columns } = this.#parts
    const { rows, stride, size, capacity } = columns
    if (this.#isSingle.length < capacity) this.#isSingle = new Uint8Array(capacity)
    if (this.#marks.length < slots.length) this.#marks = new Int32Array(slots.length)
    for (const slot of slots) {
      const value = slot * stride + VALUES
      const isOfOneValue = model.spans.length === 0 || rows[value] === rows[value + 1]
      this.#isSingle[slot] = isOfOneValue && size[slot] === 1 ? 1 : 0
    }
  }

  /** Makes matches of single players who are close to each other on the curve. Returns the remaining tickets. */
  *#chooseRuns(crowd: BulkCrowd, cap: number): Pausable<BulkCrowd> {
    const { columns, budget, state, players, singles } = this.#parts
    const { slots, points } = crowd
    const marks = this.#marks
    const run = this.#run
    for (let at = 0; at < slots.length; at++) marks[at] = this.#isSingle[slots[at] as Slot] === 0 ? UNFIT : NOBODY
    for (let at = 0; at + players <= slots.length; at++) {
      if (budget.isPauseDue()) yield budget.pause()
      if (marks[at] !== NOBODY) continue
      const many = this.#chooseRun(points, slots.length, at, cap)
      budget.chargeTime(1 / 8)
      if (many < players) continue
      const members = Array.from(run, (chosen) => slots[chosen] as Slot)
      if (members.every((slot) => isFree(columns, slot))) state.group(undefined, { slots: members, teams: singles })
      // Also marks tickets that have left the pool meanwhile.
      for (const chosen of run) if (!isFree(columns, slots[chosen] as Slot)) marks[chosen] = MATCHED
    }
    return unmatched(crowd, marks)
  }

  /**
   * Chooses single players who may all meet at the strictest level: the next ones on the curve, from `from` on. Their
   * match costs at most the cap. Returns their number.
   */
  #chooseRun(points: Float64Array, count: number, from: number, cap: number): number {
    const { players } = this.#parts
    const marks = this.#marks
    const run = this.#run
    const mostGap = this.#mostGap
    const mostChord = this.#mostChord
    let [lowX, lowY, lowZ, low] = [Infinity, Infinity, Infinity, Infinity]
    let [highX, highY, highZ, high] = [-Infinity, -Infinity, -Infinity, -Infinity]
    let many = 0
    const end = Math.min(count, from + RUN * players)
    for (let at = from; many < players && end - at >= players - many; at++) {
      const value = points[4 * at + 3] as number
      const gap = Math.max(high, value) - Math.min(low, value)
      if (!(gap <= mostGap && gap <= cap) || marks[at] !== NOBODY) continue
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
}
