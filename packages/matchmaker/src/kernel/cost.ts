// pure: how well two tickets fit
import type { Columns } from './columns.js'
import type { Model, Slot } from './model.js'
import { units } from './scales.js'

/** How far two are apart and how much they differ, in the strictest limits; less is better. What is unknown counts 1. */
export type Cost = (one: Slot, other: Slot) => number

export function createCost(model: Model<never>, columns: Columns): Cost {
  const unit = units(model)
  const spans = model.spans.length
  const withPlace = model.radius !== undefined

  return (one, other) => {
    const { x, y, z, values } = columns
    const dx = (x[one] as number) - (x[other] as number)
    const dy = (y[one] as number) - (y[other] as number)
    const dz = (z[one] as number) - (z[other] as number)
    const apart = withPlace ? Math.sqrt(dx * dx + dy * dy + dz * dz) / unit.chord : 0
    const gap = spans === 0 ? 0 : Math.abs((values[2 * spans * one] as number) - (values[2 * spans * other] as number)) / unit.width
    return (Number.isNaN(apart) ? 1 : apart) + (gap < Infinity ? gap : 1)
  }
}
