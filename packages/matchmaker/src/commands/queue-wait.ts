import type { WaitEstimate } from '../waits/curve.js'
import type { LearnedCurves } from '../waits/survey.js'

/** How many wait in a queue, and for how long. */
export interface QueueWait {
  readonly queue: string
  /** Tickets that search, and the players in them. A ticket that waits in several queues counts in each. */
  readonly tickets: number
  readonly players: number
  /** Whether the queue is paused, so that nobody knows how long tickets wait. */
  readonly paused: boolean
  /** For a ticket that is created now; undefined where too few were matched lately. */
  readonly estimate: WaitEstimate | undefined
}

/** What a queue has learned of its waits, as plain data for other processes. */
export interface LearnedWaits extends Omit<QueueWait, 'estimate'> {
  readonly curves: LearnedCurves
}
