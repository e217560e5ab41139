import { validate } from '@muster/core/validation'
import { z } from 'zod'
import type { CustomRule, Relaxing, RequireRule } from './definition.js'
import { withDefaults, type Rule } from './rule.js'
import { limitCheck, relaxing, waitMs } from './relaxing-schema.js'

/** A rule counts for a role all sets of roles: more would be slow (our choice). */
const MOST_ROLES = 8

const text = z.string().min(1).max(128)
const finite = z.number()
const notNegative = z.number().min(0)
const operators = z.enum(['=', '!=', '<', '<=', '>', '>='])
const party = z.enum(['avg', 'min', 'max', 'each']).optional()
const missing = <T>(value: z.ZodType<T>) =>
  z
    .union([z.enum(['refuse', 'any']), z.strictObject({ value })], "must be 'refuse', 'any' or { value } of the attribute's type")
    .optional()
const texts = z.array(text).max(128)

const base = {
  name: text.max(64).optional(),
  by: z.enum(['each', 'youngest', 'oldest', 'average']).optional(),
  optionalAfterMs: waitMs.optional(),
  hard: z.boolean().optional(),
}

/** What is wrong with the value of a comparison, which may relax in the way that lets more in. */
const checks = { rises: limitCheck(finite, 'rises'), falls: limitCheck(finite, 'falls'), stays: limitCheck(finite, 'stays') }
const problemOfValue = (operator: string, value: unknown) =>
  checks[operator.startsWith('<') ? 'rises' : operator.startsWith('>') ? 'falls' : 'stays'](value)

const distance = z.strictObject({
  kind: z.literal('distance'),
  ...base,
  maxKm: relaxing(finite.positive(), 'rises'),
  missing: z.enum(['network', 'refuse', 'any']).optional(),
})

const latency = z
  .strictObject({
    kind: z.literal('latency'),
    ...base,
    maxMs: relaxing(finite.positive(), 'rises').optional(),
    maxDifferenceMs: relaxing(notNegative, 'rises').optional(),
    missing: z.enum(['refuse', 'any']).optional(),
  })
  .refine((rule) => rule.maxMs !== undefined || rule.maxDifferenceMs !== undefined, 'must have maxMs, maxDifferenceMs or both')

const difference = z.strictObject({
  kind: z.literal('difference'),
  ...base,
  attribute: text,
  max: relaxing(notNegative, 'rises'),
  party,
  missing: missing(finite),
})

const equal = z.strictObject({
  kind: z.literal('equal'),
  ...base,
  attribute: text,
  missing: missing(z.union([z.string(), finite])),
})

const overlap = z.strictObject({
  kind: z.literal('overlap'),
  ...base,
  attribute: text,
  atLeast: relaxing(notNegative, 'falls').optional(),
  party: z.enum(['intersection', 'union']).optional(),
  missing: missing(texts),
})

const numberOrText = z.union([z.string(), finite], 'must be a number or a text: it cannot relax')
const requiredValue = new Map<string, z.ZodType>([
  ['in', texts.min(1)],
  ['contains', text],
  ['=', numberOrText],
  ['!=', numberOrText],
])

/** Of what type the attribute is that a `require` rule looks at. */
function requiredType({ operator, value }: Pick<RequireRule, 'operator' | 'value'>): 'number' | 'string' | 'list' {
  if (operator === 'contains') return 'list'
  return operator === 'in' || typeof value === 'string' ? 'string' : 'number'
}

const require = z
  .strictObject({
    kind: z.literal('require'),
    ...base,
    attribute: text,
    operator: z.enum([...operators.options, 'in', 'contains']),
    value: z.custom<RequireRule['value']>((value) => value !== undefined, 'must be given'),
    party,
    missing: missing(z.union([z.string(), finite, texts])),
  })
  .superRefine((rule, context) => {
    const refuse = (path: PropertyKey[], message: string) => context.addIssue({ code: 'custom', path, message })
    const schema = requiredValue.get(rule.operator)
    const fault = schema && validate(schema, rule.value).fault
    const problem = schema ? fault && { path: fault.path, message: fault.wrong } : problemOfValue(rule.operator, rule.value)
    if (problem !== undefined) refuse(['value', ...problem.path], problem.message)
    const type = requiredType(rule)
    if (typeof rule.missing === 'object' && typeof rule.missing.value !== (type === 'list' ? 'object' : type)) {
      refuse(['missing', 'value'], `must be a ${type}, as the rule compares`)
    }
    if (rule.party !== undefined && type !== 'number') refuse(['party'], 'is for comparisons of numbers')
  })

const compare = z
  .strictObject({
    kind: z.literal('compare'),
    ...base,
    attribute: text.optional(),
    aggregate: z.enum(['avg', 'min', 'max', 'sum', 'count']),
    team: text.optional(),
    operator: operators,
    value: z.custom<Relaxing>((value) => value !== undefined).optional(),
    otherTeam: text.optional(),
    missing: missing(finite),
  })
  .superRefine((rule, context) => {
    const refuse = (path: PropertyKey[], message: string) => context.addIssue({ code: 'custom', path, message })
    if ((rule.attribute === undefined) !== (rule.aggregate === 'count')) {
      refuse(['attribute'], rule.attribute === undefined ? 'must be given' : 'is not used for count')
    }
    if ((rule.value === undefined) === (rule.otherTeam === undefined)) refuse([], 'must have either value or otherTeam')
    if (rule.value === undefined) return
    const problem = problemOfValue(rule.operator, rule.value)
    if (problem !== undefined) refuse(['value', ...problem.path], problem.message)
  })

const ROLE_COUNT = 'must be a whole number from 0, or { min, max } of which max is not the less'
const whole = z.int().min(0)
const roleCount = z
  .union([whole, z.strictObject({ min: whole, max: whole.optional() })], ROLE_COUNT)
  .refine((count) => typeof count === 'number' || (count.max ?? count.min) >= count.min, ROLE_COUNT)

const roles = z.strictObject({
  kind: z.literal('roles'),
  ...base,
  roles: z.record(text, roleCount).refine((counts) => {
    const count = Object.keys(counts).length
    return count >= 1 && count <= MOST_ROLES
  }, `must be 1 to ${MOST_ROLES} roles`),
  team: text.optional(),
})

const avoid = z.strictObject({ kind: z.literal('avoid'), ...base })

const balance = z.strictObject({
  kind: z.literal('balance'),
  ...base,
  attribute: text,
  aggregate: z.enum(['avg', 'sum', 'min', 'max']).optional(),
  max: relaxing(notNegative, 'rises'),
  missing: missing(finite),
})

const custom = z.strictObject({
  kind: z.literal('custom'),
  ...base,
  name: text.max(64),
  test: z.custom<CustomRule['test']>((value) => typeof value === 'function', 'must be a function'),
})

const kinds = [distance, latency, difference, equal, overlap, require, compare, roles, avoid, balance, custom] as const

const KINDS = `must be one of ${kinds.map((kind) => [...kind.shape.kind.values].join()).join(', ')}`

/** A rule, its defaults filled in. */
export const ruleSchema: z.ZodType<Rule> = z
  .discriminatedUnion('kind', kinds, { error: (issue) => (issue.code === 'invalid_union' ? KINDS : undefined) })
  .transform((rule): Rule => withDefaults(rule))
