// pure: the slots of all waiting tickets
import type { Columns } from './columns.js'

export interface TicketSlots {
  all(): Int32Array
}

/** @param count the number of waiting tickets. */
export function createTicketSlots(columns: Columns, count: () => number): TicketSlots {
  return {
    all: () => {
      const slots = new Int32Array(count())
      const { born, size, end } = columns
      for (let slot = 0, at = 0; slot < end; slot++) if (size[slot] !== 0 && born[slot] !== 0) slots[at++] = slot
      return slots
    },
  }
}
