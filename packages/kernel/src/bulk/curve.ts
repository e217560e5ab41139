// pure: tickets along a space-filling curve
import type { Pausable } from '../data/budget.js'
import type { Compare } from '../data/compare.js'
import { VALUES, X, Y, Z, type Columns } from '../data/columns.js'
import type { Slot } from '../data/model.js'

/** Slots sorted at once: a slot's position takes the lowest 17 bits of its sort key, and its place on the curve 36. */
export const MOST_ON_CURVE = 2 ** 17
const PLACES = 2 ** 36
const PARTS = 256
/** The part that a key is in: its highest bits. */
const PART = (PLACES / PARTS) * MOST_ON_CURVE
/** Cells of the curve per unit of cost, and how far the curve is shifted in each pass. */
const FINE = 20
const SHIFT = 195
/** Slots between two pauses. */
const AT_ONCE = 8192

/** The bits of a number below 32, four places apart. */
const SPREAD = Float64Array.from({ length: 32 }, (_, value) =>
  [0, 1, 2, 3, 4].reduce((sum, bit) => sum + ((value >> bit) & 1) * 16 ** bit, 0),
)

/** What the places on the curve follow. */
export interface CurveAxes {
  readonly byPlace: boolean
  readonly byValue: boolean
}

/**
 * Sorts slots along a Z-curve through place and first value: those near each other on it are near each other, and with
 * another shift in each pass, those whom one curve separates are together on the next.
 */
export function* alongCurve(
  slots: Int32Array,
  pass: number,
  columns: Columns,
  compare: Compare,
  axes: CurveAxes,
): Pausable<Int32Array> {
  const count = slots.length
  const keys = new Float64Array(count)
  const sorted = new Float64Array(count)
  const inOrder = new Int32Array(count)
  const ends = new Int32Array(PARTS + 1)
  for (let from = 0; from < count; from += AT_ONCE) {
    writeKeys(slots, keys, ends, from, Math.min(count, from + AT_ONCE), pass * SHIFT, columns, compare, axes)
    if (from + AT_ONCE < count) yield AT_ONCE / 64
  }
  // By the highest bits first, so that no sort takes long.
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
  for (let at = 0; at < count; at++) inOrder[at] = slots[(sorted[at] as number) % MOST_ON_CURVE] as Slot
  return inOrder
}

/** Writes the sort keys of some slots, and counts them by part: in `ends`, one place further on. */
function writeKeys(
  slots: Int32Array,
  keys: Float64Array,
  ends: Int32Array,
  from: number,
  to: number,
  shift: number,
  { rows, stride }: Columns,
  { perChord, perSpan }: Compare,
  { byPlace, byValue }: CurveAxes,
): void {
  const [ofChord, ofValue] = [FINE * perChord, FINE * (perSpan[0] ?? 0)]
  for (let at = from; at < to; at++) {
    const row = (slots[at] as Slot) * stride
    const d = byValue ? Math.floor((rows[row + VALUES] as number) * ofValue + shift) : 0
    let place = byValue ? ((d % PLACES) + PLACES) % PLACES : at
    if (byPlace) {
      const a = Math.floor((rows[row + X] as number) * ofChord + shift)
      const b = Math.floor((rows[row + Y] as number) * ofChord + shift)
      const c = Math.floor((rows[row + Z] as number) * ofChord + shift)
      place = interleaved(a >> 4, b >> 4, c >> 4, d >> 4) * 65_536 + interleaved(a & 15, b & 15, c & 15, d & 15)
    }
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
