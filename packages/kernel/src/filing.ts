// pure: adds waiting tickets to the index when a round needs it
import { FRESH, type Columns } from './columns.js'
import { grown } from './growing.js'
import type { Slot } from './model.js'
import type { Neighbours } from './neighbours.js'
import { joined } from './order.js'
import { filtered } from './slices.js'

/** Tickets added to the index between two pauses. */
const AT_ONCE = 128
/** Those out of date are dropped when the noted tickets have doubled, and are this many more. */
const TIDY = 4096
const NOBODY = new Int32Array(0)

export interface FilingInput {
  readonly columns: Columns
  /** The index of tickets. */
  readonly neighbours: Neighbours
  /** Whether the ticket is in the round and has no match yet. */
  free(slot: Slot): boolean
  /** Whether a ticket or opening has left the pool since the round began. */
  disturbed(): boolean
  /** Sorts slots into the order in which they are served. */
  inOrder(slots: Int32Array): Generator<number, Int32Array>
}

/**
 * The index tells which tickets are near one of them. Where a round searches for many together it does not read the
 * index, and neither may the next: most tickets of a busy queue are matched before any round does. So a ticket that is
 * to wait is only noted, and is added to the index by the first round that reads it.
 */
export class Filing {
  readonly #input: FilingInput
  /** Those that have left since, or were added in another way, may be among them. */
  #noted = new Int32Array(64)
  #count = 0
  /** How many were noted when those out of date were last dropped. */
  #tidied = 0

  constructor(input: FilingInput) {
    this.#input = input
  }

  /** Notes a ticket that waits, unless it is in the index; openings have an index of their own. */
  note(slot: Slot): void {
    const { columns, neighbours } = this.#input
    if (columns.size[slot] === 0 || neighbours.has(slot)) return
    if (this.#count > 2 * this.#tidied + TIDY) this.#tidy()
    if (this.#count === this.#noted.length) this.#noted = grown(this.#noted, 2 * this.#count)
    this.#noted[this.#count++] = slot
  }

  /** Adds the noted tickets to the index and, of others, those that are not in it. */
  *now(others: Int32Array = NOBODY): Generator<number, void> {
    const { neighbours, disturbed, inOrder } = this.#input
    this.#tidy()
    const noted = this.#noted.slice(0, this.#count)
    const missing = yield* inOrder(joined(noted, yield* filtered(others, (slot) => this.#isMissing(slot))))
    // A ticket may be in both.
    const once = missing.filter((slot, at) => slot !== missing[at - 1])
    for (let from = 0; from < once.length; from += AT_ONCE) {
      const some = once.subarray(from, from + AT_ONCE)
      // In a pause tickets may have left.
      neighbours.insertAll(disturbed() ? some.filter((slot) => this.#isMissing(slot)) : some, once.length - from)
      yield some.length
    }
    // A round may end in a pause, when another begins: until here all are still noted.
    this.#count = 0
  }

  #isMissing(slot: Slot): boolean {
    return this.#input.free(slot) && !this.#input.neighbours.has(slot)
  }

  /** Drops those out of date, and those noted twice. A new ticket in the slot of one that has left has not waited. */
  #tidy(): void {
    const { standing } = this.#input.columns
    const ascending = this.#noted.subarray(0, this.#count).toSorted()
    this.#count = 0
    for (let at = 0; at < ascending.length; at++) {
      const slot = ascending[at] as Slot
      if (slot === ascending[at - 1] || standing[slot] === FRESH || !this.#isMissing(slot)) continue
      this.#noted[this.#count++] = slot
    }
    this.#tidied = this.#count
  }
}
