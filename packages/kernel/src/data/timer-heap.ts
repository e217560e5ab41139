// pure: a timer heap
import type { Columns } from './columns.js'
import { grown } from './columns.js'
import type { Slot } from './model.js'

/**
 * A binary heap of slots by the times at which they are due. A slot may be in it several times; who takes one looks
 * whether the reason still holds.
 */
export class TimerHeap {
  readonly #columns: Columns
  #dues = new Float64Array(64)
  #slots = new Int32Array(64)
  #count = 0
  /** For each slot the time of its first entry; 0 if it has none. */
  #dueOf = new Float64Array(0)

  constructor(columns: Columns) {
    this.#columns = columns
  }

  /** @param due epoch milliseconds; Infinity: never. */
  set(slot: Slot, due: number): void {
    if (due === Infinity) return
    if (slot >= this.#dueOf.length) this.#dueOf = grown(this.#dueOf, this.#columns.born.length)
    const before = this.#dueOf[slot] as number
    if (before !== 0 && before <= due) return
    this.#dueOf[slot] = due
    if (this.#count === this.#slots.length) {
      this.#dues = grown(this.#dues, 2 * this.#count)
      this.#slots = grown(this.#slots, 2 * this.#count)
    }
    this.#rise(this.#count++, slot, due)
  }

  /** Takes a slot out that is due; undefined if there is none. */
  takeDue(now: number): Slot | undefined {
    if (this.#count === 0 || (this.#dues[0] as number) > now) return undefined
    const slot = this.#slots[0] as Slot
    if (this.#dueOf[slot] === this.#dues[0]) this.#dueOf[slot] = 0
    this.#count -= 1
    this.#sink(this.#slots[this.#count] as Slot, this.#dues[this.#count] as number)
    return slot
  }

  #rise(from: number, slot: Slot, due: number): void {
    let at = from
    while (at > 0) {
      const parent = (at - 1) >> 1
      if ((this.#dues[parent] as number) <= due) break
      this.#put(at, this.#slots[parent] as Slot, this.#dues[parent] as number)
      at = parent
    }
    this.#put(at, slot, due)
  }

  /** Puts a slot in at the top. */
  #sink(slot: Slot, due: number): void {
    const dues = this.#dues
    let at = 0
    for (;;) {
      let child = 2 * at + 1
      if (child >= this.#count) break
      if (child + 1 < this.#count && (dues[child + 1] as number) < (dues[child] as number)) child += 1
      if ((dues[child] as number) >= due) break
      this.#put(at, this.#slots[child] as Slot, dues[child] as number)
      at = child
    }
    this.#put(at, slot, due)
  }

  #put(at: number, slot: Slot, due: number): void {
    this.#slots[at] = slot
    this.#dues[at] = due
  }
}
