import { InvalidInput } from '@muster/core'
import { systemClock, type Clock } from '@muster/core/clock'
import { validate } from '@muster/core/validation'
import { z } from 'zod'
import type { RedisConnection } from './connection.js'

/** Names of stores, limits and budgets. */
export const nameSchema = z
  .string()
  .regex(/^[A-Za-z0-9._-]{1,64}$/, "must be 1 to 64 letters, digits, '.', '_' and '-'")

export const connectionSchema = z.custom<RedisConnection>(
  (value) => typeof (value as RedisConnection | null | undefined)?.run === 'function',
  'must be a connection made by connectRedis',
)

export const clockSchema = z
  .custom<Clock>((value) => typeof (value as Clock | null | undefined)?.sleep === 'function', 'must have now, sleep')
  .default(systemClock)

/**
 * The options as the schema reads them.
 * @param of name of the function that takes them.
 * @throws {InvalidInput} naming function, option and value
 */
export function checkOptions<T>(of: string, schema: z.ZodType<T>, options: unknown): T {
  const result = validate(schema, options)
  if (result.success) return result.data
  const { field, message } = result.fault
  throw new InvalidInput(`${of}: ${field === undefined ? 'options' : `option ${field}`} ${message}`, { field })
}
