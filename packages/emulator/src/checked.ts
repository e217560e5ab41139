import { validate } from '@muster/core/validation'
import type { z } from 'zod'

/**
 * Checks a value against its schema and returns it.
 * @param what names the value in the message, e.g. `option`.
 * @throws TypeError that names the option and, unless the value may be a secret or is longer than a line, the value.
 */
export function checked<T>(what: string, schema: z.ZodType<T>, value: unknown): T {
  const result = validate(schema, value)
  if (result.success) return result.data
  const { field, message } = result.fault
  throw new TypeError(`${what} ${field === undefined ? '' : `${field}: `}${message}`)
}
