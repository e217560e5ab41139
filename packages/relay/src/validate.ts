import { InvalidInput } from '@muster/core'
import { having, ipAddress, validate } from '@muster/core/internal'
import type { Clock } from '@muster/core/clock'
import { z } from 'zod'

/** Schemas of options and inputs, and the error for a value that does not fit its schema. */

export const milliseconds = z
  .number()
  .min(1)
  .max(2 ** 31 - 1)
export const count = z.int().min(1)

export const clock = having<Clock>('now', 'sleep')

/** An id that the caller chooses. Only its length is limited. */
export const playerId = z.string().min(1).max(128)

export const player = z.strictObject({ id: playerId, ip: ipAddress })

/**
 * Validates a value and returns the schema's output.
 * @param what the value as a whole, e.g. `createLobbies: option`.
 * @throws {InvalidInput} naming the field, and its value unless it may be a secret or an address.
 */
export function checked<T>(schema: z.ZodType<T>, value: unknown, what: string): T {
  const result = validate(schema, value)
  if (result.success) return result.data
  const { field, message } = result.fault
  throw new InvalidInput(`${what}${field === undefined ? '' : ` ${field}`}: ${message}`, { field })
}
