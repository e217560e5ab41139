// pure: what a queue means, for people
import type { Queue } from '../queue.js'
import { curvesOf, type LimitCurve } from './curves.js'
import { lifetimeClauses, serverClauses } from './lifetime-words.js'
import { ruleClause } from './rule-words.js'
import { teamClauses } from './team-words.js'
import { sentence } from './words.js'

/** What a queue means. */
export interface QueueDescription {
  /** Plain English, one thing a sentence: teams, rules in their order, waiting, and the server of a match. */
  readonly sentences: readonly string[]
  /** The limits over waiting time, of a ticket with `headStartMs`. */
  readonly curves: readonly LimitCurve[]
}

/**
 * Says what a queue means. Neither values of variables nor functions are in it.
 * @param queue as `defineQueue` returns it.
 * @param headStartMs of tickets, in a queue with `targetWaitMs`: as `Matchmaker.inspect` tells it. Default 0.
 */
export function describeQueue(queue: Queue, headStartMs = 0): QueueDescription {
  const clauses = [
    ...teamClauses(queue.teams),
    ...queue.rules.map(ruleClause),
    ...lifetimeClauses(queue),
    ...serverClauses(queue),
  ]
  return { sentences: clauses.map(sentence), curves: curvesOf(queue, headStartMs) }
}
