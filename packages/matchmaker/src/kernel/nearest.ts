// pure: those nearest to a ticket, whether they may meet or not
import type { Cost } from './cost.js'
import type { Slot } from './model.js'
import type { Neighbours } from './neighbours.js'

/** Slots read at one scale, for each that is wanted: in a crowd the nearest of so many, not of all. */
const READ_EACH = 32

/** @param counts whether another ticket is to be among them: lists hold such of other keys too. */
export function nearest(
  slot: Slot,
  most: number,
  neighbours: Neighbours,
  cost: Cost,
  counts: (other: Slot) => boolean,
): Slot[] {
  const into = new Int32Array(READ_EACH * most)
  const found = new Set<Slot>()
  for (let scale = 0; scale < neighbours.scales.length && found.size <= most; scale++) {
    const read = neighbours.near(slot, scale, into, 0)
    for (let at = 0; at < read; at++) if (counts(into[at] as Slot)) found.add(into[at] as Slot)
  }
  found.delete(slot)
  return [...found]
    .map((other) => ({ other, cost: cost(slot, other) }))
    .toSorted((one, another) => one.cost - another.cost || one.other - another.other)
    .slice(0, most)
    .map(({ other }) => other)
}
