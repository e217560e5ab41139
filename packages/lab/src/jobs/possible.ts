import type { Queue } from '@muster/matchmaker'
import { boundOf } from '../bound/bound-of.js'
import type { Crowd } from '../crowd/crowd.js'
import type { Possible } from '../figures/lab-result.js'
import type { RunOutcome } from '../run/outcome.js'

/** What was possible in a queue: within its rules, and whatever its rules. */
export function possibleIn(crowd: Crowd, outcome: RunOutcome, queue: Queue): Possible[] {
  const bound = boundOf(crowd, outcome, queue)
  if (bound === undefined) return []
  const { kind, cost, withinRules, anyRules, units } = bound
  const limits = units.map(({ rule, limit, unit }) => `${rule} by ${limit}${unit === '' ? '' : ` ${unit}`}`)
  const what = `cost of a player (${limits.join(' + ')})`
  const common = { queue: queue.name, unit: '', reached: cost, kind }
  return [
    { ...common, what: `${what}, within the rules`, possible: withinRules },
    { ...common, what: `${what}, if no rule limited it`, possible: anyRules },
  ]
}
