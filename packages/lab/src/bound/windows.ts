// pure: windows of a run: matches made at about the same time of players who are about alike
import type { PairCost } from './pair-cost.js'
import type { Present } from './presence.js'

/** The tickets of a match. */
export type Members = readonly Present[]

/**
 * Up to `most` windows of whole matches, of at most `size` tickets each. Their first matches are evenly spread over the
 * run. To each belong the matches nearest to it of those made before and after: as the players of a window are to be
 * matched among themselves only, they have to be about as many to choose from as there were in the run.
 *
 * @param matches in the order in which they were made.
 * @param met how many others a ticket meets while it waits.
 */
export function windowsOf(
  matches: readonly Members[],
  { size, most, met, costOf }: { size: number; most: number; met: number; costOf: PairCost },
): (readonly Members[])[] {
  const tickets = matches.reduce((sum, members) => sum + members.length, 0)
  const wanted = Math.min(most, Math.ceil(tickets / size))
  const each = tickets / Math.max(1, matches.length)
  const around = Math.ceil(Math.max(size, 2 * met) / each / 2)
  return Array.from({ length: wanted }, (_, at) => {
    const middle = Math.floor(((at + 0.5) * matches.length) / wanted)
    const first = matches[middle]?.[0] as Present
    const from = Math.max(0, Math.min(middle - around, matches.length - 2 * around))
    const near = matches
      .slice(from, from + 2 * around)
      .map((members) => ({ members, cost: costOf(first.entry, (members[0] as Present).entry) }))
      .toSorted((one, other) => one.cost - other.cost)
    return near.slice(0, Math.max(1, Math.floor(size / each))).map(({ members }) => members)
  })
}
