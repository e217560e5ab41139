import { validate } from '@muster/core/internal'
import { z } from 'zod'
import { base } from '../rule-parts/index.js'
import { acceptsSchema } from './accepts.js'
import { avoidSchema } from './avoid.js'
import { balanceSchema } from './balance.js'
import { compareSchema } from './compare.js'
import { customSchema } from './custom.js'
import { allLimitsOf, innerRulesOf, type Rule, type RuleDefinition, withDefaults } from './definition.js'
import { differenceSchema } from './difference.js'
import { distanceSchema } from './distance.js'
import { differentSchema, equalSchema } from './equal.js'
import { latencySchema } from './latency.js'
import { overlapSchema } from './overlap.js'
import { requireSchema } from './require.js'
import { rolesSchema } from './roles.js'

/**
 * Maximum number of inner rules and maximum nesting depth (our choice). Inner rules are checked on the whole match,
 * which is slow.
 */
const MOST_INNER = 8
const DEEPEST = 3

/** Fields that an inner rule must not have, because the outer rule's fields apply. */
const LEFT_TO_OUTER = ['name', 'by', 'optionalAfterMs', 'hard'] as const

const inner: z.ZodType<RuleDefinition> = z
  .custom<RuleDefinition>()
  .superRefine((given, context) => {
    const { fault } = validate(definition, given)
    if (fault !== undefined) context.addIssue({ code: 'custom', path: [...fault.path], message: fault.wrong })
    for (const key of fault === undefined && given.kind !== 'custom' ? LEFT_TO_OUTER : []) {
      if (given[key] !== undefined)
        context.addIssue({ code: 'custom', path: [key], message: 'must be left out: set it on the enclosing rule' })
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

/** Returns the depth of nesting: 1 for a rule without inner rules. */
const depthOf = (rule: RuleDefinition): number => 1 + Math.max(0, ...innerRulesOf(rule).map(depthOf))

/**
 * Replaces the string `Infinity` of steps by the number, in a rule and its inner rules. Files cannot hold the number.
 */
function withInfinity(given: unknown): unknown {
  if (typeof given !== 'object' || given === null) return given
  if (Array.isArray(given)) return given.map(withInfinity)
  const isStep = 'afterMs' in given && 'value' in given && given.value === 'Infinity'
  return Object.fromEntries(
    Object.entries(given).map(([name, value]) => [
      name,
      isStep && name === 'value' ? Infinity : name === 'missing' ? value : withInfinity(value),
    ]),
  )
}

const checkedRule = definition
  .refine((rule) => depthOf(rule) <= DEEPEST, `must not be deeper than ${DEEPEST} rules within one another`)
  .meta({ id: 'rule' })

/** The schema of a rule, with its defaults. */
export const ruleSchema: z.ZodType<Rule> = z
  .preprocess(withInfinity, checkedRule)
  .transform((rule): Rule => withDefaults(rule))
