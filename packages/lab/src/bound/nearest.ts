// pure: what a match costs a ticket at least, whoever else is in it
import type { Present } from './presence.js'

/** The nearest players are compared moment by moment: so many times as many as a match takes. */
const AMPLE = 6

/** Another ticket as one of them sees it, while both are there. */
export interface Seen {
  readonly other: Present
  readonly cost: number
  readonly from: number
  readonly until: number
}

/** The tickets that one sees while it is there, the cheapest first. */
export function seenBy(own: Present, others: readonly Present[], costOf: (other: Present) => number): Seen[] {
  return others
    .flatMap((other): Seen[] => {
      const [from, until] = [Math.max(own.from, other.from), Math.min(own.until, other.until)]
      return other === own || from > until ? [] : [{ other, cost: costOf(other), from, until }]
    })
    .toSorted((one, other) => one.cost - other.cost)
}

/**
 * The least that the average cost to `seats` other players can be: over all moments at which the ticket was there, the
 * cost of the cheapest seen then. Proof that no match costs less: when a match is made all its members are there, so
 * the others are among those seen at that moment, and no `seats` of these cost less than the cheapest. A party may be
 * cut, which only lowers the bound. Infinity if there were never as many.
 */
export function leastCost(seen: readonly Seen[], from: number, seats: number): number {
  const nearest = seen.slice(0, AMPLE * seats)
  // Whoever is not among the nearest costs at least as much as the next.
  const further = seen[nearest.length]?.cost ?? Infinity
  let least = Infinity
  // Between two arrivals players only leave, so it is enough to look when somebody comes.
  for (const moment of new Set([from, ...nearest.map((one) => one.from)]))
    least = Math.min(least, costAt(moment, nearest, seats, further))
  return least
}

function costAt(moment: number, nearest: readonly Seen[], seats: number, further: number): number {
  let left = seats
  let sum = 0
  for (const { other, cost, from, until } of nearest) {
    if (from > moment || until < moment) continue
    const taken = Math.min(left, other.entry.size)
    sum += taken * cost
    left -= taken
    if (left === 0) return sum / seats
  }
  return (sum + left * further) / seats
}
