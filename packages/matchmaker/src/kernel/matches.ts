// pure: the matches of a round, each put in order when somebody looks
import type { Columns } from './columns.js'
import type { Grouped, Matches, Slot } from './model.js'
import { isOlder } from './order.js'

/** The teams of a match in which it is all the same who is in which. */
export type TeamsOf = (slots: readonly Slot[]) => readonly number[]

/** Matches that are not told yet: from `start` to `end`, of so many tickets each. */
export interface Untold {
  readonly slots: Int32Array
  readonly start: number
  readonly end: number
  readonly tickets: number
}

/** Nothing is made for a match before it is read: for a million tickets that would take as long as finding them all. */
export function matchesOf(columns: Columns, batches: readonly (Grouped | Untold)[], teamsOf: TeamsOf): Matches {
  return {
    length: batches.reduce((sum, batch) => sum + ('start' in batch ? (batch.end - batch.start) / batch.tickets : 1), 0),
    *[Symbol.iterator]() {
      for (const batch of batches) {
        if (!('start' in batch)) yield batch
        else for (let at = batch.start; at < batch.end; at += batch.tickets) yield told(columns, batch, at, teamsOf)
      }
    },
  }
}

/** By insertion: they are few, and it makes nothing but the list. */
function told(columns: Columns, { slots: all, tickets }: Untold, first: number, teamsOf: TeamsOf): Grouped {
  const slots = new Array<Slot>(tickets)
  for (let each = 0; each < tickets; each++) {
    const slot = all[first + each] as Slot
    let to = each
    for (; to > 0 && isOlder(columns, slot, slots[to - 1] as Slot); to--) slots[to] = slots[to - 1] as Slot
    slots[to] = slot
  }
  return { opening: undefined, slots, teams: teamsOf(slots) }
}
