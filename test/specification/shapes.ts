import { z } from 'zod'
import { resources, type Primitive, type Shape } from './tables.js'

/** The parts of JSON Schema that zod writes. */
export interface JsonSchema {
  readonly type?: string | readonly string[]
  readonly anyOf?: readonly JsonSchema[]
  readonly oneOf?: readonly JsonSchema[]
  readonly properties?: Readonly<Record<string, JsonSchema>>
  readonly required?: readonly string[]
  readonly additionalProperties?: boolean | JsonSchema
  readonly propertyNames?: JsonSchema
  readonly items?: JsonSchema
  readonly const?: unknown
  readonly enum?: readonly unknown[]
  readonly format?: string
  readonly pattern?: string
  readonly minimum?: number
  readonly maximum?: number
  readonly minLength?: number
  readonly maxLength?: number
  readonly minItems?: number
  readonly maxItems?: number
  readonly writeOnly?: boolean
  readonly examples?: readonly unknown[]
}

export const jsonSchema = (schema: z.ZodType): JsonSchema => z.toJSONSchema(schema) as JsonSchema

/** Returns the alternatives of a schema, without null. */
function alternatives(schema: JsonSchema): readonly JsonSchema[] {
  const several = schema.anyOf ?? schema.oneOf
  if (several !== undefined) return several.flatMap(alternatives)
  return typesOf(schema).includes('null') && typesOf(schema).length === 1 ? [] : [schema]
}

const typesOf = ({ type }: JsonSchema): readonly string[] => (type === undefined ? [] : [type].flat())

/** Returns the JSON types of a schema's values, including null. */
function jsonTypes(schema: JsonSchema): ReadonlySet<string> {
  const several = schema.anyOf ?? schema.oneOf
  return new Set(several === undefined ? typesOf(schema) : several.flatMap((one) => [...jsonTypes(one)]))
}

const primitives: Readonly<Record<Exclude<Primitive, 'anything'>, readonly string[]>> = {
  string: ['string'],
  boolean: ['boolean'],
  integer: ['integer'],
  number: ['number'],
  'number or string': ['number', 'string'],
  'string or null': ['string', 'null'],
  'time A': ['string'],
  'time B': ['string'],
}

/**
 * Returns the differences between a schema and a shape: one line for each field that is missing, additional or of
 * another type.
 */
export function mismatches(schema: JsonSchema, shape: Shape, path = ''): string[] {
  const at = path === '' ? 'it' : path
  if (shape === 'anything') return []
  if (typeof shape === 'string') {
    if (shape in resources) return mismatches(schema, resources[shape as keyof typeof resources], path)
    return primitiveMismatches(schema, shape as Exclude<Primitive, 'anything'>, at)
  }
  if (Array.isArray(shape)) {
    const items = alternatives(schema).map((one) => one.items)
    if (items.length === 0 || items.includes(undefined)) return [`${at}: is no list`]
    return items.flatMap((one) => mismatches(one as JsonSchema, shape[0] as Shape, `${path}[]`))
  }
  return objectMismatches(schema, shape as Readonly<Record<string, Shape>>, path)
}

function primitiveMismatches(schema: JsonSchema, shape: Exclude<Primitive, 'anything'>, at: string): string[] {
  const found = jsonTypes(schema)
  const missing = primitives[shape].filter((type) => !found.has(type))
  const tooMuch = [...found].filter((type) => type !== 'null' && !primitives[shape].includes(type))
  if (missing.length > 0 || tooMuch.length > 0) return [`${at}: is ${[...found].join(' or ')}, not ${shape}`]
  // Both timestamp formats are strings in JSON Schema. The example or the format tells them apart.
  const isB = alternatives(schema).some((one) => one.format === 'date-time')
  const isA = alternatives(schema).some(({ examples }) => /^[\d-]{10} [\d:]{8}\.\d{6}$/.test(String(examples?.[0])))
  if (isA !== (shape === 'time A') || isB !== (shape === 'time B')) return [`${at}: is not marked as ${shape}`]
  return []
}

function objectMismatches(schema: JsonSchema, shape: Readonly<Record<string, Shape>>, path: string): string[] {
  const objects = alternatives(schema)
  if (objects.length === 0 || objects.some((one) => !typesOf(one).includes('object'))) return [`${path}: is no object`]
  const values = shape['*']
  if (values !== undefined) {
    return objects.flatMap((one) => mismatches(one.additionalProperties as JsonSchema, values, `${path}.*`))
  }
  // Alternatives, such as users by address or by coordinates, have the keys of the shape together.
  const keys = new Map<string, JsonSchema>()
  for (const one of objects) {
    for (const [key, value] of Object.entries(one.properties ?? {})) {
      const known = keys.get(key)
      keys.set(key, known === undefined ? value : { anyOf: [known, value] })
    }
  }
  const tooMuch = [...keys.keys()].filter((key) => !(key in shape))
  return [
    ...tooMuch.map((key) => `${path}.${key}: is not in the document`),
    ...Object.entries(shape).flatMap(([key, value]) => {
      const found = keys.get(key)
      return found === undefined ? [`${path}.${key}: is missing`] : mismatches(found, value, `${path}.${key}`)
    }),
  ]
}
