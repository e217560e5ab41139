import type { Operation, Settings } from '@muster/core/api'
import { isObject, jsonIn, wireName, withValueLimits, validate } from '@muster/core/internal'
import { z } from 'zod'

/** The type of a value in a query. There, all values are strings. Pure. */
type QueryType = 'text' | 'integer' | 'number' | 'flag' | 'flag or text' | 'json'

export function queryType(schema: z.core.JSONSchema.BaseSchema | boolean | undefined): QueryType {
  if (typeof schema !== 'object') return 'text'
  const types = (schema.anyOf ?? [schema]).map(({ type }) => type)
  if (types.includes('boolean')) return types.includes('string') ? 'flag or text' : 'flag'
  if (types.includes('object') || types.includes('array')) return 'json'
  if (types.includes('integer')) return 'integer'
  return types.includes('number') ? 'number' : 'text'
}

type QueryValue = { readonly value: unknown } | { readonly problem: string }

/** Parses a value of the query by its type. */
export function queryValue(type: QueryType, text: string): QueryValue {
  switch (type) {
    case 'text':
      return { value: text }
    case 'integer':
      return /^-?\d{1,16}$/.test(text) ? { value: Number(text) } : wrong('a whole number', text)
    case 'number':
      return /^-?\d+(\.\d+)?$/.test(text) ? { value: Number(text) } : wrong('a number', text)
    case 'flag':
      return isFlag(text) ? { value: text === 'true' } : wrong('true or false', text)
    case 'flag or text':
      return { value: isFlag(text) ? text === 'true' : text }
    case 'json': {
      const value = jsonIn(text)
      return value === undefined ? { problem: 'must be JSON' } : { value }
    }
  }
}

const isFlag = (text: string) => text === 'true' || text === 'false'

const wrong = (what: string, text: string) => ({ problem: `must be ${what}, got ${JSON.stringify(text)}` })

/** The parts of a request to a known operation. */
export interface RequestParts {
  /** The values of the path in the order of the placeholders, still percent-encoded. */
  readonly segments: readonly string[]
  readonly query: URLSearchParams
  readonly headers: { get(name: string): string | null }
  /** The body; undefined if the method has none. */
  readonly body: string | undefined
}

type RequestInput = { readonly input: unknown } | { readonly problem: string }

/**
 * Creates the function that merges the parts of a request into the operation's flat input, and validates it against the
 * API's description. Each key is read only from the part that declares it, so that a body cannot replace a value of the
 * path. Undeclared keys are rejected.
 */
export function createReader(operation: Operation, settings: Settings): (parts: RequestParts) => RequestInput {
  const inQuery = new Map<string, { readonly key: string; readonly type: QueryType }>()
  const inBody = new Map<string, string>()
  const inHeaders: (readonly [name: string, key: string])[] = []
  const properties = z.toJSONSchema(operation.input, { io: 'input', unrepresentable: 'any' }).properties ?? {}
  for (const [key, schema] of Object.entries(properties)) {
    const { place, name } = wireName(operation, key, settings)
    if (place === 'query') inQuery.set(name, { key, type: queryType(schema) })
    else if (place === 'body') inBody.set(name, key)
    else if (place === 'header') inHeaders.push([name, key])
  }

  return ({ segments, query, headers, body }) => {
    const input: Record<string, unknown> = {}
    for (const [index, key] of operation.pathKeys.entries()) {
      const text = decoded(segments[index] ?? '')
      if (text === undefined) return { problem: `${key}: is not valid percent-encoding` }
      input[key] = text
    }
    for (const [name, text] of query) {
      const known = inQuery.get(name)
      if (known === undefined) return { problem: `${name}: is not a query parameter of this operation` }
      if (Object.hasOwn(input, known.key)) return { problem: `${name}: is given more than once` }
      const read = queryValue(known.type, text)
      if ('problem' in read) return { problem: `${name}: ${read.problem}` }
      input[known.key] = read.value
    }
    for (const [name, key] of inHeaders) {
      const text = headers.get(name)
      if (text !== null) input[key] = text
    }
    if (body !== undefined && body !== '') {
      const fields = jsonIn(body)
      if (!isObject(fields)) return { problem: 'The body must be a JSON object.' }
      for (const [name, value] of Object.entries(fields)) {
        const key = inBody.get(name)
        if (key === undefined) return { problem: `${name}: is not a field of the body` }
        input[key] = value
      }
    }
    const checked = withValueLimits(settings.valueLimits, () => validate(operation.input, input))
    if (checked.success) return { input: checked.data }
    const { field, message } = checked.fault
    return { problem: field === undefined ? message : `${field}: ${message}` }
  }
}

function decoded(segment: string): string | undefined {
  try {
    return decodeURIComponent(segment)
  } catch {
    return undefined
  }
}
