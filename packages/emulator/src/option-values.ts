import { validate } from '@muster/core/internal'
import type { z } from 'zod'

/**
 * Returns a value if it is valid by its schema.
 * @param what names the value in the message, e.g. `option`.
 * @throws TypeError naming the option and its value. The value is omitted if it may be a secret or is longer than a
 * line.
 */
export function checked<T>(what: string, schema: z.ZodType<T>, value: unknown): T {
  const result = validate(schema, value)
  if (result.success) return result.data
  const { field, message } = result.fault
  throw new TypeError(`${what} ${field === undefined ? '' : `${field}: `}${message}`)
}

/** The type without undefined values: a key whose value may be undefined becomes optional instead. */
type WithoutUndefined<T> = { [Key in keyof T as undefined extends T[Key] ? never : Key]: T[Key] } & {
  [Key in keyof T as undefined extends T[Key] ? Key : never]?: Exclude<T[Key], undefined>
}

/** Drops the keys whose value is undefined, so that spreading the object replaces only keys that have a value. */
export function dropUndefined<T extends object>(object: T): WithoutUndefined<T> {
  return Object.fromEntries(Object.entries(object).filter(([, value]) => value !== undefined)) as WithoutUndefined<T>
}
