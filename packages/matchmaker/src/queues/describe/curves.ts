// pure: limits of a queue over waiting time
import type { Queue } from '../queue.js'
import type { RuleDefinition } from '../rules/definition.js'
import { innerRulesOf, levelsOf, relaxingOf, tableOf, type Levels } from '../rules/levels.js'
import type { Relaxing } from '../rules/relaxing.js'
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

/** The curves of all limits of a queue's rules and of its smallest teams: what the compiled queue goes by. */
export function curvesOf(queue: Queue): LimitCurve[] {
  const levels = levelsOf(queue)
  return [...ofTeams(queue, levels), ...queue.rules.flatMap((rule) => ofRule(rule, levels))]
}

const ofRule = (rule: Rule, levels: Levels): LimitCurve[] =>
  limitsIn(rule, rule.name).map(({ name, unit, limit }) => ({
    rule: name,
    unit,
    shape: 'steps',
    points: pointsOf(levels, [...tableOf(levels, limit, Number.NaN, rule)]),
  }))

/** Teams whose smallest size falls; it counts once `fillForMs` is over. */
function ofTeams({ teams }: Queue, levels: Levels): LimitCurve[] {
  const shapes = teamShapes(teams, levels)
  return teams.flatMap(({ name, size }): LimitCurve[] => {
    const shape = shapes.find(({ kind }) => kind === name)
    if (typeof size === 'number' || shape === undefined) return []
    return [{ rule: `smallest ${name}`, unit: 'players', shape: 'steps', points: pointsOf(levels, [...shape.min]) }]
  })
}

function pointsOf({ at }: Levels, limits: readonly number[]): LimitPoint[] {
  const shown = limits.map((limit) => (Number.isFinite(limit) ? limit : null))
  return shown.flatMap((limit, level) =>
    level > 0 && limit === shown[level - 1] ? [] : [{ after: at[level] ?? 0, limit }],
  )
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
