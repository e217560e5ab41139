import type { z } from 'zod'
import { validate } from '../validation/validate.js'
import { exactly, type Reader } from './reader.js'

/**
 * Creates a reader of inputs for a schema of the description. Most inputs are a few texts and numbers, e.g. one name,
 * and nearly all are as they must be. Such an input is copied and the copy is checked by plain functions, in a fraction
 * of zod's time. zod reads all others, and says what is wrong with them.
 */
export function inputReaderOf(schema: z.ZodType): Reader {
  if (!isFlat(schema)) return (input) => validate(schema, input)
  const fits = exactly(schema)
  return (input) => {
    if (isPlain(input)) {
      const copy = { ...input }
      if (fits(copy)) return { success: true, data: copy }
    }
    return validate(schema, input)
  }
}

/** Whether a copy of a value shares nothing with it that could be changed. */
function isFlat(schema: z.core.$ZodType): boolean {
  const { def } = (schema as z.core.$ZodTypes)._zod
  return def.type === 'object' && Object.values(def.shape).every(isPrimitive)
}

function isPrimitive(schema: z.core.$ZodType): boolean {
  const { def } = (schema as z.core.$ZodTypes)._zod
  if (def.type === 'optional' || def.type === 'nullable') return isPrimitive(def.innerType)
  return def.type === 'string' || def.type === 'number' || def.type === 'boolean'
}

/** A copy has only an object's own fields, but zod reads inherited ones too. */
const isPlain = (value: unknown): value is object =>
  typeof value === 'object' && value !== null && Object.getPrototypeOf(value) === Object.prototype
