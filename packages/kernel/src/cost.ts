// pure: the cost of matching two tickets
import { VALUES, X, Y, Z, type Columns } from './columns.js'
import type { Model, Slot } from './model.js'
import { units } from './scales.js'

/**
 * The distance and the difference (first span) of two tickets, each in units of its strictest limit, added up; less is
 * a better fit. An unknown distance or difference counts 1.
 */
export type Cost = (one: Slot, other: Slot) => number

export function createCost(model: Model<never>, columns: Columns): Cost {
  const unit = units(model)
  const spans = model.spans.length
  const withPlace = model.radius !== undefined

  return (one, other) => {
    const { rows } = columns
    const a = one * columns.stride
    const b = other * columns.stride
    const dx = (rows[a + X] as number) - (rows[b + X] as number)
    const dy = (rows[a + Y] as number) - (rows[b + Y] as number)
    const dz = (rows[a + Z] as number) - (rows[b + Z] as number)
    const apart = withPlace ? Math.sqrt(dx * dx + dy * dy + dz * dz) / unit.chord : 0
    const gap = spans === 0 ? 0 : Math.abs((rows[a + VALUES] as number) - (rows[b + VALUES] as number)) / unit.width
    return (Number.isNaN(apart) ? 1 : apart) + (gap < Infinity ? gap : 1)
  }
}
