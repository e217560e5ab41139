// pure: the matches of a round, each put in order when it is read
import type { Columns } from './columns.js'
import type { Grouped, Matches, Slot } from './model.js'
import { isOlder } from './order.js'

/** Assigns teams in a match where every assignment is equally good. */
export type TeamsOf = (slots: readonly Slot[]) => readonly number[]

/** A run of matches not yet put in order: members from `start` to `end`, `tickets` to a match. */
export interface Run {
  readonly slots: Int32Array
  readonly start: number
  readonly end: number
  readonly tickets: number
}

/**
 * Objects are created for a match only when it is read: for a million tickets, creating them takes as long as finding
 * all matches.
 */
export function matchesOf(columns: Columns, batches: readonly (Grouped | Run)[], teamsOf: TeamsOf): Matches {
  return {
    length: batches.reduce((sum, batch) => sum + ('start' in batch ? (batch.end - batch.start) / batch.tickets : 1), 0),
    *[Symbol.iterator]() {
      for (const batch of batches) {
        if (!('start' in batch)) yield batch
        else
          for (let at = batch.start; at < batch.end; at += batch.tickets)
            yield groupedOf(columns, batch, at, teamsOf)
      }
    },
  }
}

/** Insertion sort: members are few, and it allocates only the list. */
function groupedOf(columns: Columns, { slots: all, tickets }: Run, first: number, teamsOf: TeamsOf): Grouped {
  const slots = new Array<Slot>(tickets)
  for (let each = 0; each < tickets; each++) {
    const slot = all[first + each] as Slot
    let to = each
    for (; to > 0 && isOlder(columns, slot, slots[to - 1] as Slot); to--) slots[to] = slots[to - 1] as Slot
    slots[to] = slot
  }
  return { opening: undefined, slots, teams: teamsOf(slots) }
}
