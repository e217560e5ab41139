// pure: those nearest to a ticket, whether they may meet or not
import type { Cost } from './cost.js'
import type { Slot } from './model.js'
import type { Neighbours } from './neighbours.js'

/** Slots read at one scale, for each that is wanted: in a crowd the nearest of so many, not of all. */
const READ_EACH = 32

export function nearest(slot: Slot, most: number, neighbours: Neighbours, cost: Cost): Slot[] {
  const into = new Int32Array(READ_EACH * most)
  const found = new Set<Slot>()
  for (let scale = 0; scale < neighbours.scales.length && found.size <= most; scale++) {
    const read = neighbours.near(slot, scale, into)
    for (let at = 0; at < read; at++) found.add(into[at] as Slot)
  }
  found.delete(slot)
  return [...found]
    .map((other) => ({ other, cost: cost(slot, other) }))
    .toSorted((one, another) => one.cost - another.cost || one.other - another.other)
    .slice(0, most)
    .map(({ other }) => other)
}
