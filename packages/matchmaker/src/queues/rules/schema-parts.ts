import { z } from 'zod'
import { limitCheck, waitMs, type Problem } from './relaxing-schema.js'

/** Parts of the schemas of several rules. */

export const text = z.string().min(1).max(128)
export const texts = z.array(text).max(128)
export const finite = z.number()
export const notNegative = z.number().min(0)
export const scalar = z.union([z.string(), finite, z.boolean()])
export const comparison = z.enum(['=', '!=', '<', '<=', '>', '>='])
export const membership = ['in', 'not in', 'contains', 'excludes'] as const
export const party = z.enum(['avg', 'min', 'max', 'each']).optional()
export const scope = z.enum(['match', 'team']).optional()

export const missing = <T>(value: z.ZodType<T>) =>
  z
    .union(
      [z.enum(['refuse', 'any']), z.strictObject({ value })],
      "must be 'refuse', 'any' or { value } of the attribute's type",
    )
    .optional()

/** The fields of every rule. */
export const base = {
  name: text.max(64).optional(),
  by: z.enum(['each', 'youngest', 'oldest', 'average']).optional(),
  optionalAfterMs: waitMs.optional(),
  hard: z.boolean().optional(),
}

const limits = {
  rises: limitCheck(finite, 'rises'),
  falls: limitCheck(finite, 'falls'),
  stays: limitCheck(finite, 'stays'),
}

/** Says what is wrong with the value of a comparison, which may relax in the direction that lets more in. */
export const problemOfValue = (operator: string, value: unknown): Problem | undefined =>
  limits[operator.startsWith('<') ? 'rises' : operator.startsWith('>') ? 'falls' : 'stays'](value)
