// pure: whether the limits of a queue can follow its target wait
import type { RuleDefinition, TeamDefinition } from './rules/definition.js'
import { innerRulesOf, limitFieldsOf } from './rules/levels.js'
import { isBounds, loosest, stairsOf, strictest, type Relaxing } from './rules/relaxing.js'

interface Problem {
  readonly path: readonly PropertyKey[]
  readonly message: string
}

interface Parts {
  readonly teams: readonly TeamDefinition[]
  readonly rules: readonly RuleDefinition[]
  readonly lastResortMs?: number | undefined
  readonly targetWaitMs?: number | undefined
  readonly expireAfterMs: number
}

const NOTHING_TIMED = ': in a queue with targetWaitMs, nothing is timed'

type PlacedLimit = readonly [path: readonly PropertyKey[], limit: Relaxing]

/** Limits have bounds exactly where the queue has a target wait, and nothing relaxes by hand there. */
export function problemsOfTarget({ teams, rules, lastResortMs, targetWaitMs, expireAfterMs }: Parts): Problem[] {
  const limits = [
    ...rules.flatMap((rule, index) => limitsIn(rule, ['rules', index])),
    ...teams.flatMap(({ size }, index): PlacedLimit[] =>
      typeof size === 'number' ? [] : [[['teams', index, 'size', 'min'], size.min]],
    ),
  ]
  if (targetWaitMs === undefined) {
    return limits.flatMap(([path, limit]) =>
      isBounds(limit) ? [{ path, message: 'has bounds, which need targetWaitMs in the queue' }] : [],
    )
  }
  const problems = limits.flatMap(([path, limit]): Problem[] =>
    typeof limit === 'number' || isBounds(limit)
      ? []
      : [{ path, message: `must be a number or { strictest, loosest }${NOTHING_TIMED}` }],
  )
  for (const [index, { optionalAfterMs }] of rules.entries()) {
    if (optionalAfterMs !== undefined)
      problems.push({ path: ['rules', index, 'optionalAfterMs'], message: 'is for queues without targetWaitMs' })
  }
  if (!limits.some(([, limit]) => strictest(limit) !== loosest(limit)))
    problems.push({ path: ['targetWaitMs'], message: 'needs a limit { strictest, loosest } that can follow it' })
  if (targetWaitMs >= expireAfterMs)
    problems.push({ path: ['targetWaitMs'], message: `must be less than expireAfterMs, ${expireAfterMs}` })
  const { spanMs } = stairsOf(0, targetWaitMs)
  if (lastResortMs !== undefined && lastResortMs <= spanMs) {
    const why = 'when limits are at their loosest'
    problems.push({ path: ['lastResortMs'], message: `must be more than 5 times targetWaitMs, ${spanMs}, ${why}` })
  }
  return problems
}

function limitsIn(rule: RuleDefinition, path: readonly PropertyKey[]): PlacedLimit[] {
  const own = limitFieldsOf(rule).map(([field, limit]): PlacedLimit => [[...path, field], limit])
  const inner = innerRulesOf(rule).flatMap((one, at) =>
    limitsIn(one, [...path, ...(rule.kind === 'not' ? ['rule'] : ['rules', at])]),
  )
  return [...own, ...inner]
}
