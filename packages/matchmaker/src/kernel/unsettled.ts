// pure: the tickets that the next round looks at
import type { Columns } from './columns.js'
import { grown } from './growing.js'
import type { Slot } from './model.js'

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
  /** How many were taken once the list has been read. */
  #lastRead = 0
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

  /** Begins to read the list: all that are listed now are to be taken. */
  beginReading(): void {
    this.#lastRead = this.#taken + this.count
  }

  /**
   * Takes the first `many` off the list, and writes to `into` those that were not listed anew, further back. Returns
   * how many these are.
   */
  take(many: number, into: Int32Array): number {
    const slots = this.#slots
    const listed = this.#listed
    let taken = this.#taken
    let still = 0
    for (const end = taken + many; taken < end;) {
      const slot = slots[taken & (slots.length - 1)] as Slot
      taken += 1
      if (listed[slot] !== taken) continue
      listed[slot] = 0
      into[still++] = slot
    }
    this.#taken = taken
    this.count -= many
    this.#outdated -= many - still
    return still
  }

  /**
   * In a queue that makes no rounds, tickets may come and go in the same slots again and again. What is being read
   * stays where it is: those listed again meanwhile would be read twice.
   */
  #makeRoom(): void {
    if (2 * this.#outdated < this.count || this.#taken < this.#lastRead) return this.#grow()
    const slots = new Int32Array(this.count)
    const still = this.take(this.count, slots)
    for (let at = 0; at < still; at++) this.add(slots[at] as Slot)
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
