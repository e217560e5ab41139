import { MatchmakerClosed } from './closed.js'
import type { Allocation } from './records/allocation.js'
import { NOBODY } from './records/match-allocation.js'

/** Resolves when the server of the match is gone. @throws {MatchmakerClosed} */
export const whenEnded = (allocation: Allocation): Promise<void> =>
  new Promise((resolve, reject) => {
    allocation.ended = [...allocation.ended, (error) => (error === undefined ? resolve() : reject(error))]
  })

/** Tells all who wait that the server is gone, or that this can no longer be found out. */
export function tellEnded(allocation: Allocation, error?: Error): void {
  const { ended } = allocation
  allocation.ended = NOBODY
  for (const tell of ended) tell(error)
}

export function rejectAll(allocations: Iterable<Allocation>): void {
  for (const allocation of allocations) {
    const message = `the matchmaker was closed before the end of match ${allocation.matchId} was confirmed`
    tellEnded(allocation, new MatchmakerClosed(message))
  }
}
