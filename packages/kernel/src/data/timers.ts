// pure: when each slot is to be looked at again
import type { Columns } from './columns.js'
import type { Slot } from './model.js'

const SECOND = 1000

/**
 * Slots by the second in which they are due. A slot may be in several seconds; whoever takes one looks whether the
 * reason still holds.
 */
export class Timers {
  readonly #columns: Columns
  readonly #slotsOf = new Map<number, Slot[]>()
  /** For each slot the earliest time that it was set for; Infinity if it is not set. */
  #dueOf = new Float64Array(0)

  constructor(columns: Columns) {
    this.#columns = columns
  }

  /** @param due epoch milliseconds; Infinity: never. */
  set(slot: Slot, due: number): void {
    if (slot >= this.#dueOf.length) {
      const dueOf = new Float64Array(this.#columns.capacity).fill(Infinity)
      dueOf.set(this.#dueOf)
      this.#dueOf = dueOf
    }
    if ((this.#dueOf[slot] as number) <= due) return
    this.#dueOf[slot] = due
    this.#put(slot, Math.floor(due / SECOND))
  }

  /** Takes out the slots that are due. */
  takeDue(now: number): readonly Slot[] {
    const taken: Slot[] = []
    const begun = Array.from(this.#slotsOf).filter(([second]) => second * SECOND <= now)
    for (const [second, slots] of begun) {
      this.#slotsOf.delete(second)
      for (const slot of slots) {
        const due = this.#dueOf[slot] as number
        if (due <= now) {
          this.#dueOf[slot] = Infinity
          taken.push(slot)
        } else if (Math.floor(due / SECOND) === second) this.#put(slot, second)
      }
    }
    return taken
  }

  #put(slot: Slot, second: number): void {
    const slots = this.#slotsOf.get(second)
    if (slots === undefined) this.#slotsOf.set(second, [slot])
    else slots.push(slot)
  }
}
