// pure: who was in a queue at the same time
import type { Present } from './presence.js'

/** How many others a ticket meets on average. @param present in the order in which they came. */
export function averageMet(present: readonly Present[]): number {
  const froms = present.map(({ from }) => from)
  const untils = present.map(({ until }) => until).toSorted((one, other) => one - other)
  // Those who came until one left, without those who had left before it came.
  let met = 0
  for (const { from, until } of present) met += upTo(froms, until) - upTo(untils, from - 1) - 1
  return met / Math.max(1, present.length)
}

/** How many of the sorted numbers are at most `most`. */
function upTo(sorted: readonly number[], most: number): number {
  let [low, high] = [0, sorted.length]
  while (low < high) {
    const middle = (low + high) >> 1
    if ((sorted[middle] as number) <= most) low = middle + 1
    else high = middle
  }
  return low
}

/**
 * Returns a function that gives the tickets which were there at the same time as another, and that other. It has to be
 * asked in the order in which tickets came.
 */
export function meetings(present: readonly Present[]): (own: Present) => Present[] {
  let next = 0
  let there: Present[] = []
  return (own) => {
    for (; next < present.length && (present[next] as Present).from <= own.from; next++)
      there.push(present[next] as Present)
    there = there.filter(({ until }) => until >= own.from)
    const met = there.slice()
    for (let at = next; at < present.length && (present[at] as Present).from <= own.until; at++)
      met.push(present[at] as Present)
    return met
  }
}
