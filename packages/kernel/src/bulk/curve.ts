// pure: sorts a crowd of tickets along a space-filling curve
import type { Pausable } from '../data/budget.js'
import { copyPoint, type BulkCrowd } from './crowd.js'

/**
 * Maximum number of tickets sorted at once. The lowest 17 bits of a sort key are the ticket's index, the next 36 its
 * position on the curve.
 */
export const MOST_ON_CURVE = 2 ** 17
const PLACES = 2 ** 36
const PARTS = 256
/** A sort key divided by this is the number of its part, i.e. its highest bits. */
const PART = (PLACES / PARTS) * MOST_ON_CURVE
/** Number of cells of the curve per unit of cost, and by how many cells each pass shifts the curve. */
const FINE = 20
const SHIFT = 195
/** Number of tickets between two pauses. */
const AT_ONCE = 8192

/** The bits of each number below 32, spread four positions apart. */
const SPREAD = Float64Array.from({ length: 32 }, (_, value) =>
  [0, 1, 2, 3, 4].reduce((sum, bit) => sum + ((value >> bit) & 1) * 16 ** bit, 0),
)

/**
 * Sorts a crowd along a Z-curve through location and first value, or by value alone. Tickets close to each other on the
 * curve are close in fact. Each pass shifts the curve, so that tickets separated in one pass are together in the next.
 */
export function* alongCurve({ slots, points, byPlace }: BulkCrowd, pass: number): Pausable<BulkCrowd> {
  const count = slots.length
  const keys = new Float64Array(count)
  const sorted = new Float64Array(count)
  const ends = new Int32Array(PARTS + 1)
  const inOrder: BulkCrowd = { slots: new Int32Array(count), points: new Float64Array(4 * count), byPlace }
  for (let from = 0; from < count; from += AT_ONCE) {
    const to = Math.min(count, from + AT_ONCE)
    writeKeys(points, keys, ends, from, to, pass * SHIFT, byPlace)
    if (to < count) yield AT_ONCE / 64
  }
  // Sorts by the highest bits first, so that no single sort takes long.
  for (let at = 1; at <= PARTS; at++) ends[at] = (ends[at] as number) + (ends[at - 1] as number)
  distribute(keys, sorted, ends.slice())
  for (let at = 0, since = 0; at < PARTS; at++) {
    const [from, to] = [ends[at] as number, ends[at + 1] as number]
    if (to - from > 1) sorted.subarray(from, to).sort()
    since += to - from
    if (since < AT_ONCE) continue
    yield since / 64
    since = 0
  }
  for (let at = 0; at < count; at++) {
    const from = (sorted[at] as number) % MOST_ON_CURVE
    inOrder.slots[at] = slots[from] as number
    copyPoint(points, from, inOrder.points, at)
  }
  return inOrder
}

/** Writes the sort keys of some tickets and counts them by part. `ends` holds each count at the next index. */
function writeKeys(
  points: Float64Array,
  keys: Float64Array,
  ends: Int32Array,
  from: number,
  to: number,
  shift: number,
  byPlace: boolean,
): void {
  for (let at = from; at < to; at++) {
    const value = Math.floor((points[4 * at + 3] as number) * FINE + shift)
    // A value close to the largest number would have no place on the curve.
    const d = Number.isFinite(value) ? value : 0
    let place = 0
    if (byPlace) {
      const a = Math.floor((points[4 * at] as number) * FINE + shift)
      const b = Math.floor((points[4 * at + 1] as number) * FINE + shift)
      const c = Math.floor((points[4 * at + 2] as number) * FINE + shift)
      place = interleaved(a >> 4, b >> 4, c >> 4, d >> 4) * 65_536 + interleaved(a & 15, b & 15, c & 15, d & 15)
    } else place = ((d % PLACES) + PLACES) % PLACES
    const key = place * MOST_ON_CURVE + at
    keys[at] = key
    const after = Math.floor(key / PART) + 1
    ends[after] = (ends[after] as number) + 1
  }
}

function distribute(keys: Float64Array, into: Float64Array, next: Int32Array): void {
  for (const key of keys) {
    const part = Math.floor(key / PART)
    const to = next[part] as number
    into[to] = key
    next[part] = to + 1
  }
}

const interleaved = (a: number, b: number, c: number, d: number): number =>
  8 * (SPREAD[a & 31] as number) +
  4 * (SPREAD[b & 31] as number) +
  2 * (SPREAD[c & 31] as number) +
  (SPREAD[d & 31] as number)
