// pure: each rule that is about two tickets, as something to ask about them
import type { Entry } from '@muster/kernel'
import type { CompiledQueue } from '../compile.js'
import type { CompiledRule } from '../rules/compiled-rule.js'
import type { Facts } from '../rules/facts.js'
import { limitsOf, tableOf } from '../rules/levels.js'
import type { Rule } from '../rules/rule.js'
import { kmOf } from '@muster/core'

export type Seen = Pick<Entry<Facts>, 'since' | 'place' | 'values' | 'facts' | 'size'>

export interface Probe {
  readonly rule: Rule
  /**
   * Whether the rule lets two tickets meet. For `each` and rules about pairs, `level` is the lower of their two levels.
   */
  passes(one: Seen, other: Seen, level: number): boolean
  /** How far two tickets are apart, in the unit of the limits; undefined if the rule measures nothing. */
  measure(one: Seen, other: Seen): number | undefined
  /** The limit at each level; NaN where the rule does not count. */
  readonly limits: Float64Array
  /** Whether a measure must be at least the limit, instead of at most. */
  readonly atLeast: boolean
}

/**
 * The limits of a rule at each level, as they are shown to people; 1 for a rule that has no limit, NaN where the rule
 * does not count.
 */
export const shownLimits = ({ levels }: CompiledQueue, rule: Rule): Float64Array =>
  tableOf(levels, limitsOf(rule)[0] ?? 1, Number.NaN, rule)

export function probesOf(compiled: CompiledQueue): Probe[] {
  let span = -1
  return compiled.rules.flatMap((compiledRule): Probe[] => {
    const { rule, radius, pair } = compiledRule
    const about = { rule, limits: shownLimits(compiled, rule), atLeast: rule.kind === 'overlap' }
    if (radius !== undefined) return [{ ...about, ...distanceProbe(radius) }]
    if (compiledRule.span !== undefined) return [{ ...about, ...differenceProbe(compiledRule.span.limit, (span += 1)) }]
    if (pair === undefined) return []
    return [{ ...about, passes: passesOf(compiledRule, pair), measure: measureOf(compiledRule) }]
  })
}

/**
 * Makes the test of two tickets. Where the oldest ticket or the average decides, `pair` allows whatever the longest
 * wait would allow, so `whole` is asked too, with the two tickets as a match. Rules made of rules are not asked for
 * `whole`: they may be about teams.
 */
function passesOf({ rule, whole }: CompiledRule, pair: NonNullable<CompiledRule['pair']>): Probe['passes'] {
  const isOfRules = rule.kind === 'any' || rule.kind === 'all'
  return (one, other, level) => {
    if (!pair(one.facts, other.facts, level)) return false
    if (whole === undefined || isOfRules) return true
    return whole([[one.facts], [other.facts]], { youngest: level, oldest: level, average: level, now: 0 })
  }
}

type Asked = Pick<Probe, 'passes' | 'measure'>

const measureOf =
  ({ measure }: CompiledRule): Asked['measure'] =>
  (one, other) =>
    measure?.(one.facts, other.facts)

function distanceProbe({ squared, unknown }: NonNullable<CompiledRule['radius']>): Asked {
  return {
    passes: (one, other, level) => {
      const limit = squared[level] ?? Infinity
      if (limit === Infinity) return true
      const apart = squareBetween(one, other)
      if (apart !== undefined) return apart <= limit
      const network = one.facts.ticket.network
      return unknown === 'any' || (network !== undefined && network === other.facts.ticket.network)
    },
    measure: (one, other) => {
      const apart = squareBetween(one, other)
      return apart === undefined ? undefined : kmOf(apart)
    },
  }
}

function squareBetween({ place: a }: Seen, { place: b }: Seen): number | undefined {
  return a && b && (a[0] - b[0]) ** 2 + (a[1] - b[1]) ** 2 + (a[2] - b[2]) ** 2
}

function differenceProbe(limit: Float64Array, span: number): Asked {
  const measure = ({ values: a }: Seen, { values: b }: Seen): number | undefined => {
    const [lowA, highA, lowB, highB] = [a[2 * span] ?? 0, a[2 * span + 1] ?? 0, b[2 * span] ?? 0, b[2 * span + 1] ?? 0]
    // Low is NaN where the ticket goes with any value.
    return lowA <= highA && lowB <= highB ? Math.max(highA, highB) - Math.min(lowA, lowB) : undefined
  }
  return { measure, passes: (one, other, level) => (measure(one, other) ?? 0) <= (limit[level] ?? Infinity) }
}
