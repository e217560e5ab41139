import { addressKeys, secretKeys } from '@muster/core/api'
import type { z } from 'zod'

/** What is wrong with an input, in one line: the field, the fault, and the value unless it may be secret. Pure. */
export function problemOf(input: unknown, error: z.core.$ZodError): string {
  const issue = deepest(error.issues[0])
  if (issue === undefined) return 'the input is not as described'
  if (issue.code === 'unrecognized_keys') return `${name([...issue.path, issue.keys[0] ?? ''])}: is not known`
  const value = at(input, issue.path)
  const field = issue.path.length === 0 ? '' : `${name(issue.path)}: `
  return value === undefined ? `${field}is required` : `${field}${issue.message}${shown(issue, value)}`
}

const name = (path: readonly PropertyKey[]) => path.map(String).join('.')

/** Of a union that failed, the branch that came furthest into the value says most. */
function deepest(issue: z.core.$ZodIssue | undefined): z.core.$ZodIssue | undefined {
  if (issue?.code !== 'invalid_union') return issue
  const inner = issue.errors.flat().map((one) => ({ ...one, path: [...issue.path, ...one.path] }))
  const furthest = inner.reduce<z.core.$ZodIssue>((best, one) => (one.path.length > best.path.length ? one : best), issue)
  return furthest === issue ? issue : deepest(furthest)
}

const at = (value: unknown, path: readonly PropertyKey[]) =>
  path.reduce<unknown>((part, key) => (part as Readonly<Record<PropertyKey, unknown>> | null | undefined)?.[key], value)

/** Webhook URLs carry what makes them unguessable, and `value` holds what environment variables hold. */
const hidden = new Set<PropertyKey>([...secretKeys, ...addressKeys, 'url', 'webhook_url', 'value'])

/** A text of the wrong place may be anything, and so may what a list or an object holds: these are not shown. */
function shown(issue: z.core.$ZodIssue, value: unknown): string {
  if (issue.path.some((key) => hidden.has(key))) return ''
  if (typeof value === 'number' || typeof value === 'boolean' || value === null) return `, got ${value}`
  if (typeof value !== 'string' || issue.code === 'invalid_type' || issue.code === 'invalid_union') return ''
  const text = JSON.stringify(value)
  return `, got ${text.length > 80 ? `${text.slice(0, 80)}…` : text}`
}
