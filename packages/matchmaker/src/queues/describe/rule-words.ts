// pure: any rule of a queue, in words
import type { RuleDefinition } from '../rules/definition.js'
import { allLimitsOf } from '../rules/levels.js'
import type { Rule } from '../rules/rule.js'
import { balanceWords, compareWords, rolesWords } from './team-rule-words.js'
import {
  acceptsWords,
  differenceWords,
  differentWords,
  distanceWords,
  equalWords,
  latencyWords,
  overlapWords,
  requireWords,
} from './ticket-rule-words.js'
import { duration } from './words.js'

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
