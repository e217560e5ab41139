import { z } from 'zod'
import { defaultSettings, type Settings } from './api/settings.js'
import { isObject } from './is-object.js'
import type { Operation } from './operation.js'
import { pathOf, wireName } from './wire.js'

/** Writes operations as an OpenAPI 3.1 document. Schemas with an id (`.meta({ id })`) become components. Pure. */

/** An object in the document. */
export type Json = Readonly<Record<string, unknown>>

/** The description of an operation, without its id, summary, parameters and body. */
export interface OperationText {
  readonly tags: readonly string[]
  readonly responses: Json
  readonly [key: string]: unknown
}

/** The properties of an operation that the description of its responses depends on. */
export interface OperationFacts {
  readonly hasBody: boolean
  /** The content of its successful response; undefined if that has none. */
  readonly content: Json | undefined
  /** The name of the schema of its successful response. */
  readonly outputName: string | undefined
}

export interface OpenApiOptions {
  readonly info: Json
  readonly servers: readonly Json[]
  readonly security: readonly Json[]
  readonly tags: readonly Json[]
  readonly securitySchemes: Readonly<Record<string, Json>>
  /** Schemas in addition to those of the operations. */
  readonly schemas: Readonly<Record<string, Json>>
  /** Responses that several operations refer to. */
  readonly responses?: Readonly<Record<string, Json>> | undefined
  /** Ids of schemas, beside those of `.meta({ id })`. Default none. */
  readonly names?: z.core.$ZodRegistry<{ readonly id: string }> | undefined
  /** Operations by their ids. */
  readonly operations: Iterable<readonly [id: string, operation: Operation]>
  readonly describe: (id: string, operation: Operation, facts: OperationFacts) => OperationText
  /** Completes a named schema, for example with descriptions. Default: as zod makes it. */
  readonly complete?: ((name: string, schema: Json) => Json) | undefined
  /** Names that the operations leave open. Default `defaultSettings`. */
  readonly settings?: Settings | undefined
  /** The prefix of every path. Default none. */
  readonly basePath?: string | undefined
}

/** An OpenAPI 3.1 document; only its first level is typed. */
export interface OpenApiDocument {
  readonly openapi: string
  readonly info: Json
  readonly servers: readonly Json[]
  readonly security: readonly Json[]
  readonly tags: readonly Json[]
  /** Operations by path, then by method in lower case. */
  readonly paths: Readonly<Record<string, Readonly<Record<string, Json>>>>
  readonly components: {
    readonly schemas: Readonly<Record<string, Json>>
    readonly responses?: Readonly<Record<string, Json>>
    readonly securitySchemes: Readonly<Record<string, Json>>
  }
}

/** Returns the object without the keys whose value is undefined. */
export const present = (object: Json): Json =>
  Object.fromEntries(Object.entries(object).filter(([, value]) => value !== undefined))

const SCHEMAS = '#/components/schemas/'

/** Returns a reference to a named schema of the document. */
export const schemaRef = (name: string): Json => ({ $ref: `${SCHEMAS}${name}` })

/** Returns a body of type JSON. */
export const jsonContent = (schema: Json): Json => ({ 'application/json': { schema } })

