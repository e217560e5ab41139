// pure: the tickets that the next round looks at
import type { Columns } from './columns.js'
import { grown } from './growing.js'
import type { Slot } from './model.js'

/** Taken in place of a slot that was listed anew, further back. */
export const OUTDATED: Slot = -1

/**
 * All slots of tickets that have not settled, the first listed first: a round costs by what has changed, not by what
 * stands. Slots that have settled or become free since may be among them.
 */
export class Unsettled {
  /** How many are to be taken. */
  count = 0
  readonly #columns: Columns
  /** A ring: its length is a power of two. */
  #slots = new Int32Array(64)
  /** How many were taken so far. */
  #taken = 0
  /** For each slot how many had been listed with it; 0 if it is not listed. */
  #listed = new Float64Array(0)
  /** How many of those to be taken were listed anew. */
  #outdated = 0

  constructor(columns: Columns) {
    this.#columns = columns
  }

  /** Lists a slot, at the end, unless it is listed. */
  add(slot: Slot): void {
    if (slot >= this.#listed.length || this.#listed[slot] === 0) this.addNew(slot)
  }

  /**
   * Lists a slot with a new ticket, at the end even if it is still listed for the one before: so the new tickets of a
   * round are in the order in which they came, and need not be sorted.
   */
  addNew(slot: Slot): void {
    if (slot >= this.#listed.length) this.#listed = grown(this.#listed, this.#columns.standing.length)
    if (this.#listed[slot] !== 0) this.#outdated += 1
    if (this.count === this.#slots.length) this.#makeRoom()
    this.#slots[(this.#taken + this.count) & (this.#slots.length - 1)] = slot
    this.count += 1
    this.#listed[slot] = this.#taken + this.count
  }

  /** Takes the first slot off the list, or `OUTDATED`. */
  take(): Slot {
    const slot = this.#slots[this.#taken & (this.#slots.length - 1)] as Slot
    this.#taken += 1
    this.count -= 1
    if (this.#listed[slot] !== this.#taken) {
      this.#outdated -= 1
      return OUTDATED
    }
    this.#listed[slot] = 0
    return slot
  }

  /** In a queue that makes no rounds, tickets may come and go in the same slots again and again. */
  #makeRoom(): void {
    if (2 * this.#outdated < this.count) return this.#grow()
    for (let left = this.count; left > 0; left--) {
      const slot = this.take()
      if (slot !== OUTDATED) this.add(slot)
    }
  }

  /** Slots stay at their number modulo the length: those of one half stay, and the others move up by that length. */
  #grow(): void {
    const before = this.#slots.length
    const first = this.#taken & (before - 1)
    const isUpper = (this.#taken & before) !== 0
    this.#slots = grown(this.#slots, 2 * before)
    if (isUpper) this.#slots.copyWithin(before + first, first, before)
    else this.#slots.copyWithin(before, 0, first)
  }
}
