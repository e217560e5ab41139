// pure: what a match costs a ticket at least, whoever else is in it
import { createCompany } from './company.js'
import type { MeetsAt } from './meets-at.js'
import type { Seen, View } from './view.js'

/**
 * The least that the average cost to `seats` other players can be: over all moments, the cost of the cheapest others
 * with whom the ticket could be matched then. Proof that no match costs less: when a match is made, all its members may
 * meet one another, so the others are among those looked at, and no `seats` of these cost less than the cheapest. A
 * party may be cut, which only lowers the bound. Infinity if there were never as many.
 */
export function leastCost({ seen, further }: View, seats: number, meetsAt: MeetsAt): number {
  // Where not all others are known, everybody may be in company with the unknown ones.
  const company = further === Infinity ? createCompany(seen, seats, meetsAt) : undefined
  let least = Infinity
  // Whoever plays together might as well have at the next moment at which somebody comes or leaves, himself included.
  for (const moment of new Set(seen.flatMap(({ from, until }) => [from, until]))) {
    const there = seen.filter(({ from, until }) => from <= moment && moment <= until)
    const bound = costOf(there, seats, further)
    if (bound >= least) continue
    least = Math.min(least, company === undefined ? bound : costOf(company(there, moment), seats, further))
  }
  return least
}

/** The average cost of the cheapest, who come first. */
function costOf(there: readonly Seen[], seats: number, further: number): number {
  let left = seats
  let sum = 0
  for (const { other, cost } of there) {
    const taken = Math.min(left, other.entry.size)
    sum += taken * cost
    left -= taken
    if (left === 0) return sum / seats
  }
  return (sum + left * further) / seats
}
