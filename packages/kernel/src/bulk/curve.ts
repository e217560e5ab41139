// pure: tickets along a space-filling curve
import type { Pausable } from '../data/budget.js'
import { VALUES, X, Y, Z, type Columns } from '../data/columns.js'
import type { Compare } from '../data/compare.js'
import type { Slot } from '../data/model.js'

/** Slots sorted at once: a slot's position takes the lowest 17 bits of its sort key, and its place on the curve 36. */
export const MOST_ON_CURVE = 2 ** 17
const PARTS = 256
/** Cells of the curve per unit of cost, and how far the curve is shifted in each pass. */
const FINE = 20
const SHIFT = 195
/** Slots between two pauses. */
const AT_ONCE = 8192

/** Bits of a number below 32, so many places apart. */
const spread = (apart: number) =>
  Float64Array.from({ length: 32 }, (_, value) =>
    [0, 1, 2, 3, 4].reduce((sum, bit) => sum + ((value >> bit) & 1) * 2 ** (bit * apart), 0),
  )
const BY_THREE = spread(3)
const BY_FOUR = spread(4)

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
  { byPlace, byValue }: CurveAxes,
): Pausable<Int32Array> {
  const count = slots.length
  const keys = new Float64Array(count)
  const shift = pass * SHIFT
  const [perChord, perValue] = [FINE / compare.chordUnit, FINE / compare.spanUnit]
  const most = byPlace ? (byValue ? 2 ** 36 : 2 ** 30) : 2 ** 30
  const part = (most / PARTS) * MOST_ON_CURVE
  const ends = new Int32Array(PARTS + 1)
  for (let from = 0; from < count; from += AT_ONCE) {
    const { rows, stride } = columns
    for (let at = from; at < Math.min(count, from + AT_ONCE); at++) {
      const row = (slots[at] as Slot) * stride
      const value = byValue ? Math.floor((rows[row + VALUES] as number) * perValue + shift) : 0
      let place = 0
      if (!byPlace) place = byValue ? ((value % most) + most) % most : at
      else {
        const a = Math.floor((rows[row + X] as number) * perChord + shift)
        const b = Math.floor((rows[row + Y] as number) * perChord + shift)
        const c = Math.floor((rows[row + Z] as number) * perChord + shift)
        place = byValue ? ofFour(a, b, c, value) : ofThree(a, b, c)
      }
      const key = place * MOST_ON_CURVE + at
      keys[at] = key
      const after = Math.floor(key / part) + 1
      ends[after] = (ends[after] as number) + 1
    }
    if (from + AT_ONCE < count) yield AT_ONCE / 64
  }
  // By the highest bits first, so that no sort takes long.
  for (let at = 1; at <= PARTS; at++) ends[at] = (ends[at] as number) + (ends[at - 1] as number)
  const sorted = new Float64Array(count)
  const next = ends.slice()
  for (let at = 0; at < count; at++) {
    const key = keys[at] as number
    const to = Math.floor(key / part)
    sorted[next[to] as number] = key
    next[to] = (next[to] as number) + 1
  }
  for (let at = 0, since = 0; at < PARTS; at++) {
    const [from, to] = [ends[at] as number, ends[at + 1] as number]
    if (to - from > 1) sorted.subarray(from, to).sort()
    since += to - from
    if (since < AT_ONCE) continue
    yield since / 64
    since = 0
  }
  const inOrder = new Int32Array(count)
  for (let at = 0; at < count; at++) inOrder[at] = slots[(sorted[at] as number) % MOST_ON_CURVE] as Slot
  return inOrder
}

const ofFour = (a: number, b: number, c: number, d: number): number =>
  four(a >> 4, b >> 4, c >> 4, d >> 4) * 65_536 + four(a & 15, b & 15, c & 15, d & 15)

const four = (a: number, b: number, c: number, d: number): number =>
  8 * (BY_FOUR[a & 31] as number) +
  4 * (BY_FOUR[b & 31] as number) +
  2 * (BY_FOUR[c & 31] as number) +
  (BY_FOUR[d & 31] as number)

const ofThree = (a: number, b: number, c: number): number => three(a >> 5, b >> 5, c >> 5) * 32_768 + three(a, b, c)

const three = (a: number, b: number, c: number): number =>
  4 * (BY_THREE[a & 31] as number) + 2 * (BY_THREE[b & 31] as number) + (BY_THREE[c & 31] as number)
