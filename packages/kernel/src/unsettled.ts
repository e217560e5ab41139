// pure: the tickets that the next round looks at
import { SETTLED, type Columns } from './columns.js'
import { grown } from './growing.js'
import type { Slot } from './model.js'

/**
 * All slots of tickets that have not settled, the first listed first: a round costs by what has changed, not by what
 * stands. Slots that have settled or become free since may be among them.
 */
export class Unsettled {
  /** Entries of the list. Of a slot that was listed anew, only the last one counts. */
  count = 0
  readonly #columns: Columns
  #slots = new Int32Array(64)
  /** For each slot where its entry ends; 0 if it is not listed. */
  #listed = new Int32Array(0)
  /** How many entries are of slots that were listed anew. */
  #outdated = 0
  // While the list is read: entries that were read and stay are before `#kept`, and those to be read from `#next` to
  // `#end`.
  #kept = 0
  #next = 0
  #end = 0

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
    this.#slots[this.count++] = slot
    this.#listed[slot] = this.count
  }

  /** Begins to read all that are listed now. Returns how many entries these are. */
  beginReading(): number {
    this.#close()
    this.#end = this.count
    return this.count
  }

  /**
   * Reads the next `many` entries. Takes those off the list that have settled or become free; writes the others to
   * `into`, and returns how many these are.
   */
  read(many: number, into: Int32Array): number {
    const { born, size, standing } = this.#columns
    const slots = this.#slots
    const listed = this.#listed
    const until = Math.min(this.#next + many, this.#end)
    let kept = this.#kept
    let still = 0
    for (let at = this.#next; at < until; at++) {
      const slot = slots[at] as Slot
      if (listed[slot] !== at + 1) {
        this.#outdated -= 1
        continue
      }
      if (born[slot] === 0 || size[slot] === 0 || standing[slot] === SETTLED) {
        listed[slot] = 0
        continue
      }
      if (kept !== at) {
        slots[kept] = slot
        listed[slot] = kept + 1
      }
      kept += 1
      into[still++] = slot
    }
    this.#kept = kept
    this.#next = until
    if (until === this.#end) this.#close()
    return still
  }

  /** Ends the reading. */
  #close(): void {
    if (this.#kept < this.#next) this.#move(this.#next, this.#kept)
    this.#kept = 0
    this.#next = 0
    this.#end = 0
  }

  /**
   * In a queue that makes no rounds, tickets may come and go in the same slots again and again. What is being read
   * stays where it is.
   */
  #makeRoom(): void {
    if (this.#end === 0 && 2 * this.#outdated >= this.count) this.#move(0, 0)
    else this.#slots = grown(this.#slots, 2 * this.count)
  }

  /** Moves the entries from `from` on to `to`, less those of slots that were listed anew. */
  #move(from: number, to: number): void {
    const slots = this.#slots
    const listed = this.#listed
    let end = to
    for (let at = from; at < this.count; at++) {
      const slot = slots[at] as Slot
      if (listed[slot] !== at + 1) continue
      slots[end++] = slot
      listed[slot] = end
    }
    this.#outdated -= this.count - from - (end - to)
    this.count = end
  }
}
