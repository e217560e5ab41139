import { describeQueue, type Queue } from '@muster/matchmaker'
import { compileQueue } from '@muster/matchmaker/internal'
import { groupBy } from '@muster/core/internal'
import type { Crowd } from '../crowd/index.js'
import type { RunOutcome } from '../run/index.js'
import { rounded } from '../statistics/index.js'
import { boundOfLarger } from './larger-bound.js'
import { createMeetsAt, meetsWithoutLimits, type PresentTicket, presentIn } from './meetings.js'
import { type Bound, type BoundUnit, createPairCost } from './pair-cost.js'
import { boundOfPairs } from './pairs-bound.js'

const COUNTED: ReadonlySet<string> = new Set(['distance', 'difference', 'latency'])

/**
 * Returns the rules about distance, difference or latency with their strictest limits above 0. Nested rules and latency
 * rules that limit only differences are omitted.
 */
function unitsOf(queue: Queue): BoundUnit[] {
  const { curves } = describeQueue(queue)
  return queue.rules.flatMap(({ name, kind }): BoundUnit[] => {
    if (!COUNTED.has(kind)) return []
    const curve = curves.find(({ rule }) => rule === name)
    const limit = curve?.points.find((point) => point.limit !== null && point.limit > 0)?.limit
    return curve === undefined || limit === undefined || limit === null ? [] : [{ rule: name, limit, unit: curve.unit }]
  })
}

/**
 * Compares the matches of a queue with the best possible matches of the same players, in which nobody waits longer. A
 * large run is sampled, so the comparison takes a second or two for any crowd. Returns undefined if no rule limits
 * distance, difference or latency, or if nobody was matched.
 *
 * @param queue as `defineQueue` returns it.
 */
export function boundOf(crowd: Crowd, outcome: RunOutcome, queue: Queue): Bound | undefined {
  const units = unitsOf(queue)
  if (units.length === 0) return undefined
  const compiled = compileQueue(queue)
  const isPair = compiled.model.teams.reduce((sum, { max }) => sum + max, 0) === 2
  const present = presentIn(compiled, crowd, outcome)
  const matches = matchesOf(present)
  const matched = present.filter(({ match }) => matches.has(match))
  const meetsAt = createMeetsAt(compiled, isPair)
  const found = (isPair ? boundOfPairs : boundOfLarger)(matched, matches, {
    costOf: createPairCost(compiled, units),
    // Two tickets of one actual match were allowed together, even if `meetsAt` forbids it, e.g. because of a custom
    // rule.
    withinRules: (one, other) => Math.min(meetsAt(one, other), one.match === other.match ? one.until : Infinity),
    anyRules: meetsWithoutLimits,
  })
  const { players, all } = found
  if (players === 0) return undefined
  return {
    kind: isPair ? 'optimum' : 'lower bound',
    units,
    players,
    share: rounded(players / all, 6),
    cost: rounded(found.cost / players, 6),
    withinRules: rounded(found.withinRules / players, 6),
    anyRules: rounded(found.anyRules / players, 6),
    ratio: ratioOf(found.cost, found.withinRules),
    ratioAnyRules: ratioOf(found.cost, found.anyRules),
  }
}

const ratioOf = (cost: number, least: number): number | null =>
  least > 0 ? rounded(cost / least, 6) : cost === 0 ? 1 : null

/**
 * Returns the matches of several tickets, by match. A party that fills a match alone is omitted, because it had no
 * alternative.
 */
function matchesOf(present: readonly PresentTicket[]): Map<number, PresentTicket[]> {
  const matches = groupBy(present, ({ match }) => match)
  for (const [match, { length }] of matches) if (length === 1) matches.delete(match)
  return matches
}
