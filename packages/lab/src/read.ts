import { validate } from '@muster/core/validation'
import type { z } from 'zod'

/**
 * Reads a value that someone gives us: once, at the boundary.
 * @param refuse makes the error from the path at fault ('' for the whole) and what is wrong with it, which names path
 *   and value.
 */
export function read<T>(schema: z.ZodType<T>, value: unknown, refuse: (field: string, message: string) => Error): T {
  const result = validate(schema, value)
  if (result.success) return result.data
  const { field = '', message } = result.fault
  throw refuse(field, field === '' ? message : `${field}: ${message}`)
}
