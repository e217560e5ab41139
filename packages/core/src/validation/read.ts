import type { z } from 'zod'
import { jsonFault } from './json-fault.js'
import { validate } from './validate.js'

/**
 * Reads a value that someone gives us: once, at the boundary.
 * @param refuse makes the error from the path at fault ('' for the whole) and what is wrong,
 *   e.g. `distance.1.km: must be …, got -5`. No value that may be a secret or an address is in it.
 */
export function read<T>(schema: z.ZodType<T>, value: unknown, refuse: (field: string, message: string) => Error): T {
  const result = validate(schema, value)
  if (result.success) return result.data
  const { field = '', message } = result.fault
  throw refuse(field, field === '' ? message : `${field}: ${message}`)
}

/** What is wrong with a text that JSON.parse refused, and where. Nothing of the text is in it. */
export function notJson(text: string): string {
  const { line, column, wrong } = jsonFault(text) ?? { line: 1, column: 1, wrong: 'is not as described' }
  return `is no JSON: line ${line}, column ${column}: ${wrong}`
}
