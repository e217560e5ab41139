// pure: whom a ticket could have been matched with, moment by moment
import type { MeetsAt } from './meets-at.js'
import type { Present } from './presence.js'

/** The most others of whom it is looked at which of them may meet each other. */
const MOST_COMPARED = 256

/** Another ticket that one could be matched with for a while. */
export interface Seen {
  readonly other: Present
  readonly cost: number
  readonly from: number
  readonly until: number
}

/** The cheapest others, in the order of their cost. All further ones cost at least `further`. */
export interface View {
  readonly seen: readonly Seen[]
  /** Infinity if there are no further ones. */
  readonly further: number
}

/** @param costs of each of the others. */
export function viewOf(own: Present, others: readonly Present[], costs: Float64Array, meetsAt: MeetsAt): View {
  const most = MOST_COMPARED + 1
  const seen: Seen[] = []
  for (const [at, other] of others.entries()) {
    const cost = costs[at] as number
    const isFull = seen.length === most
    if (other === own || (isFull && cost >= (seen[most - 1] as Seen).cost)) continue
    const from = meetsAt(own, other)
    const until = Math.min(own.until, other.until)
    if (from > until) continue
    if (isFull) seen.pop()
    let place = seen.length
    while (place > 0 && (seen[place - 1] as Seen).cost > cost) place -= 1
    seen.splice(place, 0, { other, cost, from, until })
  }
  return { seen: seen.slice(0, MOST_COMPARED), further: seen[MOST_COMPARED]?.cost ?? Infinity }
}
