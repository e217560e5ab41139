// pure: points by chance
import type { Random } from '@muster/core/clock'
import type { Point } from './space.js'

/** Points that spread evenly over each axis. */
export function latinHypercube(count: number, axes: number, random: Random): Point[] {
  const columns = Array.from({ length: axes }, () => shuffled(Math.max(0, count), random))
  return Array.from({ length: Math.max(0, count) }, (_, row) =>
    columns.map((column) => ((column[row] ?? 0) + random()) / count),
  )
}

function shuffled(count: number, random: Random): number[] {
  const order = Array.from({ length: count }, (_, index) => index)
  for (let last = count - 1; last > 0; last -= 1) {
    const at = Math.floor(random() * (last + 1))
    ;[order[last], order[at]] = [order[at] as number, order[last] as number]
  }
  return order
}
