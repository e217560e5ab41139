// pure: what it costs to have two tickets in one match
import { EARTH_RADIUS_KM } from '@muster/core'
import type { CompiledQueue } from '@muster/matchmaker'
import type { BoundUnit } from './bound.js'
import type { Entry } from './presence.js'

/** Of two tickets, from 0 for the same place, values and servers next door. What is not known counts 1. */
export type PairCost = (one: Entry, other: Entry) => number

export function createPairCost({ rules }: CompiledQueue, units: readonly BoundUnit[]): PairCost {
  let spans = 0
  const parts = rules.flatMap((compiled): PairCost[] => {
    const span = compiled.span === undefined ? undefined : spans++
    const unit = units.find(({ rule }) => rule === compiled.rule.name)
    if (unit === undefined) return []
    if (span !== undefined) return [(one, other) => apartBy(one.values, other.values, 2 * span, unit.limit)]
    if (compiled.radius !== undefined) return [(one, other) => kmApart(one, other, unit.limit)]
    const { measure } = compiled
    return measure === undefined
      ? []
      : [(one, other) => (measure(one.facts, other.facts) ?? unit.limit) / unit.limit]
  })
  const [first = () => 0, second] = parts
  if (second === undefined) return first
  if (parts.length === 2) return (one, other) => first(one, other) + second(one, other)
  return (one, other) => parts.reduce((sum, part) => sum + part(one, other), 0)
}

/** The difference that the rule limits, of two tickets with a low and a high value each. */
function apartBy(one: readonly number[], other: readonly number[], low: number, unit: number): number {
  const high = low + 1
  const apart =
    Math.max(one[high] as number, other[high] as number) - Math.min(one[low] as number, other[low] as number)
  return Number.isNaN(apart) ? 1 : apart / unit
}

function kmApart({ place: one }: Entry, { place: other }: Entry, unit: number): number {
  if (one === undefined || other === undefined) return 1
  // Math.hypot takes many times as long.
  const chord = Math.sqrt((one[0] - other[0]) ** 2 + (one[1] - other[1]) ** 2 + (one[2] - other[2]) ** 2)
  return (2 * EARTH_RADIUS_KM * Math.asin(Math.min(1, chord / 2))) / unit
}