export function openApiDocument(options: OpenApiOptions): OpenApiDocument {
  const { settings = defaultSettings, basePath = '', complete = (_, schema) => schema } = options
  const schemas: Record<string, Json> = { ...options.schemas }
  const metadata = options.names === undefined ? z.globalRegistry : withNames(options.names)

  /** Returns the JSON Schema of a type, and its name. Named parts of the type are added to `schemas` and referenced. */
  const convert = (type: z.ZodType, io: 'input' | 'output') => {
    const { $schema: _, $defs = {}, ...whole } = z.toJSONSchema(type, { io, unrepresentable: 'any', metadata }) as Json
    const definitions = $defs as Readonly<Record<string, Json>>
    // If the whole type is named, zod returns only a reference to its definition.
    const name = Object.keys(whole).length === 1 ? /^#\/\$defs\/(.+)$/.exec(String(whole['$ref']))?.[1] : undefined
    for (const [part, definition] of Object.entries(definitions))
      if (part !== name) schemas[part] ??= complete(part, tidy(definition))
    if (name === undefined) return { name, schema: tidy(whole) }
    return { name, schema: complete(name, tidy(definitions[name] as Json)) }
  }

  const referTo = (name: string | undefined, schema: Json): Json => {
    if (name === undefined) return schema
    schemas[name] = schema
    return schemaRef(name)
  }

  /**
   * Divides the flat input by the place in which its keys are sent. A named input gives its name to the schema of the
   * body.
   */
  const partsOf = (operation: Operation) => {
    const { name, schema } = convert(operation.input, 'input')
    const required = new Set((schema['required'] ?? []) as readonly string[])
    const inBody: [name: string, property: unknown][] = []
    const parameters: Json[] = []
    for (const [key, property] of Object.entries((schema['properties'] ?? {}) as Readonly<Record<string, Json>>)) {
      const wire = wireName(operation, key, settings)
      if (wire.place === 'body') inBody.push([wire.name, property])
      // The security scheme describes the Authorization header, so this header is no parameter.
      else if (wire.name.toLowerCase() !== 'authorization')
        parameters.push(parameter(wire.name, wire.place, required.has(key), property))
    }
    if (inBody.length === 0) return { parameters, body: undefined }
    const needed = inBody.map(([key]) => key).filter((key) => required.has(key))
    // A PATCH always needs a body, because a change without a body changes nothing.
    const isNeeded = needed.length > 0 || operation.method === 'PATCH'
    const body = present({
      ...schema,
      properties: Object.fromEntries(inBody),
      required: needed.length > 0 ? needed : undefined,
    })
    return { parameters, body: { required: isNeeded, content: jsonContent(referTo(name, body)) } }
  }

  const paths: Record<string, Record<string, Json>> = {}
  for (const [id, operation] of options.operations) {
    const { parameters, body } = partsOf(operation)
    const output = operation.output && convert(operation.output, 'output')
    const content = output && jsonContent(referTo(output.name, output.schema))
    const facts = { hasBody: body !== undefined, content, outputName: output?.name }
    const { description, tags, deprecated, security, ...more } = options.describe(id, operation, facts)
    const path = (paths[basePath + pathOf(operation, settings)] ??= {})
    path[operation.method.toLowerCase()] = present({
      operationId: id,
      summary: operation.summary,
      description,
      tags,
      deprecated,
      security,
      parameters: parameters.length === 0 ? undefined : parameters,
      requestBody: body,
      ...more,
    })
  }

  const { info, servers, security, tags, responses, securitySchemes } = options
  const components = { schemas: sortedByName(schemas), ...(responses && { responses }), securitySchemes }
  return { openapi: '3.1.1', info, servers, security, tags, paths, components }
}

/** Returns a registry with the metadata of all schemas. Ids in `names` take precedence. */
function withNames(names: z.core.$ZodRegistry<{ readonly id: string }>): z.core.$ZodRegistry<z.core.GlobalMeta> {
  const both = z.registry<z.core.GlobalMeta>()
  both.get = (type) => ({ ...z.globalRegistry.get(type), ...names.get(type) })
  return both
}

const sortedByName = <T>(entries: Readonly<Record<string, T>>): Record<string, T> =>
  Object.fromEntries(Object.entries(entries).toSorted(([one], [other]) => (one < other ? -1 : 1)))

function parameter(name: string, place: string, required: boolean, { description, ...schema }: Json): Json {
  const isText = schema['$ref'] === undefined && schema['type'] !== 'object'
  return present({
    name,
    in: place,
    required: required || undefined,
    description,
    // An object in the query is sent as a JSON string. It is described as a string, because few generators support a
    // parameter with `content`.
    schema: isText ? schema : { type: 'string', contentMediaType: 'application/json', contentSchema: schema },
  })
}

/** Removes keywords that zod writes for validators and that are useless for readers. */
function tidy(schema: Json): Json {
  const { id: _id, ...rest } = schema
  const kept = Object.entries(rest).filter(([key, value]) => !saysNothing(rest, key, value))
  return nullable(Object.fromEntries(kept.map(([key, value]) => [key, tidyInside(key, value)])))
}

function tidyInside(key: string, value: unknown): unknown {
  if (key === '$ref') return String(value).replace('#/$defs/', SCHEMAS)
  if (key === 'properties')
    return Object.fromEntries(Object.entries(value as Json).map(([name, one]) => [name, tidy(one as Json)]))
  if (Array.isArray(value)) return value.map((one) => tidyInside('', one))
  return isObject(value) ? tidy(value) : value
}

/** Writes 'a type or null' as a list of two types, because that is shorter than `anyOf`. */
function nullable(schema: Json): Json {
  const { anyOf, ...rest } = schema
  const [one, other, ...more] = Array.isArray(anyOf) ? (anyOf as readonly Json[]) : []
  const isPlain = typeof one?.['type'] === 'string' && other?.['type'] === 'null' && more.length === 0
  return isPlain ? { ...rest, ...one, type: [one['type'], 'null'] } : schema
}

const isAnything = (value: unknown) => isObject(value) && Object.keys(value).length === 0

function saysNothing(schema: Json, key: string, value: unknown): boolean {
  switch (key) {
    case 'anyOf':
      return (value as readonly unknown[]).some(isAnything)
    case 'additionalProperties':
      return isAnything(value)
    case 'propertyNames':
      return isObject(value) && Object.keys(value).join() === 'type'
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
