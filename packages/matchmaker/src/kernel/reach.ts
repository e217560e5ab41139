// pure: how far around a slot whoever it may meet can be
import type { Columns } from './columns.js'
import type { Levels } from './levels.js'
import type { Model, Slot } from './model.js'
import { covers, searchScales } from './scales.js'

/** The first scale at which everyone a ticket or opening may meet now is near. */
export type Reach = (slot: Slot) => number

export function createReach(model: Model<never>, columns: Columns, levels: Levels): Reach {
  const { radius, spans, lastResortLevel } = model
  const scales = searchScales(model)
  const everyone = scales.length - 1
  const scaleAt = Array.from(model.levels, (_, level) => scales.findIndex((scale) => covers(model, scale, level)))
  /** Whether who is older may decide how far a match reaches. */
  const olderDecides = [radius, ...spans].some((rule) => rule?.by === 'oldest' || rule?.by === 'average')

  return (slot) => {
    const level = levels.of(slot)
    const goesAnywhere = radius?.unknown === 'any' && Number.isNaN(columns.x[slot] as number)
    const goesWithAny = spans.length > 0 && columns.values[2 * spans.length * slot] === Infinity
    if (goesAnywhere || goesWithAny) return everyone
    if (level >= lastResortLevel) return scaleAt[lastResortLevel] as number
    return scaleAt[olderDecides ? model.levels.length - 1 : level] as number
  }
}
