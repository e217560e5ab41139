import { mayMeet, type Standing } from './standing.js'

/** The plainest matchmaker: each ticket, the oldest first, with the first others in that order that all go together. */
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
