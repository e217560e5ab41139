// pure: the difference rule
import type { CompiledRule, RuleContext } from './compiled-rule.js'
import type { DifferenceRule } from './definition.js'
import { tableOf } from './levels.js'
import type { Rule } from './rule.js'
import { tallyOf } from './tally.js'
import { A_NUMBER, valuesOf, type Wanted } from './values.js'

const ANYTHING = [Number.NaN, Number.NaN] as const

export function compileDifference(rule: Rule & DifferenceRule, { levels }: RuleContext): CompiledRule {
  const { party = 'avg' } = rule
  const limit = tableOf(levels, rule.max, Infinity, rule)
  const most = limit[levels.last] ?? Infinity
  const wanted: Wanted<number> = { attribute: rule.attribute, type: A_NUMBER, missing: rule.missing, rule: rule.name }
  return {
    rule,
    span: { by: rule.by, limit },
    boundsOf: (ticket, refuse) => {
      const values = valuesOf(ticket, wanted, refuse)
      const [only] = values
      if (only === undefined) return ANYTHING
      if (values.length === 1) return [only, only]
      const { count, sum, min, max } = tallyOf(values)
      if (party !== 'each') {
        const value = party === 'avg' ? sum / count : party === 'min' ? min : max
        return [value, value]
      }
      if (max - min > most) {
        const allowed = `rule ${JSON.stringify(rule.name)} never allows more than ${most}`
        throw refuse('players', `differ by ${max - min} in ${rule.attribute}, and ${allowed}`)
      }
      return [min, max]
    },
  }
}
