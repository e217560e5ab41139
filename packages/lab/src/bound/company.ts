// pure: who of those that a ticket could be matched with may be in a match with enough of the others
import type { MeetsAt } from './meets-at.js'
import type { Seen } from './view.js'

/**
 * Leaves out whoever may not meet enough of the others to fill the match at a moment. Such a one could be in no match
 * then, so no possible match is lost.
 */
export type Company = (there: readonly Seen[], moment: number) => readonly Seen[]

/** @param seats players of a match besides the ticket itself. */
export function createCompany(seen: readonly Seen[], seats: number, meetsAt: MeetsAt): Company {
  const indexes = new Map(seen.map((one, index) => [one, index]))
  /** For each two the moment from which they may meet; NaN where it is not known yet. */
  const moments = new Float64Array(seen.length * seen.length).fill(Number.NaN)
  const meetAt = (one: number, other: number): number => {
    const at = Math.min(one, other) * seen.length + Math.max(one, other)
    const known = moments[at] as number
    if (!Number.isNaN(known)) return known
    const moment = meetsAt((seen[one] as Seen).other, (seen[other] as Seen).other)
    moments[at] = moment
    return moment
  }

  return (there, moment) => {
    let left = there.map((one) => ({ one, index: indexes.get(one) as number, size: one.other.entry.size }))
    for (;;) {
      const players = left.reduce((sum, { size }) => sum + size, 0)
      if (players < seats) return []
      const still = left.filter(({ index, size }) => {
        let company = size
        for (const other of left)
          if (other.index !== index && company < seats && meetAt(index, other.index) <= moment) company += other.size
        return company >= seats
      })
      if (still.length === left.length) return left.map(({ one }) => one)
      left = still
    }
  }
}
