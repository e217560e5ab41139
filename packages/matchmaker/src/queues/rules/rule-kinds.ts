import { validate } from '@muster/core/internal'
import { z } from 'zod'
import { duration, type RuleChecks, type RuleContext, base } from '../rule-parts/index.js'
import { acceptsSchema, acceptsWords, compileAccepts } from './accepts.js'
import { avoidSchema, compileAvoid } from './avoid.js'
import { balanceSchema, balanceWords, compileBalance } from './balance.js'
import { compareSchema, compareWords, compileCompare } from './compare.js'
import { compileCustom, customSchema } from './custom.js'
import { allLimitsOf, innerRulesOf, type Rule, type RuleDefinition, withDefaults } from './definition.js'
import { compileDifference, differenceSchema, differenceWords } from './difference.js'
import { compileDistance, distanceSchema, distanceWords } from './distance.js'
import { compileDifferent, compileEqual, differentSchema, differentWords, equalSchema, equalWords } from './equal.js'
import { compileGroup } from './group.js'
import { compileLatency, latencySchema, latencyWords } from './latency.js'
import { compileOverlap, overlapSchema, overlapWords } from './overlap.js'
import { compileRequire, requireSchema, requireWords } from './require.js'
import { compileRoles, rolesSchema, rolesWords } from './roles.js'

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

/**
 * Most inner rules and deepest nesting (our choice): inner rules are checked on the whole match, and more would be
 * slow.
 */
const MOST_INNER = 8
const DEEPEST = 3

/** Fields that an inner rule must not have, because those of the rule around it count. */
const LEFT_TO_OUTER = ['name', 'by', 'optionalAfterMs', 'hard'] as const

const inner: z.ZodType<RuleDefinition> = z
  .custom<RuleDefinition>()
  .superRefine((given, context) => {
    const { fault } = validate(definition, given)
    if (fault !== undefined) context.addIssue({ code: 'custom', path: [...fault.path], message: fault.wrong })
    for (const key of fault === undefined && given.kind !== 'custom' ? LEFT_TO_OUTER : []) {
      if (given[key] !== undefined)
        context.addIssue({ code: 'custom', path: [key], message: 'is left to the rule around it' })
    }
  })
  .meta({
    allOf: [{ $ref: '#/$defs/rule' }],
    not: { anyOf: LEFT_TO_OUTER.map((key) => ({ required: [key] })) },
  })
const several = z.array(inner).min(2).max(MOST_INNER)

const any = z.strictObject({ kind: z.literal('any'), ...base, rules: several })
const all = z.strictObject({ kind: z.literal('all'), ...base, rules: several })
const not = z.strictObject({ kind: z.literal('not'), ...base, rule: inner }).superRefine(({ rule }, context) => {
  if (allLimitsOf(rule).some((limit) => typeof limit !== 'number')) {
    context.addIssue({
      code: 'custom',
      path: ['rule'],
      message: 'must not relax within not: that would make it stricter',
    })
  }
})

const kinds = [
  distanceSchema,
  latencySchema,
  differenceSchema,
  equalSchema,
  differentSchema,
  overlapSchema,
  requireSchema,
  acceptsSchema,
  compareSchema,
  rolesSchema,
  avoidSchema,
  balanceSchema,
  customSchema,
  any,
  all,
  not,
] as const

const KINDS = `must be one of ${kinds.map((kind) => [...kind.shape.kind.values].join()).join(', ')}`

const definition: z.ZodType<RuleDefinition> = z.discriminatedUnion('kind', kinds, {
  error: (issue) => (issue.code === 'invalid_union' ? KINDS : undefined),
})

/** Depth of nesting: 1 for a rule without inner rules. */
const depthOf = (rule: RuleDefinition): number => 1 + Math.max(0, ...innerRulesOf(rule).map(depthOf))

/** The schema of a rule, which fills in defaults. */
export const ruleSchema: z.ZodType<Rule> = definition
  .refine((rule) => depthOf(rule) <= DEEPEST, `must not be deeper than ${DEEPEST} rules within one another`)
  .meta({ id: 'rule' })
  .transform((rule): Rule => withDefaults(rule))

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
