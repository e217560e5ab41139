// pure: limits of a queue over waiting time
import type { Queue } from '../queue.js'
import type { RuleDefinition } from '../rules/definition.js'
import { innerRulesOf, levelsOf, relaxingOf, startsOf, tableOf, type Levels } from '../rules/levels.js'
import { isBounds, type Relaxing } from '../rules/relaxing.js'
import { nameOf, type Rule } from '../rules/rule.js'
import { teamShapes } from '../rules/team-shapes.js'

/** A limit over the waiting time that counts for its rule (`by`). */
export interface LimitCurve {
  /** Name of the rule; for a rule within another, both names. */
  readonly rule: string
  /** `km`, `ms`, `players`, `entries`; empty for plain numbers. */
  readonly unit: string
  /** The limit holds from `after` on. A line of the definition is the steps that the matchmaker makes of it. */
  readonly shape: 'steps'
  /**
   * Given where the limit follows how many players come (`targetWaitMs`): `after` then counts for tickets with the head
   * start that was asked for, and others come to these limits sooner or later.
   */
  readonly adapts?: true | undefined
  /** In the order of time; the first at 0, and each another limit than the one before. */
  readonly points: readonly LimitPoint[]
}

export interface LimitPoint {
  /** Milliseconds of waiting. */
  readonly after: number
  /** Null: the rule no longer counts. */
  readonly limit: number | null
}

interface NamedLimit {
  readonly name: string
  readonly unit: string
  readonly limit: Relaxing
}

/**
 * The curves of all limits of a queue's rules and of its smallest teams: what the compiled queue goes by.
 * @param headStartMs of tickets, in a queue with `targetWaitMs`.
 */
export function curvesOf(queue: Queue, headStartMs = 0): LimitCurve[] {
  const levels = levelsOf(queue)
  const curves = [...ofTeams(queue, levels), ...queue.rules.flatMap((rule) => ofRule(rule, levels))]
  const starts = queue.targetWaitMs === undefined ? levels.at : startsOf(levels, headStartMs)
  return curves.map(({ rule, unit, limits, limit }) => ({
    rule,
    unit,
    shape: 'steps',
    ...(isBounds(limit) && { adapts: true }),
    points: pointsOf(starts, limits),
  }))
}

interface Tabled {
  readonly rule: string
  readonly unit: string
  readonly limit: Relaxing
  /** The limit at each level. */
  readonly limits: readonly number[]
}

const ofRule = (rule: Rule, levels: Levels): Tabled[] =>
  limitsIn(rule, rule.name).map(({ name, unit, limit }) => ({
    rule: name,
    unit,
    limit,
    limits: [...tableOf(levels, limit, Number.NaN, rule)],
  }))

/** Teams whose smallest size falls; it counts once `fillForMs` is over. */
function ofTeams({ teams }: Queue, levels: Levels): Tabled[] {
  const shapes = teamShapes(teams, levels)
  return teams.flatMap(({ name, size }): Tabled[] => {
    const shape = shapes.find(({ kind }) => kind === name)
    if (typeof size === 'number' || shape === undefined) return []
    return [{ rule: `smallest ${name}`, unit: 'players', limit: size.min, limits: [...shape.min] }]
  })
}

/** @param starts the waits at which levels begin; of several that begin at once, the last one counts. */
function pointsOf(starts: Float64Array, limits: readonly number[]): LimitPoint[] {
  const points: LimitPoint[] = []
  for (const [level, limit] of limits.entries()) {
    const point = { after: starts[level] ?? 0, limit: Number.isFinite(limit) ? limit : null }
    if (starts[level + 1] !== point.after && points.at(-1)?.limit !== point.limit) points.push(point)
  }
  return points
}

/** The limits of a rule and of those within it. */
function limitsIn(rule: RuleDefinition, name: string): NamedLimit[] {
  const inner = innerRulesOf(rule).flatMap((one) => limitsIn(one, `${name}: ${nameOf(one)}`))
  return [...ownLimits(rule, name), ...inner]
}

function ownLimits(rule: RuleDefinition, name: string): NamedLimit[] {
  const limit = (unit: string, given: Relaxing | undefined, called = name): NamedLimit[] =>
    given === undefined ? [] : [{ name: called, unit, limit: given }]
  switch (rule.kind) {
    case 'distance':
      return limit('km', rule.maxKm)
    case 'latency':
      return [...limit('ms', rule.maxMs), ...limit('ms', rule.maxDifferenceMs, `${name} difference`)]
    case 'difference':
    case 'balance':
      return limit('', rule.max)
    case 'overlap':
      return limit('entries', rule.atLeast ?? 1)
    case 'compare':
      return limit(rule.aggregate === 'count' ? 'players' : '', rule.value)
    case 'require':
      return limit('', relaxingOf(rule.value))
    default:
      return []
  }
}
