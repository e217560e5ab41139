// pure: how far around a slot its possible partners can be
import { VALUES, X, type Columns } from './columns.js'
import type { Levels } from './levels.js'
import type { Model, Slot } from './model.js'
import { covers, olderDecides, searchScales } from './scales.js'

/** Returns the first scale at which every ticket is near that the ticket or opening may be matched with now. */
export type SearchRadius = (slot: Slot) => number

export function createSearchRadius(model: Model<never>, columns: Columns, levels: Levels): SearchRadius {
  const { radius, spans, lastResortLevel } = model
  const scales = searchScales(model)
  const everyone = scales.length - 1
  const scaleAt = Array.from(model.levels, (_, level) => scales.findIndex((scale) => covers(model, scale, level)))
  const older = olderDecides(model)

  return (slot) => {
    const level = levels.of(slot)
    const goesAnywhere = radius?.unknown === 'any' && Number.isNaN(columns.rows[slot * columns.stride + X] as number)
    const goesWithAny = spans.length > 0 && columns.rows[slot * columns.stride + VALUES] === Infinity
    if (goesAnywhere || goesWithAny || level >= lastResortLevel) return everyone
    return scaleAt[older ? model.levels.length - 1 : level] as number
  }
}
