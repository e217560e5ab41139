import { duration, type RuleChecks, type RuleContext } from '../rule-parts/index.js'
import { acceptsWords, compileAccepts } from './accepts.js'
import { compileAvoid } from './avoid.js'
import { balanceWords, compileBalance } from './balance.js'
import { compareWords, compileCompare } from './compare.js'
import { compileCustom } from './custom.js'
import { allLimitsOf, type Rule, type RuleDefinition } from './definition.js'
import { compileDifference, differenceWords } from './difference.js'
import { compileDistance, distanceWords } from './distance.js'
import { compileDifferent, compileEqual, differentWords, equalWords } from './equal.js'
import { compileGroup } from './group.js'
import { compileLatency, latencyWords } from './latency.js'
import { compileOverlap, overlapWords } from './overlap.js'
import { compileRequire, requireWords } from './require.js'
import { compileRoles, rolesWords } from './roles.js'

/** A rule of a queue with its checks. */
export interface CompiledRule extends RuleChecks {
  readonly rule: Rule
}

export const compileRule = (rule: Rule, context: RuleContext): CompiledRule => ({ rule, ...checksFor(rule, context) })

function checksFor(rule: Rule, context: RuleContext): RuleChecks {
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
      return compileGroup(rule, context, checksFor)
  }
}

const WHOSE = {
  each: '',
  youngest: ', by the wait of the youngest ticket of the match',
  oldest: ', by the wait of the oldest ticket of the match',
  average: ', by the average wait of the match',
}

/** A rule of the queue as a clause: what holds, by whose wait, and for how long. */
export function ruleClause(rule: Rule): string {
  const { by, optionalAfterMs } = rule
  const relaxes = optionalAfterMs !== undefined || allLimitsOf(rule).some((limit) => typeof limit !== 'number')
  const ends = optionalAfterMs === undefined ? '' : `; this no longer counts after ${duration(optionalAfterMs)}`
  return `${conditionOf(rule)}${ends}${relaxes ? WHOSE[by] : ''}`
}

/** What a rule wants of a match. */
function conditionOf(rule: RuleDefinition, depth = 0): string {
  switch (rule.kind) {
    case 'distance':
      return distanceWords(rule)
    case 'latency':
      return latencyWords(rule)
    case 'difference':
      return differenceWords(rule)
    case 'equal':
      return equalWords(rule)
    case 'different':
      return differentWords(rule)
    case 'overlap':
      return overlapWords(rule)
    case 'require':
      return requireWords(rule)
    case 'accepts':
      return acceptsWords(rule)
    case 'compare':
      return compareWords(rule)
    case 'roles':
      return rolesWords(rule)
    case 'balance':
      return balanceWords(rule)
    case 'avoid':
      return 'no player meets anyone on their avoid list, nor anyone whose list they are on'
    case 'custom':
      return `the function of rule ${rule.name} lets the match through`
    case 'any':
      return `at least one of these holds: ${numbered(rule.rules, 'or', depth)}`
    case 'all':
      return `all of these hold: ${numbered(rule.rules, 'and', depth)}`
    case 'not':
      return `this does not hold: ${conditionOf(rule.rule, depth)}`
  }
}

/** How the rules within a rule are numbered, by depth. */
const MARKS = ['12345678', 'abcdefgh', 'stuvwxyz']

/** `(1) all players have the same mode, or (2) …`: clauses may have commas and semicolons of their own. */
function numbered(rules: readonly RuleDefinition[], last: 'or' | 'and', depth: number): string {
  const marked = rules.map((rule, index) => `(${MARKS[depth]?.[index]}) ${conditionOf(rule, depth + 1)}`)
  return `${marked.slice(0, -1).join(', ')}, ${last} ${marked.at(-1)}`
}
