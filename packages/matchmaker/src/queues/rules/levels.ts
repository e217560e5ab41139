// pure: the waits at which anything in a queue relaxes, and the tables over them
import type { RequireRule, RuleDefinition, TeamDefinition } from './definition.js'
import {
  boundariesOf,
  boundariesOfBounds,
  limitAt,
  loosest,
  stairsOf,
  type Relaxing,
  type Stairs,
} from './relaxing.js'

/** Most levels of a queue: a level must fit into a byte. */
export const MOST_LEVELS = 255

/** Number of steps that a linear limit is cut into, unless that makes too many levels. */
const STEPS_OF_A_LINE = 16

export interface Levels extends Stairs {
  /** Milliseconds of waiting at which each level begins, for a ticket without a head start. */
  readonly at: Float64Array
  /** The level of last resort, which is the last one; Infinity if there is none. */
  readonly lastResort: number
  readonly last: number
}

/** The parts of a queue that determine its levels. */
interface Relaxed {
  readonly teams: readonly TeamDefinition[]
  readonly rules: readonly RuleDefinition[]
  readonly lastResortMs?: number | undefined
  readonly targetWaitMs?: number | undefined
}

/**
 * The limits of a rule that may relax, without those of its inner rules, each with its field in the definition: of
 * `{ kind: 'distance', maxKm: 500 }` `['maxKm', 500]`.
 */
export function limitFieldsOf(rule: RuleDefinition): (readonly [field: string, limit: Relaxing])[] {
  const field = (name: string, limit: Relaxing | undefined): (readonly [string, Relaxing])[] =>
    limit === undefined ? [] : [[name, limit]]
  switch (rule.kind) {
    case 'distance':
      return field('maxKm', rule.maxKm)
    case 'latency':
      return [...field('maxMs', rule.maxMs), ...field('maxDifferenceMs', rule.maxDifferenceMs)]
    case 'difference':
    case 'balance':
      return field('max', rule.max)
    case 'overlap':
      return field('atLeast', rule.atLeast)
    case 'compare':
      return field('value', rule.value)
    case 'require':
      return field('value', relaxingOf(rule.value))
    default:
      return []
  }
}

/** The limits of a rule that may relax, without those of its inner rules. */
export const limitsOf = (rule: RuleDefinition): Relaxing[] => limitFieldsOf(rule).map(([, limit]) => limit)

/** The limits of a rule and of its inner rules. */
export const allLimitsOf = (rule: RuleDefinition): Relaxing[] => [
  ...limitsOf(rule),
  ...innerRulesOf(rule).flatMap(allLimitsOf),
]

/** The inner rules of a rule. */
export function innerRulesOf(rule: RuleDefinition): readonly RuleDefinition[] {
  if (rule.kind === 'not') return [rule.rule]
  return rule.kind === 'any' || rule.kind === 'all' ? rule.rules : []
}

/** The value of a `require` rule if it is a limit, and not a text, boolean or list. */
export function relaxingOf(value: RequireRule['value']): Relaxing | undefined {
  if (typeof value === 'string' || typeof value === 'boolean') return undefined
  return Array.isArray(value) && typeof value[0] === 'string' ? undefined : (value as Relaxing)
}

/**
 * The levels of a queue. More than `MOST_LEVELS` if its limits change at more different times even when every line is a
 * single step.
 */
export function levelsOf({ teams, rules, lastResortMs = Infinity, targetWaitMs }: Relaxed): Levels {
  const relaxing = [
    ...rules.flatMap(allLimitsOf),
    ...teams.flatMap(({ size }) => (typeof size === 'number' ? [] : [size.min])),
  ]
  const adaptive = targetWaitMs === undefined ? [] : boundariesOfBounds(stairsOf(0, targetWaitMs))
  const fixed = [0, lastResortMs, ...adaptive, ...rules.map(({ optionalAfterMs = Infinity }) => optionalAfterMs)]
  for (let steps = STEPS_OF_A_LINE; ; steps -= 1) {
    const stairs = stairsOf(steps, targetWaitMs)
    const boundaries = new Set([...fixed, ...relaxing.flatMap((limit) => boundariesOf(limit, stairs))])
    const at = Float64Array.from([...boundaries].filter((ms) => ms < Infinity && ms <= lastResortMs)).toSorted()
    if (at.length > MOST_LEVELS && steps > 1) continue
    const last = at.length - 1
    return { at, last, lastResort: lastResortMs < Infinity ? last : Infinity, ...stairs }
  }
}

/**
 * The waits at which a ticket that is ahead of its wait comes to each level. It comes to the last resort by its wait
 * alone, and passes over levels that it has not come to by then.
 */
export function startsOf({ at, lastResort }: Levels, aheadMs: number): Float64Array {
  const lastResortMs = at[lastResort] ?? Infinity
  const start = (ms: number) => Math.min(Math.max(0, ms - aheadMs), lastResortMs)
  return at.map((ms, level) => (level === 0 || level === lastResort ? ms : start(ms)))
}

/** The limit at each level. @param off the value where the rule does not count. */
export function tableOf(levels: Levels, relaxing: Relaxing, off: number, rule: RuleDefinition): Float64Array {
  const { optionalAfterMs = Infinity, hard = false } = rule
  return levels.at.map((ms, level) => {
    if (ms >= optionalAfterMs || (level === levels.lastResort && !hard)) return off
    return level === levels.lastResort ? loosest(relaxing) : limitAt(relaxing, ms, levels)
  })
}
