// pure: a rule whose defaults are filled in
import type { RuleDefinition } from './definition.js'
import type { WaitOf } from './rule-base.js'

/** A rule that was checked, with defaults filled in. */
export type Rule = RuleDefinition & { readonly name: string; readonly by: WaitOf; readonly hard: boolean }

/** The default name of a rule: its kind, and what it is about. */
export function nameOf(rule: RuleDefinition): string {
  const about = [
    rule.kind,
    rule.kind === 'compare' ? rule.aggregate : undefined,
    rule.kind === 'balance' && rule.measure === 'predictedWin' ? rule.measure : undefined,
    'attribute' in rule ? rule.attribute : undefined,
    'team' in rule ? rule.team : undefined,
  ]
  return about.filter((part) => part !== undefined).join(' ')
}

/** Adds a number to default names that occur more than once: `require skill`, `require skill 2`. */
export function withDistinctNames(rules: readonly Rule[]): Rule[] {
  const taken = new Map<string, number>()
  return rules.map((rule) => {
    const nth = (taken.get(rule.name) ?? 0) + 1
    taken.set(rule.name, nth)
    return nth === 1 || rule.name !== nameOf(rule) ? rule : { ...rule, name: `${rule.name} ${nth}` }
  })
}

export const withDefaults = (rule: RuleDefinition): Rule => ({
  ...rule,
  name: rule.name ?? nameOf(rule),
  by: rule.by ?? 'each',
  hard: rule.hard ?? false,
})
