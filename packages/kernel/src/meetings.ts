// pure: which tickets of a round may be matched with each other
import type { Columns } from './columns.js'
import type { Cost } from './cost.js'
import { grown } from './growing.js'
import type { Slot } from './model.js'
import { isOlder } from './order.js'

const NOBODY = -1

/** Pairs of tickets that may be matched: for each ticket a list of those it has met. */
export class Meetings {
  readonly #columns: Columns
  readonly #cost: Cost
  /** For each slot one more than its last meeting; 0 for none. */
  #last = new Int32Array(0)
  /** For each meeting the other ticket, and one more than the meeting before it of the same slot. */
  #other = new Int32Array(64)
  #before = new Int32Array(64)
  #count = 0

  constructor(columns: Columns, cost: Cost) {
    this.#columns = columns
    this.#cost = cost
  }

  clear(): void {
    // Each meeting is in the list of its neighbour's other ticket.
    for (let at = 0; at < this.#count; at++) this.#last[this.#other[at] as Slot] = 0
    this.#count = 0
  }

  /** Notes that two tickets may be matched. */
  add(one: Slot, other: Slot): void {
    this.#note(one, other)
    this.#note(other, one)
  }

  /** The best of those that a ticket has met and that are free: the nearest and most alike, the oldest of several. */
  bestOf(slot: Slot, free: (slot: Slot) => boolean): Slot | undefined {
    let best = NOBODY
    let least = Infinity
    for (let at = this.#last[slot] ?? 0; at !== 0; at = this.#before[at - 1] as number) {
      const other = this.#other[at - 1] as Slot
      if (!free(other)) continue
      const cost = this.#cost(slot, other)
      if (cost > least || (cost === least && best !== NOBODY && !isOlder(this.#columns, other, best))) continue
      best = other
      least = cost
    }
    return best === NOBODY ? undefined : best
  }

  #note(slot: Slot, other: Slot): void {
    if (slot >= this.#last.length) this.#last = grown(this.#last, this.#columns.born.length)
    if (this.#count === this.#other.length) {
      this.#other = grown(this.#other, 2 * this.#count)
      this.#before = grown(this.#before, 2 * this.#count)
    }
    this.#other[this.#count] = other
    this.#before[this.#count] = this.#last[slot] as number
    this.#last[slot] = ++this.#count
  }
}
