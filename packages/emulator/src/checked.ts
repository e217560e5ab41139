import { validate } from '@muster/core/validation'
import type { z } from 'zod'

/**
 * A value that has passed its schema.
 * @param what for the message, e.g. `option`.
 * @throws TypeError that names the option and, unless it may be a secret or fills more than a line, its value.
 */
export function checked<T>(what: string, schema: z.ZodType<T>, value: unknown): T {
  const result = validate(schema, value)
  if (result.success) return result.data
  const { field, message } = result.fault
  throw new TypeError(`${what} ${field === undefined ? '' : `${field}: `}${message}`)
}
