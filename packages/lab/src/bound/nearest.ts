// pure: what a match costs a ticket at least, whoever else is in it
import type { MayMeet } from './may-meet.js'
import type { Present } from './presence.js'

/** The nearest others are compared moment by moment: so many times as many as a match takes. */
const AMPLE = 6

/** Another ticket as one of them sees it, while both are there. */
interface Seen {
  readonly other: Present
  readonly cost: number
}

/** What one ticket sees of those that were there at the same time. */
export interface View {
  readonly own: Present
  readonly others: readonly Present[]
  /** Of each other ticket. */
  readonly costs: Float64Array
}

/**
 * The least that the average cost to `seats` other players can be: over all moments at which the ticket was there, the
 * cost of the cheapest whom it may meet then. Proof that no match costs less: when a match is made all its members are
 * there and may meet, so the others are among those, and no `seats` of these cost less than the cheapest. A party may
 * be cut, which only lowers the bound. Infinity if there were never as many.
 */
export function leastCost(view: View, seats: number, mayMeet: MayMeet): number {
  const { own } = view
  const nearest = nearestOf(view, AMPLE * seats + 1, mayMeet)
  // Whoever is not among the nearest costs at least as much as the next.
  const further = nearest[AMPLE * seats]?.cost ?? Infinity
  nearest.length = Math.min(nearest.length, AMPLE * seats)
  // Between two arrivals others only leave and limits only loosen: who is there at its beginning and may be met at its
  // end includes all who are there and may be met in between.
  const arrivals = [...new Set(nearest.map(({ other }) => Math.max(own.from, other.from))).add(own.from)]
  const moments = [...arrivals.toSorted((one, other) => one - other), own.until]
  let least = Infinity
  for (const [at, until] of moments.slice(1).entries())
    least = Math.min(least, costBetween(moments[at] as number, until, { own, nearest, seats, further, mayMeet }))
  return least
}

interface Choice {
  readonly own: Present
  readonly nearest: readonly Seen[]
  readonly seats: number
  readonly further: number
  readonly mayMeet: MayMeet
}

/** The cost of the cheapest who are there at one moment and may be met until another. */
function costBetween(from: number, until: number, { own, nearest, seats, further, mayMeet }: Choice): number {
  let left = seats
  let sum = 0
  for (const { other, cost } of nearest) {
    if (other.from > from || other.until < from || !mayMeet(own, other, until)) continue
    const taken = Math.min(left, other.entry.size)
    sum += taken * cost
    left -= taken
    if (left === 0) return sum / seats
  }
  return (sum + left * further) / seats
}

/** The cheapest others that the ticket may ever meet, at most so many, in the order of their cost. */
function nearestOf({ own, others, costs }: View, most: number, mayMeet: MayMeet): Seen[] {
  const nearest: Seen[] = []
  for (const [at, other] of others.entries()) {
    const cost = costs[at] as number
    const isFull = nearest.length === most
    if (isFull && cost >= (nearest[most - 1] as Seen).cost) continue
    if (other === own || !mayMeet(own, other)) continue
    if (isFull) nearest.pop()
    let place = nearest.length
    while (place > 0 && (nearest[place - 1] as Seen).cost > cost) place -= 1
    nearest.splice(place, 0, { other, cost })
  }
  return nearest
}
