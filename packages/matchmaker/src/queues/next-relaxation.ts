// pure: when the limits of a ticket next relax
import type { Pool } from '@muster/kernel'
import type { CompiledQueue } from './compile.js'
import { listed, startsOf, tableOf, type Facts } from './rule-parts/index.js'
import { allLimitsOf, limitsOf, type Rule } from './rules/index.js'

export interface NextRelaxation {
  /** Milliseconds from now until the limits change. */
  readonly inMs: number
  readonly changes: readonly RelaxationChange[]
}

export interface RelaxationChange {
  /** Name of the rule; undefined if the number of players in a match changes. */
  readonly rule?: string | undefined
  /** The present limit, or the size of the smallest match. Undefined for a rule without a limit. */
  readonly from?: number | undefined
  /** The next limit; undefined if the rule no longer counts. */
  readonly to?: number | undefined
}

type SizesOfPool = Pick<Pool<Facts>, 'sizesAt'>

export const fullMatch = ({ teams }: CompiledQueue['model']): number => teams.reduce((sum, { max }) => sum + max, 0)

/**
 * Returns the number of players of the smallest match.
 * @param sizes the allowed numbers at the level, if rules are about numbers of players, the greatest first.
 */
export function smallestMatch(
  model: CompiledQueue['model'],
  sizes: readonly number[] | undefined,
  level: number,
  waitedMs: number,
): number {
  const full = fullMatch(model)
  if (waitedMs < model.fillForMs && sizes?.includes(full) !== false) return full
  return sizes?.at(-1) ?? model.teams.reduce((sum, { min }) => sum + (min[level] ?? 0), 0)
}

/**
 * Returns a rule's limit at each level, as shown to users; 1 for a rule without a limit, NaN where the rule does not
 * count.
 */
export const shownLimits = ({ levels }: CompiledQueue, rule: Rule): Float64Array =>
  tableOf(levels, limitsOf(rule)[0] ?? 1, Number.NaN, rule)

interface Boundary {
  /** Wait in milliseconds at which the limits change. */
  readonly atMs: number
  readonly changes: readonly RelaxationChange[]
}

/** Finds the next relaxation for a ticket with this wait and head start in milliseconds. */
type NextAfter = (pool: SizesOfPool, waitedMs: number, aheadMs: number) => NextRelaxation | undefined

export function relaxationsOf(compiled: CompiledQueue): NextAfter {
  const { levels, model } = compiled
  const tables = compiled.rules.map(({ rule }) => ({
    rule,
    limits: shownLimits(compiled, rule),
    further: allLimitsOf(rule)
      .slice(limitsOf(rule).length > 0 ? 1 : 0)
      .map((limit) => tableOf(levels, limit, Number.NaN, rule)),
  }))
  const boundariesOf = (starts: Float64Array, pool: SizesOfPool): Boundary[] => {
    const levelAt = (waitedMs: number) => starts.findLastIndex((ms) => ms <= waitedMs)
    /** Size of the smallest match after a wait of `waitedMs`. */
    const leastAt = (waitedMs: number) => {
      const level = levelAt(waitedMs)
      return smallestMatch(model, pool.sizesAt(level), level, waitedMs)
    }
    const times = [...new Set([...starts, model.fillForMs])].toSorted((one, other) => one - other)
    return times.slice(1).flatMap((atMs, index): Boundary[] => {
      const beforeMs = times[index] ?? 0
      const [before, after] = [levelAt(beforeMs), levelAt(atMs)]
      const ofRules = tables.flatMap(({ rule, limits, further }) => [
        ...changeOf(rule, limits, before, after),
        // The first limit shows when the whole rule no longer counts.
        ...further.flatMap((others) => (Number.isNaN(others[after]) ? [] : changeOf(rule, others, before, after))),
      ])
      const [from, to] = [leastAt(beforeMs), leastAt(atMs)]
      const changes = from === to ? ofRules : [...ofRules, { from, to }]
      return changes.length === 0 ? [] : [{ atMs, changes }]
    })
  }
  let boundaries: readonly Boundary[] | undefined

  return (pool, waitedMs, aheadMs) => {
    boundaries ??= boundariesOf(levels.at, pool)
    const own = aheadMs === 0 ? boundaries : boundariesOf(startsOf(levels, aheadMs), pool)
    const next = own.find(({ atMs }) => atMs > waitedMs)
    return next && { inMs: Math.round(next.atMs - waitedMs), changes: next.changes.map((change) => ({ ...change })) }
  }
}

/**
 * Returns the change of a rule's limit, if there is any.
 * @param limits NaN or Infinity where nothing is limited. An explanation leaves out Infinity, which JSON cannot hold.
 */
function changeOf(rule: Rule, limits: Float64Array, before: number, after: number): RelaxationChange[] {
  const [from = Number.NaN, to = Number.NaN] = [limits[before], limits[after]]
  if (!Number.isFinite(from) || from === to) return []
  const hasLimit = limitsOf(rule).length > 0 || Number.isFinite(to)
  const limit = hasLimit ? { from: readable(from) } : {}
  return [Number.isFinite(to) ? { rule: rule.name, ...limit, to: readable(to) } : { rule: rule.name, ...limit }]
}

/** Rounds to six digits, which hides the rounding errors of arithmetic. */
export const readable = (value: number): number => Number(value.toPrecision(6))

const quoted = (name: string) => JSON.stringify(name)
export const rounded = (value: number) => String(Math.round(value * 10) / 10)
export const count = (many: number, one: string) => `${many} ${one}${many === 1 ? '' : 's'}`

/**
 * Returns the sentence about the next relaxation, with a leading space; empty if there is none. The sentence reveals
 * nothing about other players.
 */
export function relaxationSentence(next: NextRelaxation | undefined): string {
  if (next === undefined) return ''
  const rules = [...new Set(next.changes.flatMap(({ rule }) => rule ?? []))]
  const what = [
    ...(rules.length === 0 ? [] : [`${ruleNames(rules)} ${rules.length === 1 ? 'relaxes' : 'relax'}`]),
    ...next.changes.flatMap(({ rule, to = 0 }) =>
      rule === undefined ? [`${count(to, 'player')} ${to === 1 ? 'is' : 'are'} enough`] : [],
    ),
  ]
  return ` In ${rounded(next.inMs / 1000)} s ${what.join(' and ')}.`
}

/** Names rules, e.g. `rule "a"` or `rules "a" and "b"`. */
export const ruleNames = (names: readonly string[]): string =>
  `${names.length === 1 ? 'rule' : 'rules'} ${listed(names.map(quoted))}`
