// pure: forms matches of a fixed size from tickets that may meet
import type { Candidate, Grouping } from './candidate.js'
import { createField, at } from './field.js'
import type { DistanceStep } from './reach.js'
import { createSearch } from './search.js'

export interface GroupingRules {
  /** Players in a match. */
  readonly matchSize: number
  readonly distance: readonly DistanceStep[]
}

/**
 * Matches of exactly `matchSize` players. Any two tickets of a match lie within the distance that the one
 * which reaches less far allows at its waiting time. Tickets whose place is unknown go with those of the
 * same network only, unless both have come to a step of 'any'.
 *
 * The oldest ticket chooses first, and takes the nearest that fit. That is greedy: now and then a match
 * that could be made is made one tick later.
 */
export function createGrouping({ matchSize, distance }: GroupingRules): Grouping {
  return (pool, now) => {
    const tickets = pool.toSorted(oldestFirst)
    const field = createField(tickets, distance, now)
    const search = createSearch(field, distance, matchSize)
    let waiting = field.size.reduce((sum, size) => sum + size, 0)
    const groups: (typeof tickets)[] = []

    for (let anchor = 0; anchor < field.count && waiting >= matchSize; anchor++) {
      if (at(field.taken, anchor) === 1) continue
      const others = search.companions(anchor)
      if (others === undefined) continue
      const members = [anchor, ...others]
      for (const member of members) field.taken[member] = 1
      waiting -= matchSize
      groups.push(members.map((member) => tickets[member] as (typeof tickets)[number]))
    }
    return groups
  }
}

const oldestFirst = (a: Candidate, b: Candidate) => a.createdAt - b.createdAt || (a.id < b.id ? -1 : 1)
