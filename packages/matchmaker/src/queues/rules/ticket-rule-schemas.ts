import { validate } from '@muster/core/validation'
import { z } from 'zod'
import type { RequireRule } from './definition.js'
import { jsonOf, limitForms, relaxing } from './relaxing-schema.js'
import {
  base,
  comparison,
  finite,
  membership,
  missing,
  notNegative,
  party,
  problemOfValue,
  scalar,
  scope,
  text,
  texts,
} from './schema-parts.js'

/** Schemas of the rules about single tickets or pairs of tickets. */

export const distance = z.strictObject({
  kind: z.literal('distance'),
  ...base,
  maxKm: relaxing(finite.positive(), 'rises'),
  missing: z.enum(['network', 'refuse', 'any']).optional(),
})

export const latency = z
  .strictObject({
    kind: z.literal('latency'),
    ...base,
    maxMs: relaxing(finite.positive(), 'rises').optional(),
    maxDifferenceMs: relaxing(notNegative, 'rises').optional(),
    missing: z.enum(['refuse', 'any']).optional(),
  })
  .refine(
    (rule) => rule.maxMs !== undefined || rule.maxDifferenceMs !== undefined,
    'must have maxMs, maxDifferenceMs or both',
  )

export const difference = z.strictObject({
  kind: z.literal('difference'),
  ...base,
  attribute: text,
  max: relaxing(notNegative, 'rises'),
  party,
  missing: missing(finite),
})

const sameness = { ...base, attribute: text, scope, missing: missing(scalar) }
export const equal = z.strictObject({ kind: z.literal('equal'), ...sameness })
export const different = z.strictObject({ kind: z.literal('different'), ...sameness })

export const overlap = z.strictObject({
  kind: z.literal('overlap'),
  ...base,
  attribute: text,
  atLeast: relaxing(notNegative, 'falls').optional(),
  party: z.enum(['intersection', 'union']).optional(),
  missing: missing(texts),
})

const operator = z.enum([...comparison.options, ...membership])

const cannotRelax = z.union([z.string(), finite, z.boolean()], 'must be a number, a text or a boolean: it cannot relax')
const requiredValue = new Map<string, z.ZodType>([
  ['in', texts.min(1)],
  ['not in', texts.min(1)],
  ['contains', text],
  ['excludes', text],
  ['=', cannotRelax],
  ['!=', cannotRelax],
])

/** The type that a `require` rule needs its attribute to have. */
function requiredType({
  operator: how,
  value,
}: Pick<RequireRule, 'operator' | 'value'>): 'number' | 'string' | 'boolean' | 'list' {
  if (how === 'contains' || how === 'excludes') return 'list'
  if (how === 'in' || how === 'not in' || typeof value === 'string') return 'string'
  return typeof value === 'boolean' ? 'boolean' : 'number'
}

export const require = z
  .strictObject({
    kind: z.literal('require'),
    ...base,
    attribute: text,
    operator,
    value: z
      .custom<RequireRule['value']>((value) => value !== undefined, 'must be given')
      .meta({
        get anyOf() {
          return [{ anyOf: limitForms(finite) }, ...[z.string(), z.boolean(), texts].map(jsonOf)]
        },
      }),
    party,
    missing: missing(z.union([scalar, texts])),
  })
  .superRefine((rule, context) => {
    const refuse = (path: PropertyKey[], message: string) => context.addIssue({ code: 'custom', path, message })
    const schema = requiredValue.get(rule.operator)
    const fault = schema && validate(schema, rule.value).fault
    const problem = schema
      ? fault && { path: fault.path, message: fault.wrong }
      : problemOfValue(rule.operator, rule.value)
    if (problem !== undefined) refuse(['value', ...problem.path], problem.message)
    const type = requiredType(rule)
    if (typeof rule.missing === 'object' && typeof rule.missing.value !== (type === 'list' ? 'object' : type)) {
      refuse(['missing', 'value'], `must be a ${type}, as the rule compares`)
    }
    if (rule.party !== undefined && type !== 'number') refuse(['party'], 'is for comparisons of numbers')
  })

export const accepts = z.strictObject({
  kind: z.literal('accepts'),
  ...base,
  attribute: text,
  operator,
  own: text,
  missing: missing(z.union([scalar, texts])),
})

export const avoid = z.strictObject({ kind: z.literal('avoid'), ...base })
