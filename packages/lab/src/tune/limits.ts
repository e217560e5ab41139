// pure: the limits of a queue that a search may change; a queue with changed numbers
import type { Queue, RuleDefinition } from '@muster/matchmaker'
import { limitFieldsOf, type RelaxingLimit, ruleNameOf, type TimedLimit } from '@muster/matchmaker/internal'

/** The names and indexes from a queue to one of its parts, e.g. `['rules', 1, 'max']`. */
export type Path = readonly (string | number)[]

/** A limit of a rule, or the minimum size of a team, which a search may change. */
export interface Limit {
  readonly path: Path
  /** Name of the limit as in `describeQueue`, e.g. `difference skill`, `latency difference` or `any: require level`. */
  readonly name: string
  readonly relaxing: TimedLimit
  /** True if only whole numbers make sense. */
  readonly whole: boolean
  /** Milliseconds of waiting after which the limit no longer applies. */
  readonly untilMs: number
  /**
   * The figure of matched players that the rule limits, if there is one. `attribute` is the compared attribute, if it
   * is a number.
   */
  readonly measure?: 'distanceKm' | 'latencyMs' | 'skillSpread' | 'teamGap' | 'favourite' | undefined
  readonly attribute?: string | undefined
}

/** Returns all limits of a queue that a schedule could relax, in order of the definition. */
export function limitsOf(queue: Queue): Limit[] {
  const ofTeams = queue.teams.flatMap(({ name, size }, index): Limit[] => {
    if (typeof size === 'number' || !isTimed(size.min)) return []
    const path = ['teams', index, 'size', 'min']
    return [{ path, name: `smallest ${name}`, relaxing: size.min, whole: true, untilMs: Infinity }]
  })
  const ofRules = queue.rules.flatMap((rule, index) =>
    limitsOfRule(rule, rule.name, ['rules', index], rule.optionalAfterMs ?? Infinity),
  )
  // Nested rules may have the same name. Further ones get a number.
  const taken = new Map<string, number>()
  return [...ofTeams, ...ofRules].map((limit) => {
    const nth = (taken.get(limit.name) ?? 0) + 1
    taken.set(limit.name, nth)
    return nth === 1 ? limit : { ...limit, name: `${limit.name} ${nth}` }
  })
}

function limitsOfRule(rule: RuleDefinition, name: string, path: Path, untilMs: number): Limit[] {
  const whole = rule.kind === 'overlap' || (rule.kind === 'compare' && rule.aggregate === 'count')
  const limits = (hasStrictSide(rule) ? limitFieldsOf(rule) : []).flatMap(([field, relaxing]): Limit[] => {
    if (!isTimed(relaxing)) return []
    const isDifference = field === 'maxDifferenceMs'
    const called = isDifference ? `${name} difference` : name
    const measured = isDifference ? {} : measureOf(rule, path)
    return [{ path: [...path, field], name: called, relaxing, whole, untilMs, ...measured }]
  })
  // A rule within `not` is omitted, because relaxing it would make the outer rule stricter.
  const inner = rule.kind === 'any' || rule.kind === 'all' ? rule.rules : []
  const within = inner.flatMap((one, index) =>
    limitsOfRule(one, `${name}: ${ruleNameOf(one)}`, [...path, 'rules', index], untilMs),
  )
  return [...limits, ...within]
}

/** Returns the figure of matched players that a rule limits. Empty for a nested rule, because it need not hold. */
function measureOf(rule: RuleDefinition, path: Path): Pick<Limit, 'measure' | 'attribute'> {
  if (path.length !== 2) return {}
  if (rule.kind === 'distance') return { measure: 'distanceKm' }
  if (rule.kind === 'latency') return { measure: 'latencyMs' }
  if (rule.kind === 'difference') return { measure: 'skillSpread', attribute: rule.attribute }
  if (rule.kind === 'balance' && rule.measure === 'predictedWin') return { measure: 'favourite' }
  const isOfAverages = rule.kind === 'balance' && (rule.aggregate ?? 'avg') === 'avg'
  return isOfAverages ? { measure: 'teamGap', attribute: rule.attribute } : {}
}

/**
 * Returns true if it is known which side of the limit is stricter. For `compare` and `require`, that needs an operator
 * such as `<` or `>=`.
 */
const hasStrictSide = (rule: RuleDefinition): boolean =>
  (rule.kind !== 'compare' && rule.kind !== 'require') || /^[<>]/.test(rule.operator)

/**
 * Returns true for a limit with fixed times. Limits with bounds follow the arrival of players, so no schedule changes
 * them.
 */
const isTimed = (limit: RelaxingLimit): limit is TimedLimit => typeof limit === 'number' || !('strictest' in limit)

/** Returns the values of a limit, the strictest first. */
export function valuesOf(relaxing: TimedLimit): readonly number[] {
  if (typeof relaxing === 'number') return [relaxing]
  return 'from' in relaxing ? [relaxing.from, relaxing.to] : relaxing.map(({ value }) => value)
}

/** A new value of one part of a queue. */
export interface Change {
  readonly path: Path
  /** Name of the limit or wait, e.g. `difference skill`. */
  readonly name: string
  /** True for a wait in milliseconds, such as `fillForMs`; false for a limit. */
  readonly isWait: boolean
  readonly was: TimedLimit
  readonly is: TimedLimit
}

/** Returns a copy of a value with changes applied. Unchanged parts are shared with the original. */
export const withChanges = <T>(value: T, changes: readonly Pick<Change, 'path' | 'is'>[]): T =>
  changes.reduce((changed, { path, is }) => withPart(changed, path, is), value)

function withPart<T>(value: T, path: Path, part: unknown): T {
  const [key, ...rest] = path
  if (key === undefined) return part as T
  if (Array.isArray(value))
    return value.map((item: unknown, index) => (index === key ? withPart(item, rest, part) : item)) as T
  const inner = (value as Readonly<Record<string, unknown>>)[key]
  return { ...value, [key]: withPart(inner, rest, part) }
}
