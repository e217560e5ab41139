import { validate } from '@muster/core/internal'
import { ShownName } from '@muster/hosting/internal'
import { z } from 'zod'
import type { LimitBounds, RelaxationStep, RelaxingLimit } from './relaxing.js'

/** The direction in which a limit relaxes: up, down, or not at all. */
type Loosening = 'rises' | 'falls' | 'stays'

/** A fault of a value, and the path of the faulty part. */
interface FieldFault {
  readonly path: readonly PropertyKey[]
  readonly message: string
}

/** Milliseconds, at most a week (our choice). */
export const waitMs = z
  .number()
  .min(0)
  .max(7 * 24 * 3600 * 1000)

/** Maximum number of steps of a limit: enough for any table written by hand (our choice). */
const MOST_STEPS = 20

/** The schema of a limit: each value fits `value`, and no step is stricter than the one before. */
export function relaxing(value: z.ZodType<number>, loosening: Loosening): z.ZodType<RelaxingLimit> {
  const problemOfLimit = limitCheck(value, loosening)
  return z
    .custom<RelaxingLimit>((given) => given !== undefined, 'must be given')
    .superRefine((given, context) => {
      const problem = problemOfLimit(given)
      if (problem !== undefined) context.addIssue({ code: 'custom', path: [...problem.path], message: problem.message })
    })
    .meta({
      get anyOf() {
        return limitForms(value)
      },
    })
}

/**
 * Converts a part of a schema to JSON Schema. The conversion is slow and only editors need it, so `meta` gets the
 * result by a getter.
 */
export function jsonOf(schema: z.ZodType): Record<string, unknown> {
  const { $schema: _, ...json } = z.toJSONSchema(schema, { io: 'input', unrepresentable: 'any' })
  return json
}

/** Returns the forms of a limit as JSON Schema, which cannot express that no step is stricter than the one before. */
export function limitForms(value: z.ZodType<number>): Record<string, unknown>[] {
  const [number, wait] = [jsonOf(value), jsonOf(waitMs)]
  const object = (properties: Record<string, unknown>, required: readonly string[]) => ({
    type: 'object',
    properties,
    required,
    additionalProperties: false,
  })
  const step = object({ afterMs: wait, value: number }, ['afterMs', 'value'])
  const over = jsonOf(waitMs.positive())
  const line = object({ from: number, to: number, startMs: wait, overMs: over }, ['from', 'to', 'overMs'])
  const bounds = object({ strictest: number, loosest: number }, ['strictest', 'loosest'])
  return [number, { type: 'array', items: step, minItems: 1, maxItems: MOST_STEPS }, line, bounds]
}

/** Creates a check that returns the fault of a limit, if any. */
export function limitCheck(value: z.ZodType<number>, loosening: Loosening): (given: unknown) => FieldFault | undefined {
  // A rising limit may end at Infinity, for no limit. A line cannot end there, because it would have no steps.
  const stepValue = loosening === 'rises' ? z.union([value, z.literal(Infinity)]) : value
  const steps = z
    .array(z.strictObject({ afterMs: waitMs, value: stepValue }))
    .min(1)
    .max(MOST_STEPS)
  const line = z.strictObject({ from: value, to: value, startMs: waitMs.optional(), overMs: waitMs.positive() })
  const bounds = z.strictObject({ strictest: value, loosest: value })
  const looser = (later: number, sooner: number) => (loosening === 'rises' ? later >= sooner : later <= sooner)
  const word = loosening === 'rises' ? 'less' : 'more'
  return (given) => {
    if (typeof given !== 'object' || given === null) return problemOf(value, given)
    if (loosening === 'stays') return { path: [], message: 'must be a number: it cannot relax' }
    if (Array.isArray(given)) return problemOf(steps, given) ?? problemOfSteps(given as RelaxationStep[], looser, word)
    if ('strictest' in given || 'loosest' in given) {
      const problem = problemOf(bounds, given)
      const { strictest, loosest } = given as LimitBounds
      if (problem !== undefined || looser(loosest, strictest)) return problem
      return { path: ['loosest'], message: `must not be ${word} than strictest, ${strictest}` }
    }
    const problem = problemOf(line, given)
    if (problem !== undefined) return problem
    const { from, to } = given as { readonly from: number; readonly to: number }
    return looser(to, from) ? undefined : { path: ['to'], message: `must not be ${word} than from, ${from}` }
  }
}

function problemOfSteps(
  steps: readonly RelaxationStep[],
  looser: (later: number, sooner: number) => boolean,
  word: string,
): FieldFault | undefined {
  for (const [index, { afterMs, value }] of steps.entries()) {
    const before = steps[index - 1]
    if (before === undefined) {
      if (afterMs !== 0) return { path: [index, 'afterMs'], message: 'must be 0 in the first step' }
      continue
    }
    const thatBefore = (key: keyof RelaxationStep) => `than ${before[key]}, the value of the step before`
    if (afterMs <= before.afterMs) return { path: [index, 'afterMs'], message: `must be more ${thatBefore('afterMs')}` }
    if (!looser(value, before.value))
      return { path: [index, 'value'], message: `must not be ${word} ${thatBefore('value')}` }
  }
  return undefined
}

function problemOf(schema: z.ZodType, given: unknown): FieldFault | undefined {
  const { fault } = validate(schema, given)
  return fault && { path: fault.path, message: fault.wrong }
}

/** Shared parts of several rules' schemas. */

export const textSchema = z.string().min(1).max(128)
export const textsSchema = z.array(textSchema).max(128)
export const finite = z.number()
export const notNegative = z.number().min(0)
export const scalarSchema = z.union([z.string(), finite, z.boolean()])
export const comparisonSchema = z.enum(['=', '!=', '<', '<=', '>', '>='])
const membership = ['in', 'not in', 'contains', 'excludes'] as const
export const partySchema = z.enum(['avg', 'min', 'max', 'each']).optional()
export const scopeSchema = z.enum(['match', 'team']).optional()

/** The schemas of the fields of `Among`. */
export const among = { scope: scopeSchema, team: textSchema.optional() }

export const missingSchema = <T>(value: z.ZodType<T>) =>
  z
    .union(
      [z.enum(['refuse', 'any']), z.strictObject({ value })],
      "must be 'refuse', 'any' or { value } of the attribute's type",
    )
    .optional()

/** The fields of every rule. */
export const base = {
  name: ShownName.optional(),
  by: z.enum(['each', 'youngest', 'oldest', 'average']).optional(),
  optionalAfterMs: waitMs.optional(),
  hard: z.boolean().optional(),
}

const valueChecks = {
  rises: limitCheck(finite, 'rises'),
  falls: limitCheck(finite, 'falls'),
  stays: limitCheck(finite, 'stays'),
}

/** Returns the fault of a comparison's value, which may relax in the direction that allows more. */
export const problemOfValue = (operator: string, value: unknown): FieldFault | undefined =>
  valueChecks[operator.startsWith('<') ? 'rises' : operator.startsWith('>') ? 'falls' : 'stays'](value)

export const operatorSchema = z.enum([...comparisonSchema.options, ...membership])
