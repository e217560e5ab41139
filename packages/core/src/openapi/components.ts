import { secretFlags, secretKeys } from '../api/secrets.js'
import type { Comments, FieldComment } from './comments.js'
import { isObject, present, type Json } from './json.js'
import { namedJsonSchemas } from './schemas.js'

/** The named schemas of the description as an OpenAPI document shows them, comments and secrets marked. Pure. */

export function componentSchemas(comments: Comments): Readonly<Record<string, Json>> {
  const schemas = Object.entries(namedJsonSchemas()).map(([name, schema]) => {
    const type = comments[name]
    const described = withComments(tidy(schema as Json), type?.fields ?? {})
    return [
      name,
      present({ ...(type?.description !== undefined && { description: type.description }), ...described }),
    ] as const
  })
  return Object.fromEntries(schemas)
}

/** Removes what zod writes for validators and what tells readers nothing. */
function tidy(schema: Json): Json {
  const { $schema: _, $id: _id, ...rest } = schema
  const kept = Object.entries(rest).filter(([key, value]) => !saysNothing(rest, key, value))
  return nullable(Object.fromEntries(kept.map(([key, value]) => [key, tidyInside(value)])))
}

/** Writes 'a type or null' as a list of two types, which is shorter than `anyOf`. */
function nullable(schema: Json): Json {
  const { anyOf, ...rest } = schema
  const [one, other, ...more] = Array.isArray(anyOf) ? (anyOf as readonly Json[]) : []
  const isPlain = typeof one?.['type'] === 'string' && other?.['type'] === 'null' && more.length === 0
  return isPlain ? { ...rest, ...one, type: [one['type'], 'null'] } : schema
}

const tidyInside = (value: unknown): unknown => {
  if (Array.isArray(value)) return value.map(tidyInside)
  return isObject(value) ? tidy(value) : value
}

function saysNothing(schema: Json, key: string, value: unknown): boolean {
  switch (key) {
    case 'additionalProperties':
      return isObject(value) && Object.keys(value).length === 0
    case 'propertyNames':
      return true
    case 'minimum':
    case 'maximum':
      return schema['type'] === 'integer' && Math.abs(value as number) === Number.MAX_SAFE_INTEGER
    case 'pattern':
      return schema['format'] !== undefined
    case 'format':
      return schema['contentEncoding'] !== undefined
    default:
      return false
  }
}

/** Adds each comment to its field and marks the secrets. Stops at other named schemas. */
function withComments(schema: Json, fields: Readonly<Record<string, FieldComment>>): Json {
  const inside: Record<string, unknown> = {}
  for (const [key, value] of Object.entries(schema)) {
    if (key === 'properties' && isObject(value)) inside[key] = propertiesWithComments(value, fields)
    else if (Array.isArray(value) && (key === 'anyOf' || key === 'oneOf')) {
      inside[key] = value.map((one) => withComments(one as Json, fields))
    } else if (isObject(value) && (key === 'items' || key === 'additionalProperties'))
      inside[key] = withComments(value, fields)
    else inside[key] = value
  }
  return inside
}

function propertiesWithComments(properties: Json, comments: Readonly<Record<string, FieldComment>>): Json {
  const flag = secretFlags.find((key) => key in properties)
  return Object.fromEntries(
    Object.entries(properties).map(([key, property]) => {
      const { description, deprecated, examples, fields = {} } = comments[key] ?? {}
      const schema = withComments(property as Json, fields)
      const marks = {
        description,
        ...(deprecated === true && { deprecated }),
        ...(isOpenText(schema) && { examples }),
        ...(secretKeys.includes(key) && { 'x-secret': true }),
        ...(key === 'value' && flag !== undefined && { 'x-secret-if': flag }),
      }
      return [key, present({ ...marks, ...schema })]
    }),
  )
}

const isOpenText = ({ type, enum: values }: Json) => [type].flat().includes('string') && values === undefined
