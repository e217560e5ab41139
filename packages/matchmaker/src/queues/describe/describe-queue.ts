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
  /** The limits over waiting time. */
  readonly curves: readonly LimitCurve[]
}

/**
 * Says what a queue means. Neither values of variables nor functions are in it.
 * @param queue as `defineQueue` returns it.
 */
export function describeQueue(queue: Queue): QueueDescription {
  const clauses = [
    ...teamClauses(queue.teams),
    ...queue.rules.map(ruleClause),
    ...lifetimeClauses(queue),
    ...serverClauses(queue),
  ]
  return { sentences: clauses.map(sentence), curves: curvesOf(queue) }
}
