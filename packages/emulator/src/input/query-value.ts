import type { z } from 'zod'

/** The types of values that the query carries as text. Pure. */
export type QueryType = 'text' | 'integer' | 'number' | 'flag' | 'flag or text' | 'json'

export function queryType(schema: z.core.JSONSchema.BaseSchema | boolean | undefined): QueryType {
  if (typeof schema !== 'object') return 'text'
  const types = (schema.anyOf ?? [schema]).map(({ type }) => type)
  if (types.includes('boolean')) return types.includes('string') ? 'flag or text' : 'flag'
  if (types.includes('object') || types.includes('array')) return 'json'
  if (types.includes('integer')) return 'integer'
  return types.includes('number') ? 'number' : 'text'
}

export type QueryValue = { readonly value: unknown } | { readonly problem: string }

/** Parses a value of the query. */
export function queryValue(type: QueryType, text: string): QueryValue {
  switch (type) {
    case 'text':
      return { value: text }
    case 'integer':
      return /^-?\d{1,16}$/.test(text)
        ? { value: Number(text) }
        : { problem: `must be a whole number, got ${JSON.stringify(text)}` }
    case 'number':
      return /^-?\d+(\.\d+)?$/.test(text)
        ? { value: Number(text) }
        : { problem: `must be a number, got ${JSON.stringify(text)}` }
    case 'flag':
      return isFlag(text)
        ? { value: text === 'true' }
        : { problem: `must be true or false, got ${JSON.stringify(text)}` }
    case 'flag or text':
      return { value: isFlag(text) ? text === 'true' : text }
    case 'json':
      return parsed(text)
  }
}

const isFlag = (text: string) => text === 'true' || text === 'false'

function parsed(text: string): QueryValue {
  try {
    return { value: JSON.parse(text) as unknown }
  } catch {
    return { problem: 'must be JSON' }
  }
}
