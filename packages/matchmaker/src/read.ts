import type { z } from 'zod'

/** Values under these keys may be an address or a secret, and are not repeated. */
const UNSHOWN = new Set(['ip', 'environment', 'hiddenEnvironment'])

/**
 * Reads a value that someone gives us: once, at the boundary.
 * @param refuse makes the error from the path at fault ('' for the whole) and what is wrong,
 *   e.g. `distance.1.km: must be …, got -5`.
 */
export function read<T>(schema: z.ZodType<T>, value: unknown, refuse: (field: string, message: string) => Error): T {
  const result = schema.safeParse(value)
  if (result.success) return result.data
  const issue = result.error.issues[0]
  const unknownKey = issue?.code === 'unrecognized_keys' ? issue.keys.slice(0, 1) : []
  const path = [...(issue?.path ?? []), ...unknownKey].map(String)
  const wrong = unknownKey.length > 0 ? 'is not known' : `${issue?.message ?? 'is wrong'}${shown(value, path)}`
  throw refuse(path.join('.'), path.length === 0 ? wrong : `${path.join('.')}: ${wrong}`)
}

/** ', got -5'. Objects and lists are too long to show. */
function shown(value: unknown, path: readonly string[]): string {
  if (path.some((key) => UNSHOWN.has(key))) return ''
  const wrong = path.reduce<unknown>((part, key) => (part as Readonly<Record<string, unknown>> | null)?.[key], value)
  if (wrong === undefined) return ', got nothing'
  if (typeof wrong === 'object' || typeof wrong === 'function') return ''
  const text = typeof wrong === 'string' ? JSON.stringify(wrong) : String(wrong)
  return `, got ${text.length > 80 ? `${text.slice(0, 80)}…` : text}`
}
