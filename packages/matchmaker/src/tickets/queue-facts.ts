import type { PlayerMayState } from '../queues/player-may-state.js'
import type { QueueRuntime } from './records.js'

/** What can be told of the queues in force at once, as methods of a matchmaker: see there. */
export interface QueueFacts {
  playerMayState(queue: string): PlayerMayState | undefined
  readsLatencies(queue: string): boolean
  largestParty(queue: string): number | undefined
  presenceWithinMs(queue: string): number | undefined
  queueNames(): readonly string[]
}

export const createQueueFacts = (runtimes: () => ReadonlyMap<string, QueueRuntime>): QueueFacts => ({
  playerMayState: (queue) => runtimes().get(queue)?.playerMayState,
  readsLatencies: (queue) => runtimes().get(queue)?.readsLatencies ?? false,
  largestParty: (queue) => runtimes().get(queue)?.largestParty,
  presenceWithinMs: (queue) => runtimes().get(queue)?.queue.presence?.withinMs,
  queueNames: () => [...runtimes().keys()],
})
