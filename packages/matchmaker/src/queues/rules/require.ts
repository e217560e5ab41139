// pure: the require rule
import type { CompiledRule, RuleContext } from './compiled-rule.js'
import type { RequireRule } from './definition.js'
import type { Facts, Refuse, RuleTicket, Teams } from './facts.js'
import { relaxingOf, tableOf } from './levels.js'
import { loosest } from './relaxing.js'
import type { Missing } from './rule-base.js'
import type { Rule } from './rule.js'
import { compares, holdsBetween } from './comparing.js'
import { tallyOf } from './tally.js'
import { isSteady, timingOf } from './timing.js'
import { A_BOOLEAN, A_LIST, A_NUMBER, A_TEXT, valuesOf, type Scalar, type ValueType, type Wanted } from './values.js'

export function compileRequire(rule: Rule & RequireRule, { index, levels }: RuleContext): CompiledRule {
  const fitsAt = testOf(rule)
  // The table has NaN where the rule does not count, and one value everywhere if the rule cannot relax.
  const limits = tableOf(levels, relaxingOf(rule.value) ?? 0, Number.NaN, rule)
  /** The level from which the ticket may be matched. */
  const factOf = (ticket: RuleTicket, refuse: Refuse): number => {
    const fits = fitsAt(ticket, refuse)
    const from = limits.findIndex((limit) => Number.isNaN(limit) || fits(limit))
    if (from >= 0) return from
    const wants = `${rule.attribute} ${rule.operator} ${limitOf(rule)}`
    throw refuse('players', `never meet rule ${JSON.stringify(rule.name)}, which wants ${wants}`)
  }
  // A rule that never relaxes is decided when the ticket is created.
  if (limits.every((limit) => limit === limits[0])) return { rule, factOf }
  const timing = timingOf(rule, levels, isSteady(levels, limits))
  const allAt = (teams: Teams, level: number) =>
    teams.every((team) => team.every((facts) => (facts.of[index] as number) <= level))
  return {
    rule,
    factOf,
    pair: (one: Facts, other: Facts, level) => {
      const at = timing.ofPair(level)
      return (one.of[index] as number) <= at && (other.of[index] as number) <= at
    },
    part: (teams, _, match) => allAt(teams, timing.ofPart(match)),
    whole: (teams, match) => allAt(teams, timing.ofMatch(match)),
  }
}

const limitOf = ({ value }: RequireRule) => {
  const relaxing = relaxingOf(value)
  return relaxing === undefined ? JSON.stringify(value) : String(loosest(relaxing))
}

/** The schema has checked that the value for players without the attribute has the right type. */
const wantedOf = <Value>({ attribute, missing, name }: Rule & RequireRule, type: ValueType<Value>): Wanted<Value> => ({
  attribute,
  type,
  missing: missing as Missing<Value> | undefined,
  rule: name,
})

/** Makes the test whether a ticket's own values fit a limit. */
function testOf(rule: Rule & RequireRule): (ticket: RuleTicket, refuse: Refuse) => (limit: number) => boolean {
  const { operator, value, party = 'each' } = rule
  const every = <Value>(type: ValueType<Value>, test: (value: Value) => boolean) => {
    const wanted = wantedOf(rule, type)
    return (ticket: RuleTicket, refuse: Refuse) => {
      const all = valuesOf(ticket, wanted, refuse).every(test)
      return () => all
    }
  }
  const asStated = (one: Scalar | readonly string[]) => holdsBetween(one, operator, value as string | readonly string[])
  if (operator === 'in' || operator === 'not in') return every(A_TEXT, asStated)
  if (operator === 'contains' || operator === 'excludes') return every(A_LIST, asStated)
  if (typeof value === 'string') return every(A_TEXT, asStated)
  if (typeof value === 'boolean') return every(A_BOOLEAN, asStated)
  const number = wantedOf(rule, A_NUMBER)
  return (ticket, refuse) => {
    const values = valuesOf(ticket, number, refuse)
    if (values.length === 0) return () => true
    const { min, max, sum, count } = tallyOf(values)
    if (party === 'each') return (limit) => values.every((one) => compares(one, operator, limit))
    const stands = party === 'avg' ? sum / count : party === 'min' ? min : max
    return (limit) => compares(stands, operator, limit)
  }
}

