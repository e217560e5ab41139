// pure: whether two tickets are too far apart to be matched, by numbers alone
import { KEY, VALUES, X, Y, Z, type Columns } from './columns.js'
import type { Levels } from './levels.js'
import type { Model, Slot } from './model.js'

/** Whether no match can hold both tickets. False tells nothing: another rule may still keep them apart. */
export type TooFarApart = (one: Slot, other: Slot) => boolean

/** Whether the limits between two members of a match depend on the two alone: on the one that has relaxed less. */
export const comparesTwo = ({ radius, spans, lastResortLevel }: Model<never>): boolean =>
  lastResortLevel === Infinity && [radius, ...spans].every((rule) => rule === undefined || rule.by === 'each')

/** Creates a quick test, for the many pairs of tickets that have nothing to do with each other. */
export function createTooFarApart(model: Model<never>, columns: Columns, levels: Levels): TooFarApart {
  const { radius, spans } = model
  if (!comparesTwo(model)) return () => false
  const limits = spans.map(({ limit }) => limit)

  return (one, other) => {
    const { rows, stride } = columns
    const a = one * stride
    const b = other * stride
    if (rows[a + KEY] !== rows[b + KEY]) return true
    const level = Math.min(levels.of(one), levels.of(other))
    for (let span = 0; span < limits.length; span++) {
      const value = VALUES + 2 * span
      const least = Math.min(rows[a + value] as number, rows[b + value] as number)
      const greatest = Math.max(rows[a + value + 1] as number, rows[b + value + 1] as number)
      if (greatest - least > ((limits[span] as Float64Array)[level] as number)) return true
    }
    if (radius === undefined) return false
    const dx = (rows[a + X] as number) - (rows[b + X] as number)
    const dy = (rows[a + Y] as number) - (rows[b + Y] as number)
    const dz = (rows[a + Z] as number) - (rows[b + Z] as number)
    // Where a place is unknown, the square is NaN, and greater than nothing.
    return dx * dx + dy * dy + dz * dz > (radius.squared[level] as number)
  }
}
