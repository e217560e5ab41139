// pure: the tickets nearest to a ticket, whether they may be matched or not
import type { Cost } from './cost.js'
import type { Slot } from './model.js'
import type { Neighbours } from './neighbours.js'

/** Slots read at one scale per slot wanted: in a crowd the result is the nearest of these, not of all. */
const READ_EACH = 32

/**
 * Finds up to `most` tickets, nearest first. `counts` filters the tickets, because lists also hold tickets of other
 * keys.
 */
export type Nearest = (slot: Slot, most: number, counts: (other: Slot) => boolean) => Slot[]

export function createNearest(neighbours: Neighbours, cost: Cost): Nearest {
  let read = new Int32Array(0)

  return (slot, most, counts) => {
    if (read.length !== READ_EACH * most) read = new Int32Array(READ_EACH * most)
    const slots: Slot[] = []
    const costs: number[] = []

    /** Inserts a slot in order of cost and keeps the best `most`. */
    const keep = (other: Slot) => {
      const price = cost(slot, other)
      let at = slots.length
      while (at > 0 && isBefore(price, other, costs[at - 1] as number, slots[at - 1] as Slot)) at -= 1
      if (at === most) return
      slots.splice(at, 0, other)
      costs.splice(at, 0, price)
      if (slots.length <= most) return
      slots.pop()
      costs.pop()
    }

    neighbours.query.startAround(slot)
    for (let scale = 0; scale < neighbours.scales.length && slots.length < most; scale++) {
      neighbours.query.turnTo(scale, read.length, 0)
      const many = neighbours.query.next(read)
      for (let at = 0; at < many; at++) {
        const other = read[at] as Slot
        if (counts(other)) keep(other)
      }
    }
    return slots
  }
}

const isBefore = (cost: number, slot: Slot, otherCost: number, other: Slot) =>
  cost < otherCost || (cost === otherCost && slot < other)
