import type { z } from 'zod'

/**
 * A value that has passed its schema.
 * @param what for the message, e.g. `option`.
 * @throws TypeError that names the option and, unless it is a token or fills more than a line, its value.
 */
export function checked<T>(what: string, schema: z.ZodType<T>, value: unknown): T {
  const result = schema.safeParse(value)
  if (result.success) return result.data
  const issue = result.error.issues[0]
  const unknownKey = issue?.code === 'unrecognized_keys' ? issue.keys[0] : undefined
  const path = [...(issue?.path ?? []), ...(unknownKey === undefined ? [] : [unknownKey])]
  const wrong = unknownKey === undefined ? (issue?.message ?? 'is not valid') : 'is not known'
  const got = unknownKey !== undefined || path.some((key) => /token$/i.test(String(key))) ? '' : shown(at(value, path))
  throw new TypeError(`${what} ${path.map(String).join('.')}${path.length === 0 ? '' : ': '}${wrong}${got}`)
}

const at = (value: unknown, path: readonly PropertyKey[]) =>
  path.reduce<unknown>((part, key) => (part as Readonly<Record<PropertyKey, unknown>> | undefined)?.[key], value)

function shown(value: unknown): string {
  if (value === null || typeof value === 'number' || typeof value === 'boolean') return `, got ${String(value)}`
  return typeof value === 'string' && value.length <= 80 ? `, got ${JSON.stringify(value)}` : ''
}
