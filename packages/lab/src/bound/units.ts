// pure: the units in which the cost of a match is counted
import { describeQueue, type Queue } from '@muster/matchmaker'
import type { BoundUnit } from './bound.js'

const COUNTED: ReadonlySet<string> = new Set(['distance', 'difference', 'latency'])

/**
 * The strictest limit of each rule about distance, difference or latency that is above 0. Rules within other rules do
 * not count, nor does a latency rule about differences alone.
 */
export function unitsOf(queue: Queue): BoundUnit[] {
  const { curves } = describeQueue(queue)
  return queue.rules.flatMap(({ name, kind }): BoundUnit[] => {
    if (!COUNTED.has(kind)) return []
    const curve = curves.find(({ rule }) => rule === name)
    const limit = curve?.points.find((point) => point.limit !== null && point.limit > 0)?.limit
    return curve === undefined || limit === undefined || limit === null ? [] : [{ rule: name, limit, unit: curve.unit }]
  })
}
