// pure: a curve through places and values along which tickets near one another are mostly neighbours
import type { Columns } from './columns.js'
import type { Model, Slot } from './model.js'
import { units } from './scales.js'

/**
 * The Z-order curve (Morton code) through latitude, longitude and the value of the first difference rule: the bits of
 * the three, each in parts of its strictest limit, take turns in the sort key. So both limits count alike, and in a
 * dense crowd neighbours are closer than in a sparse one, without any choice of cells.
 */
export interface Curve {
  /** Number of lower bits in which the keys differ at most. */
  readonly bits: number
  /**
   * Writes the sort keys of those of the first `count` slots that have one player and, if places matter, a place.
   * Returns how many.
   * @param shift how far the curve is moved, in limits: tickets that it separates by chance are then together.
   * @param items the slot of each key.
   */
  write(slots: Int32Array, count: number, shift: number, keys: Uint32Array, items: Int32Array): number
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
const VALUES: Resolution = { placeBits: 0, valueBits: 26, parts: 4096 }
const NEITHER: Resolution = { placeBits: 0, valueBits: 0, parts: 1 }

/** Moves along the three axes per shift of 1: without a common measure, so that no two shifts are alike. */
const NORTH = 1.37
const EAST = 2.61
const UP = 0.83

export function createCurve(model: Model<never>, columns: Columns): Curve {
  const { chord, width } = units(model)
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
  const perRadian = parts / chord
  const perTurn = 2 * Math.PI * perRadian
  const perValue = parts / width

  return {
    bits: 2 * placeBits + valueBits,
    write: (slots, count, shift, keys, items) => {
      const { coarse, size } = columns
      const [north, east, up] = [NORTH * shift * parts, EAST * shift * parts, UP * shift * parts]
      let taking = 0
      for (let at = 0; at < count; at++) {
        const slot = slots[at] as Slot
        if (size[slot] !== 1) continue
        const value = Math.floor((coarse[4 * slot + 2] as number) * perValue + up) & valueMask
        let key = values === undefined ? value : (values[value] as number)
        if (places) {
          const latitude = coarse[4 * slot] as number
          if (Number.isNaN(latitude)) continue
          key |= latitudes[((latitude * perRadian + north) | 0) & placeMask] as number
          key |= longitudes[(((coarse[4 * slot + 1] as number) * perTurn + east) | 0) & placeMask] as number
        }
        keys[taking] = key
        items[taking++] = slot
      }
      return taking
    },
  }
}

function resolutionOf({ radius, spans }: Model<never>): Resolution {
  if (radius !== undefined) return spans.length > 0 ? BOTH : PLACES
  return spans.length > 0 ? VALUES : NEITHER
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
