import { type Checked, duration, type RuleChecks, type RuleContext } from '../rule-parts/index.js'
import { acceptsWords, compileAccepts } from './accepts.js'
import { avoidWords, compileAvoid } from './avoid.js'
import { balanceWords, compileBalance } from './balance.js'
import { compareWords, compileCompare } from './compare.js'
import { compileCustom } from './custom.js'
import { allLimitsOf, type AllRule, type AnyRule, type NotRule, type Rule, type RuleDefinition } from './definition.js'
import { compileDifference, differenceWords } from './difference.js'
import { compileDistance, distanceWords } from './distance.js'
import { compileDifferent, compileEqual, differentWords, equalWords } from './equal.js'
import { compileGroup } from './group.js'
import { compileLatency, latencyWords } from './latency.js'
import { compileOverlap, overlapWords } from './overlap.js'
import { compileRequire, requireWords } from './require.js'
import { compileRoles, rolesWords } from './roles.js'

interface RuleKind<Definition extends RuleDefinition> {
  compile(rule: Checked<Definition>, context: RuleContext): RuleChecks
  /** Describes the condition in words. @param depth the rule's nesting depth. */
  words(rule: Definition, depth: number): string
}

const compileWithin = (rule: Rule & (AnyRule | AllRule | NotRule), context: RuleContext): RuleChecks =>
  compileGroup(rule, context, (inner, around) => kindOf(inner).compile(inner, around))

const KINDS: { readonly [Kind in RuleDefinition['kind']]: RuleKind<Extract<RuleDefinition, { kind: Kind }>> } = {
  distance: { compile: compileDistance, words: distanceWords },
  latency: { compile: compileLatency, words: latencyWords },
  difference: { compile: compileDifference, words: differenceWords },
  equal: { compile: compileEqual, words: equalWords },
  different: { compile: compileDifferent, words: differentWords },
  overlap: { compile: compileOverlap, words: overlapWords },
  require: { compile: compileRequire, words: requireWords },
  accepts: { compile: compileAccepts, words: acceptsWords },
  compare: { compile: compileCompare, words: compareWords },
  roles: { compile: compileRoles, words: rolesWords },
  avoid: { compile: compileAvoid, words: avoidWords },
  balance: { compile: compileBalance, words: balanceWords },
  custom: { compile: compileCustom, words: ({ name }) => `the function of rule ${name} lets the match through` },
  any: {
    compile: compileWithin,
    words: ({ rules }, depth) => `at least one of these holds: ${numbered(rules, 'or', depth)}`,
  },
  all: { compile: compileWithin, words: ({ rules }, depth) => `all of these hold: ${numbered(rules, 'and', depth)}` },
  not: { compile: compileWithin, words: ({ rule }, depth) => `this does not hold: ${wordsOf(rule, depth)}` },
}

const kindOf = ({ kind }: RuleDefinition): RuleKind<RuleDefinition> => KINDS[kind]

const wordsOf = (rule: RuleDefinition, depth: number) => kindOf(rule).words(rule, depth)

/** A rule of a queue with its checks. */
export interface CompiledRule extends RuleChecks {
  readonly rule: Rule
}

export const compileRule = (rule: Rule, context: RuleContext): CompiledRule => ({
  rule,
  ...kindOf(rule).compile(rule, context),
})

const WHOSE = {
  each: '',
  youngest: ', by the wait of the youngest ticket of the match',
  oldest: ', by the wait of the oldest ticket of the match',
  average: ', by the average wait of the match',
}

/** Returns a rule of the queue as a clause: its condition, the wait that relaxes it, and how long it applies. */
export function ruleClause(rule: Rule): string {
  const { by, optionalAfterMs } = rule
  const relaxes = optionalAfterMs !== undefined || allLimitsOf(rule).some((limit) => typeof limit !== 'number')
  const ends = optionalAfterMs === undefined ? '' : `; this no longer counts after ${duration(optionalAfterMs)}`
  return `${wordsOf(rule, 0)}${ends}${relaxes ? WHOSE[by] : ''}`
}

/** The numbering of nested rules, by depth. */
const MARKS = ['12345678', 'abcdefgh', 'stuvwxyz']

/**
 * Joins rules as `(1) all players have the same mode, or (2) …`. Numbers are needed because clauses may contain commas
 * and semicolons.
 */
function numbered(rules: readonly RuleDefinition[], last: 'or' | 'and', depth: number): string {
  const marked = rules.map((rule, index) => `(${MARKS[depth]?.[index]}) ${wordsOf(rule, depth + 1)}`)
  return `${marked.slice(0, -1).join(', ')}, ${last} ${marked.at(-1)}`
}
