// pure: the slots of all waiting tickets
import type { Columns } from './columns.js'

export interface TicketSlots {
  all(): Int32Array
  /** The same in a buffer that the next call overwrites: only one round runs at a time. */
  ofRound(): Int32Array
}

/** @param count the number of waiting tickets. */
export function createTicketSlots(columns: Columns, count: () => number): TicketSlots {
  let buffer = new Int32Array(0)

  const into = (slots: Int32Array): Int32Array => {
    const { born, size, end } = columns
    for (let slot = 0, at = 0; slot < end; slot++) if (size[slot] !== 0 && born[slot] !== 0) slots[at++] = slot
    return slots
  }
  return {
    all: () => into(new Int32Array(count())),
    ofRound: () => {
      if (buffer.length < count()) buffer = new Int32Array(2 ** Math.ceil(Math.log2(count())))
      return into(buffer.subarray(0, count()))
    },
  }
}
