// pure: makes many matches at once from a crowd of new tickets
import type { Pausable } from '../data/budget.js'
import { VALUES, X, Y, Z } from '../data/columns.js'
import type { Slot } from '../data/model.js'
import type { Search } from '../search/search.js'
import { type BulkCrowd, CROWD, type CrowdParts } from './crowd.js'
import { CrowdPairs } from './crowd-pairs.js'
import { CrowdRuns } from './crowd-runs.js'
import { matchTeams } from './crowd-teams.js'
import { MOST_ON_CURVE } from './curve.js'

/** Maximum number of tickets that are matched in one bulk, i.e. along one curve. */
export const MOST_IN_BULK = MOST_ON_CURVE
/** A kind of player is rare if it allows matches for less than this fraction (1 / RARE) of the crowd. */
const RARE = 4

export interface BulkInput<Facts> extends CrowdParts<Facts> {
  readonly search: Search<Facts>
  /** True if any two tickets that may meet are a match. */
  readonly isPairs: boolean
  /** Returns the maximum number of matches that the players of all needed kinds allow. */
  mostMatches(): number
  /** True if the tickets have different keys. */
  hasManyKeys(): boolean
}

/**
 * Matches tickets that are close to each other on a space-filling curve, the closest ones in the first passes. It skips
 * tickets without a location or a value that a limit needs. Tickets without a match stay unchanged.
 */
export class Bulk<Facts> {
  readonly #input: BulkInput<Facts>
  readonly #byPlace: boolean
  readonly #byValue: boolean
  readonly #pairs: CrowdPairs<Facts> | undefined
  /** Matches single players. Undefined if `#pairs` is used, or if anything besides limits must be checked. */
  readonly #runs: CrowdRuns<Facts> | undefined

  constructor(input: BulkInput<Facts>) {
    const { model, compare, draft, isPairs } = input
    const { radius, spans, checks, patience } = model
    this.#input = input
    this.#byPlace = compare.perChord > 0 && isLimited(radius?.squared)
    this.#byValue = (compare.perSpan[0] ?? 0) > 0 && isLimited(spans[0]?.limit)
    const isPlain =
      draft.isPairwise &&
      spans.length <= 1 &&
      patience === undefined &&
      (radius === undefined || compare.perChord > 0) &&
      compare.perSpan[0] !== 0 &&
      (checks?.pair ?? checks?.part ?? checks?.whole ?? checks?.counts ?? checks?.unevenness ?? checks?.quotas?.[0]) ===
        undefined
    if (isPairs) this.#pairs = new CrowdPairs(input)
    else if (isPlain) this.#runs = new CrowdRuns(input)
  }

  /** Matches up to `MOST_IN_BULK` tickets. Does nothing with fewer than `CROWD`. */
  *match(slots: Int32Array): Pausable<void> {
    const { columns, search, players, mostMatches } = this.#input
    // If a kind of player is rare, hardly any ticket has one nearby on the curve.
    if (slots.length < CROWD || mostMatches() * players * RARE < slots.length) return
    for (const some of this.#byKey(slots)) {
      const crowd = this.#crowdOf(some)
      if (this.#pairs !== undefined) yield* this.#pairs.match(crowd)
      else if (this.#runs === undefined) yield* matchTeams(this.#input, search, crowd)
      else {
        const left = yield* this.#runs.match(crowd)
        if (left.slots.some((slot) => columns.size[slot] !== 1)) yield* matchTeams(this.#input, search, left)
      }
    }
  }

  /** Splits the tickets by key. */
  #byKey(slots: Int32Array): readonly Int32Array[] {
    const { columns, hasManyKeys } = this.#input
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

  /** Returns the tickets that can be compared along the curve, with their points. */
  #crowdOf(slots: Int32Array): BulkCrowd {
    const { columns, compare, isPairs } = this.#input
    const { rows, stride, size } = columns
    const byPlace = this.#byPlace
    const byValue = this.#byValue
    const fitting = new Int32Array(slots.length)
    const points = new Float64Array(4 * slots.length)
    const { perChord } = compare
    const perValue = compare.perSpan[0] as number
    let count = 0
    for (const slot of slots) {
      const row = slot * stride
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
    return { slots: fitting.subarray(0, count), points, byPlace }
  }
}

const isLimited = (limits: Float64Array | undefined) => limits?.some((limit) => limit < Infinity) === true
