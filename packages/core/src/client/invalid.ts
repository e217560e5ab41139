import type { z } from 'zod'
import { isHidden, scrub } from '../redact.js'
import { InvalidInput, type CallFacts } from './errors.js'

/**
 * The error for a value that does not fit its schema: names the field, what is wrong, and the value
 * unless it may be a secret or an address.
 * @param what the value as a whole, e.g. `deployments.create: input`.
 */
export function invalid(what: string, value: unknown, error: z.core.$ZodError, facts: CallFacts = {}): InvalidInput {
  const issue = deepest(error.issues[0])
  const unknownKey = issue?.code === 'unrecognized_keys' ? issue.keys[0] : undefined
  const path = [...(issue?.path ?? []), ...(unknownKey === undefined ? [] : [unknownKey])].map(String)
  const field = path.length === 0 ? undefined : path.join('.')
  const wrong = unknownKey === undefined ? complaint(issue, path, value) : 'is not known'
  return new InvalidInput(`${what}${field === undefined ? '' : ` ${field}`}: ${wrong}`, { ...facts, field })
}

/** Of a union that failed, the branch that came furthest into the value says most. */
function deepest(issue: z.core.$ZodIssue | undefined): z.core.$ZodIssue | undefined {
  if (issue?.code !== 'invalid_union') return issue
  const inner = issue.errors.flat().map((one) => ({ ...one, path: [...issue.path, ...one.path] }))
  const furthest = inner.reduce((best, one) => (one.path.length > best.path.length ? one : best), issue as z.core.$ZodIssue)
  return furthest === issue ? issue : deepest(furthest)
}

function complaint(issue: z.core.$ZodIssue | undefined, path: readonly string[], value: unknown): string {
  if (issue === undefined) return 'is not as described'
  const wrong = path.reduce<unknown>((part, key) => (part as Readonly<Record<string, unknown>> | undefined)?.[key], value)
  return wrong === undefined && path.length > 0 ? 'is missing' : `${issue.message}${shown(issue, path, wrong)}`
}

/** ', got 70000'. A text in the wrong place may be anything, so only texts in the right place are shown, and no lists or objects. */
function shown(issue: z.core.$ZodIssue, path: readonly string[], wrong: unknown): string {
  // `value` holds what environment variables hold, which may be secret although nobody marked it.
  if (path.some((key) => isHidden(key) || key === 'value')) return ''
  if (typeof wrong === 'number' || typeof wrong === 'boolean' || wrong === null) return `, got ${wrong}`
  if (typeof wrong !== 'string' || issue.code === 'invalid_type' || issue.code === 'invalid_union') return ''
  const text = JSON.stringify(scrub(wrong))
  return `, got ${text.length > 80 ? `${text.slice(0, 80)}…` : text}`
}
