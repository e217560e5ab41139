import { mayMeet, type Standing } from './standing.js'

/**
 * The simplest matchmaker, for comparison. It visits tickets from the oldest on, and matches each with the first other
 * tickets that all fit together.
 */
export function firstFit(tickets: readonly Standing[], size: number): Standing[][] {
  const matches: Standing[][] = []
  let waiting = tickets.toSorted((one, other) => other.sample.waitedS - one.sample.waitedS)
  while (waiting.length >= size) {
    const [first] = waiting as [Standing]
    const match = [first]
    for (const other of waiting) {
      if (other === first || !match.every((member) => mayMeet(member, other))) continue
      match.push(other)
      if (match.length === size) break
    }
    const isFull = match.length === size
    if (isFull) matches.push(match)
    waiting = waiting.filter((ticket) => ticket !== first && (!isFull || !match.includes(ticket)))
  }
  return matches
}
