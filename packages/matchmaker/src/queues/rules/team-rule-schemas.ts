import { z } from 'zod'
import type { CustomRule } from './definition.js'
import { limitForms } from './relaxing-schema.js'
import type { Relaxing } from './relaxing.js'
import { base, comparison, finite, missing, problemOfValue, scope, text } from './schema-parts.js'

/** Schemas of the rules about teams or about the whole match. */

/** Most roles of a rule (our choice): the rule checks every set of roles, and more would be slow. */
const MOST_ROLES = 8

export const compare = z
  .strictObject({
    kind: z.literal('compare'),
    ...base,
    scope,
    attribute: text.optional(),
    aggregate: z.enum(['avg', 'min', 'max', 'sum', 'count']),
    team: text.optional(),
    operator: comparison,
    value: z
      .custom<Relaxing>((value) => value !== undefined)
      .meta({
        get anyOf() {
          return limitForms(finite)
        },
      })
      .optional(),
    otherTeam: text.optional(),
    missing: missing(finite),
  })
  .superRefine((rule, context) => {
    const refuse = (path: PropertyKey[], message: string) => context.addIssue({ code: 'custom', path, message })
    if ((rule.attribute === undefined) !== (rule.aggregate === 'count')) {
      refuse(['attribute'], rule.attribute === undefined ? 'must be given' : 'is not used for count')
    }
    if ((rule.value === undefined) === (rule.otherTeam === undefined)) refuse([], 'must have either value or otherTeam')
    for (const key of ['team', 'otherTeam'] as const) {
      if (rule.scope === 'match' && rule[key] !== undefined) refuse([key], "is not used where scope is 'match'")
    }
    if (rule.value === undefined) return
    const problem = problemOfValue(rule.operator, rule.value)
    if (problem !== undefined) refuse(['value', ...problem.path], problem.message)
  })

const ROLE_COUNT = 'must be a whole number from 0, or { min, max } of which max is not the less'
const whole = z.int().min(0)
const roleCount = z
  .union([whole, z.strictObject({ min: whole, max: whole.optional() })], ROLE_COUNT)
  .refine((count) => typeof count === 'number' || (count.max ?? count.min) >= count.min, ROLE_COUNT)

export const roles = z.strictObject({
  kind: z.literal('roles'),
  ...base,
  roles: z.record(text, roleCount).refine((counts) => {
    const count = Object.keys(counts).length
    return count >= 1 && count <= MOST_ROLES
  }, `must be 1 to ${MOST_ROLES} roles`),
  team: text.optional(),
})

export const custom = z.strictObject({
  kind: z.literal('custom'),
  ...base,
  name: text.max(64),
  test: z.custom<CustomRule['test']>((value) => typeof value === 'function', 'must be a function'),
})
