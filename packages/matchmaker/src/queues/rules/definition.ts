// pure: the rules of a queue as plain data
import {
  type QueueLevels,
  MOST_LEVELS,
  STEPS_OF_A_LINE,
  boundariesOf,
  boundariesOfBounds,
  type RelaxingLimit,
  relaxingOf,
  relaxationStepsOf,
  type Checked,
  type RuleBase,
  type TeamDefinition,
} from '../rule-parts/index.js'
import type { AcceptsRule } from './accepts.js'
import type { AvoidRule } from './avoid.js'
import type { BalanceRule } from './balance.js'
import type { CompareRule } from './compare.js'
import type { CustomRule } from './custom.js'
import type { DifferenceRule } from './difference.js'
import type { DistanceRule } from './distance.js'
import type { DifferentRule, EqualRule } from './equal.js'
import type { LatencyRule } from './latency.js'
import type { OverlapRule } from './overlap.js'
import type { RequireRule } from './require.js'
import type { RolesRule } from './roles.js'

/**
 * At least one of the inner rules holds for the match. Inner rules have no `name`, `by`, `optionalAfterMs` or `hard`:
 * those of the outer rule apply, and `each` means the youngest ticket. An inner rule never refuses a ticket, e.g. for a
 * missing attribute: it just does not hold for that ticket.
 */
export interface AnyRule extends RuleBase {
  readonly kind: 'any'
  /**
   * 2 to 8 rules, at least one of which must hold. To combine rules that must all hold, use a rule of kind `all` here.
   */
  readonly rules: readonly RuleDefinition[]
}

/**
 * All inner rules hold for the match. For use within `any` and `not`. As in `any`, the outer rule's `by` etc. apply.
 */
export interface AllRule extends RuleBase {
  readonly kind: 'all'
  /** The inner rules: 2 to 8. */
  readonly rules: readonly RuleDefinition[]
}

/**
 * The inner rule does not hold for the match. The inner rule must not relax, because this rule would then become
 * stricter.
 */
export interface NotRule extends RuleBase {
  readonly kind: 'not'
  /** The rule that must not hold. */
  readonly rule: RuleDefinition
}

export type RuleDefinition =
  | DistanceRule
  | LatencyRule
  | DifferenceRule
  | EqualRule
  | DifferentRule
  | OverlapRule
  | RequireRule
  | AcceptsRule
  | CompareRule
  | RolesRule
  | AvoidRule
  | BalanceRule
  | CustomRule
  | AnyRule
  | AllRule
  | NotRule

/** A validated rule with its defaults. */
export type Rule = Checked<RuleDefinition>

/** Returns the default name of a rule: its kind and attribute. */
export function ruleNameOf(rule: RuleDefinition): string {
  const about = [
    rule.kind,
    rule.kind === 'compare' ? rule.aggregate : undefined,
    rule.kind === 'balance' && rule.measure === 'predictedWin' ? rule.measure : undefined,
    'attribute' in rule ? rule.attribute : undefined,
    'team' in rule ? rule.team : undefined,
  ]
  return about.filter((part) => part !== undefined).join(' ')
}

/** Adds a number to default names that occur more than once, e.g. `require skill`, `require skill 2`. */
export function withDistinctNames(rules: readonly Rule[]): Rule[] {
  const taken = new Map<string, number>()
  return rules.map((rule) => {
    const nth = (taken.get(rule.name) ?? 0) + 1
    taken.set(rule.name, nth)
    return nth === 1 || rule.name !== ruleNameOf(rule) ? rule : { ...rule, name: `${rule.name} ${nth}` }
  })
}

export const withDefaults = (rule: RuleDefinition): Rule => ({
  ...rule,
  name: rule.name ?? ruleNameOf(rule),
  by: rule.by ?? 'each',
  hard: rule.hard ?? false,
})

/**
 * Returns the limits of a rule that may relax, without those of its inner rules. Each comes with its field in the
 * definition, e.g. `['maxKm', 500]` for `{ kind: 'distance', maxKm: 500 }`.
 */
export function limitFieldsOf(rule: RuleDefinition): (readonly [field: string, limit: RelaxingLimit])[] {
  const field = (name: string, limit: RelaxingLimit | undefined): (readonly [string, RelaxingLimit])[] =>
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

/** Returns the limits of a rule that may relax, without those of its inner rules. */
export const limitsOf = (rule: RuleDefinition): RelaxingLimit[] => limitFieldsOf(rule).map(([, limit]) => limit)

/** Returns the limits of a rule and of its inner rules. */
export const allLimitsOf = (rule: RuleDefinition): RelaxingLimit[] => [
  ...limitsOf(rule),
  ...innerRulesOf(rule).flatMap(allLimitsOf),
]

/** Returns the inner rules of a rule. */
export function innerRulesOf(rule: RuleDefinition): readonly RuleDefinition[] {
  if (rule.kind === 'not') return [rule.rule]
  return rule.kind === 'any' || rule.kind === 'all' ? rule.rules : []
}

/** Returns the names of the attributes that hold ratings, if the rule uses ratings. */
export const ratingAttributesOf = ({ mean, uncertainty }: BalanceRule): string[] =>
  [mean, uncertainty].filter((name) => name !== undefined)

/** The parts of a queue that determine its levels. */
interface Relaxed {
  readonly teams: readonly TeamDefinition[]
  readonly rules: readonly RuleDefinition[]
  readonly lastResortMs?: number | undefined
  readonly targetWaitMs?: number | undefined
}

/**
 * Returns the levels of a queue. They may be more than `MOST_LEVELS` only if even one step for each line gives more.
 */
export function levelsOf({ teams, rules, lastResortMs = Infinity, targetWaitMs }: Relaxed): QueueLevels {
  const relaxing = [
    ...rules.flatMap(allLimitsOf),
    ...teams.flatMap(({ size }) => (typeof size === 'number' ? [] : [size.min])),
  ]
  const adaptive = targetWaitMs === undefined ? [] : boundariesOfBounds(relaxationStepsOf(0, targetWaitMs))
  const fixed = [0, lastResortMs, ...adaptive, ...rules.map(({ optionalAfterMs = Infinity }) => optionalAfterMs)]
  for (let steps = STEPS_OF_A_LINE; ; steps -= 1) {
    const stairs = relaxationStepsOf(steps, targetWaitMs)
    const boundaries = new Set([...fixed, ...relaxing.flatMap((limit) => boundariesOf(limit, stairs))])
    const at = Float64Array.from([...boundaries].filter((ms) => ms < Infinity && ms <= lastResortMs)).toSorted()
    if (at.length > MOST_LEVELS && steps > 1) continue
    const last = at.length - 1
    return { at, last, lastResort: lastResortMs < Infinity ? last : Infinity, ...stairs }
  }
}
