// pure: a rule whose defaults are filled in
import type { RuleDefinition, WaitOf } from './definition.js'

/** A rule that was checked. */
export type Rule = RuleDefinition & { readonly name: string; readonly by: WaitOf; readonly hard: boolean }

/** What a rule is called that was not given a name: its kind, and what it is about. */
function nameOf(rule: RuleDefinition): string {
  const about = [
    rule.kind,
    rule.kind === 'compare' ? rule.aggregate : undefined,
    'attribute' in rule ? rule.attribute : undefined,
    'team' in rule ? rule.team : undefined,
  ]
  return about.filter((part) => part !== undefined).join(' ')
}

export const withDefaults = (rule: RuleDefinition): Rule => ({
  ...rule,
  name: rule.name ?? nameOf(rule),
  by: rule.by ?? 'each',
  hard: rule.hard ?? false,
})
