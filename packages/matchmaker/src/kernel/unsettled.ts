// pure: the tickets that the next round looks at
import type { Columns } from './columns.js'
import { grown } from './growing.js'
import type { Slot } from './model.js'

/**
 * All slots of tickets that have not settled, the first listed first: a round costs by what has changed, not by what
 * stands. Slots that have settled or become free since may be among them.
 */
export class Unsettled {
  count = 0
  readonly #columns: Columns
  /** A ring: its length is a power of two. */
  #slots = new Int32Array(64)
  #first = 0
  /** For each slot whether it is listed. */
  #isListed = new Uint8Array(0)

  constructor(columns: Columns) {
    this.#columns = columns
  }

  /** Lists a slot, at the end, unless it is listed. */
  add(slot: Slot): void {
    if (slot >= this.#isListed.length) this.#isListed = grown(this.#isListed, this.#columns.standing.length)
    if (this.#isListed[slot] === 1) return
    this.#isListed[slot] = 1
    if (this.count === this.#slots.length) this.#grow()
    this.#slots[(this.#first + this.count) & (this.#slots.length - 1)] = slot
    this.count += 1
  }

  /** Takes the first slot off the list. */
  take(): Slot {
    const slot = this.#slots[this.#first] as Slot
    this.#first = (this.#first + 1) & (this.#slots.length - 1)
    this.count -= 1
    this.#isListed[slot] = 0
    return slot
  }

  #grow(): void {
    const before = this.#slots.length
    this.#slots = grown(this.#slots, 2 * before)
    // What lay before the first slot comes after the last one.
    this.#slots.copyWithin(before, 0, this.#first)
  }
}
