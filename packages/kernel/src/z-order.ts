// pure: a curve through places and values along which tickets near one another are mostly neighbours
import type { Model } from './model.js'
import { EAST, KEY, NORTH, RECORD, STEPS, VALUE, type Records } from './pair-records.js'

/**
 * The Z-order curve (Morton code) through latitude, longitude and the value of the first difference rule: the bits of
 * the three, each in parts of its strictest limit, take turns in the sort key. So both limits count alike, and in a
 * dense crowd neighbours are closer than in a sparse one, without any choice of cells.
 */
export interface Curve {
  /**
   * Writes the sort keys of the records from `from` to `until`; returns a number with the bits in which any of these
   * keys differs from that of the first record of all.
   * @param shift how far the curve is moved, in limits: tickets that it separates by chance are then together.
   */
  write(records: Records, from: number, until: number, shift: number): number
}

/**
 * Bits for a place, twice, and for a value, and the parts of a limit that the lowest bit stands for. Beyond its highest
 * bit a coordinate starts again: few places are so far apart, and tickets that only seem near are not matched.
 */
interface Resolution {
  readonly placeBits: number
  readonly valueBits: number
  readonly parts: number
}
const BOTH: Resolution = { placeBits: 10, valueBits: 12, parts: 16 }
const PLACES: Resolution = { placeBits: 13, valueBits: 0, parts: 32 }
const ALONE: Resolution = { placeBits: 0, valueBits: 26, parts: 4096 }
const NEITHER: Resolution = { placeBits: 0, valueBits: 0, parts: 1 }

/** Moves along the three axes per shift of 1: without a common measure, so that no two shifts are alike. */
const NORTHWARDS = 1.37
const EASTWARDS = 2.61
const UPWARDS = 0.83

export function createCurve(model: Model<never>): Curve {
  const places = model.radius !== undefined
  const { placeBits, valueBits, parts } = resolutionOf(model)
  const shared = Math.min(placeBits, valueBits)
  const axes = places ? (valueBits > 0 ? 3 : 2) : 1
  const longitudes = spread(placeBits, axes, 0, placeBits)
  const latitudes = spread(placeBits, axes, 1, placeBits)
  // A value alone is its own key.
  const values = places ? spread(valueBits, axes, 2, shared) : undefined
  const placeMask = (1 << placeBits) - 1
  const valueMask = (1 << valueBits) - 1
  const perStep = parts / STEPS

  return {
    write: ({ integers, floats }, from, until, shift) => {
      const [north, east, up] = [NORTHWARDS * shift * parts, EASTWARDS * shift * parts, UPWARDS * shift * parts]
      let differing = 0
      for (let record = RECORD * from; record < RECORD * until; record += RECORD) {
        const value = Math.floor((floats[record + VALUE] as number) * perStep + up) & valueMask
        let key = values === undefined ? value : (values[value] as number)
        if (places) {
          key |= latitudes[(((floats[record + NORTH] as number) * perStep + north) | 0) & placeMask] as number
          key |= longitudes[(((floats[record + EAST] as number) * perStep + east) | 0) & placeMask] as number
        }
        integers[record + KEY] = key
        differing |= key ^ (integers[KEY] as number)
      }
      return differing
    },
  }
}

function resolutionOf({ radius, spans }: Model<never>): Resolution {
  if (radius !== undefined) return spans.length > 0 ? BOTH : PLACES
  return spans.length > 0 ? ALONE : NEITHER
}

/**
 * For each number of `bits` bits, the number with these bits at every `axes`-th position from `first` on; from bit
 * `shared` on, where no other axis has bits, side by side.
 */
function spread(bits: number, axes: number, first: number, shared: number): Uint32Array {
  const table = new Uint32Array(2 ** bits)
  for (let number = 0; number < table.length; number++) {
    let spaced = 0
    for (let bit = 0; bit < bits; bit++) {
      const position = bit < shared ? axes * bit + first : axes * shared + bit - shared
      if ((number >>> bit) & 1) spaced |= 1 << position
    }
    table[number] = spaced
  }
  return table
}
