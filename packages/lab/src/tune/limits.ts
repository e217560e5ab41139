// pure: the limits of a queue that a search may change; a queue with changed numbers
import type { Queue, RuleDefinition } from '@muster/matchmaker'
import { limitFieldsOf, type RelaxingLimit, type TimedLimit } from '@muster/matchmaker/internal'

/** Names and indexes that lead to a part of a queue, e.g. `['rules', 1, 'max']`. */
export type Path = readonly (string | number)[]

/** A limit of a rule, or the minimum size of a team. */
export interface Limit {
  readonly path: Path
  /** Name of the limit in `describeQueue`: `difference skill`, `latency difference`, `any: require level`. */
  readonly name: string
  readonly relaxing: TimedLimit
  /** Whether only whole numbers make sense. */
  readonly whole: boolean
  /** Milliseconds of waiting after which it no longer applies. */
  readonly untilMs: number
  /** The figure of matched players that it limits, if there is one, and the attribute if it is a number of players. */
  readonly measure?: 'distanceKm' | 'latencyMs' | 'skillSpread' | 'teamGap' | 'favourite' | undefined
  readonly attribute?: string | undefined
}

/** All limits of a queue that a schedule could relax, in order of the definition. */
export function limitsOf(queue: Queue): Limit[] {
  const ofTeams = queue.teams.flatMap(({ name, size }, index): Limit[] => {
    if (typeof size === 'number' || !isTimed(size.min)) return []
    const path = ['teams', index, 'size', 'min']
    return [{ path, name: `smallest ${name}`, relaxing: size.min, whole: true, untilMs: Infinity }]
  })
  const ofRules = queue.rules.flatMap((rule, index) =>
    limitsOfRule(rule, rule.name, ['rules', index], rule.optionalAfterMs ?? Infinity),
  )
  // Nested rules may have the same name: the second one gets a number.
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
  // A rule within `not` cannot relax: that would make the rule stricter.
  const inner = rule.kind === 'any' || rule.kind === 'all' ? rule.rules : []
  const within = inner.flatMap((one, index) =>
    limitsOfRule(one, `${name}: ${kindOf(one)}`, [...path, 'rules', index], untilMs),
  )
  return [...limits, ...within]
}

/** The figure of matched players that a rule of the queue limits. Nested rules may not hold at all. */
function measureOf(rule: RuleDefinition, path: Path): Pick<Limit, 'measure' | 'attribute'> {
  if (path.length !== 2) return {}
  if (rule.kind === 'distance') return { measure: 'distanceKm' }
  if (rule.kind === 'latency') return { measure: 'latencyMs' }
  if (rule.kind === 'difference') return { measure: 'skillSpread', attribute: rule.attribute }
  if (rule.kind === 'balance' && rule.measure === 'predictedWin') return { measure: 'favourite' }
  const isOfAverages = rule.kind === 'balance' && (rule.aggregate ?? 'avg') === 'avg'
  return isOfAverages ? { measure: 'teamGap', attribute: rule.attribute } : {}
}

/** Only for a comparison by more or less it is known which side is stricter. */
const hasStrictSide = (rule: RuleDefinition): boolean =>
  (rule.kind !== 'compare' && rule.kind !== 'require') || /^[<>]/.test(rule.operator)

/** True for a limit with fixed times. Bounds follow the arrival of players, so no schedule changes them. */
const isTimed = (limit: RelaxingLimit): limit is TimedLimit => typeof limit === 'number' || !('strictest' in limit)

/** The values of a limit, starting at the strictest. */
export function valuesOf(relaxing: TimedLimit): readonly number[] {
  if (typeof relaxing === 'number') return [relaxing]
  return 'from' in relaxing ? [relaxing.from, relaxing.to] : relaxing.map(({ value }) => value)
}

/** The default name of a rule. */
const kindOf = (rule: RuleDefinition): string =>
  [
    rule.kind,
    rule.kind === 'compare' ? rule.aggregate : undefined,
    rule.kind === 'balance' && rule.measure === 'predictedWin' ? rule.measure : undefined,
    'attribute' in rule ? rule.attribute : undefined,
    'team' in rule ? rule.team : undefined,
  ]
    .filter((part) => part !== undefined)
    .join(' ')

/** A new value of one part of a queue. */
export interface Change {
  readonly path: Path
  /** The name of the limit or wait, e.g. `difference skill`. */
  readonly name: string
  /** True for a wait in milliseconds, such as `fillForMs`; false for a limit. */
  readonly isWait: boolean
  readonly was: TimedLimit
  readonly is: TimedLimit
}

/** A copy of the value with the changes applied. Unchanged parts are shared. */
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
