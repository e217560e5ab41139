/** The kinds of rules, and the table of all of them. */
export type { AcceptsRule } from './accepts.js'
export {
  allLimitsOf,
  innerRulesOf,
  levelsOf,
  limitFieldsOf,
  limitsOf,
  ruleNameOf,
  ratingAttributesOf,
  type Rule,
  type RuleDefinition,
  withDistinctNames,
} from './definition.js'
export { requiredType } from './require.js'
export type { RolesRule } from './roles.js'
export { type CompiledRule, compileRule, ruleClause } from './rule-kinds.js'
export { ruleSchema } from './validate-rule.js'
