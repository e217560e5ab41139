// pure: each kind of rule to its compiler
import { compileAvoid } from './avoid.js'
import { compileBalance } from './balance.js'
import { compileCompare } from './compare.js'
import { compileAccepts } from './accepts.js'
import type { CompiledRule, RuleContext } from './compiled-rule.js'
import { compileCustom } from './custom.js'
import { compileDifferent } from './different.js'
import { compileDifference } from './difference.js'
import { compileDistance } from './distance.js'
import { compileEqual } from './equal.js'
import { compileGroup } from './group.js'
import { compileLatency } from './latency.js'
import { compileOverlap } from './overlap.js'
import { compileRequire } from './require.js'
import { compileRoles } from './roles.js'
import type { Rule } from './rule.js'

export function compileRule(rule: Rule, context: RuleContext): CompiledRule {
  switch (rule.kind) {
    case 'distance':
      return compileDistance(rule, context)
    case 'latency':
      return compileLatency(rule, context)
    case 'difference':
      return compileDifference(rule, context)
    case 'equal':
      return compileEqual(rule, context)
    case 'different':
      return compileDifferent(rule, context)
    case 'overlap':
      return compileOverlap(rule, context)
    case 'require':
      return compileRequire(rule, context)
    case 'accepts':
      return compileAccepts(rule, context)
    case 'compare':
      return compileCompare(rule, context)
    case 'roles':
      return compileRoles(rule, context)
    case 'avoid':
      return compileAvoid(rule, context)
    case 'balance':
      return compileBalance(rule, context)
    case 'custom':
      return compileCustom(rule, context)
    case 'any':
    case 'all':
    case 'not':
      return compileGroup(rule, context, compileRule)
  }
}
