import { STATUS_CODES } from 'node:http'
import { z } from 'zod'
import type { Operation } from '../operation.js'
import { placesOf, type Routes } from './input.js'

export interface OpenApiOptions {
  readonly title: string
  readonly version: string
  readonly description: string
  readonly routes: Routes
  /** What the paths that begin with a word are about, by that word. Each word of the routes has a text. */
  readonly subjects: Readonly<Record<string, string>>
  /** Routes that need no Authorization. */
  readonly anonymous: readonly string[]
  /** Headers that callers may send beside their token to say who they are, by the name of the scheme. Default none. */
  readonly headerSchemes?: Readonly<Record<string, { readonly name: string; readonly description: string }>> | undefined
  /** The prefix of every path. Default none. */
  readonly basePath?: string | undefined
}

type Json = Readonly<Record<string, unknown>>

/** Every refusal is a problem document (RFC 9457). */
const PROBLEM: Json = {
  type: 'object',
  required: ['type', 'title', 'status', 'detail', 'message', 'code'],
  properties: {
    type: { type: 'string', format: 'uri-reference' },
    title: { type: 'string' },
    status: { type: 'integer' },
    detail: { type: 'string' },
    message: { type: 'string', description: 'The same as detail.' },
    code: { type: 'string', description: 'A word for programs.' },
    field: { type: 'string', description: 'The key of the input at fault.' },
    retryAfterMs: { type: 'integer', description: 'Milliseconds after which a repeat may succeed.' },
  },
}

/**
 * Builds the OpenAPI 3.1 document of an API. Schemas with an id (`.meta({ id })`) become components.
 * @throws {TypeError} if the first word of a path has no text among the subjects.
 */
export function openApiDocument({
  title,
  version,
  description,
  routes,
  subjects,
  anonymous,
  headerSchemes = {},
  basePath = '',
}: OpenApiOptions): Json {
  const schemas: Record<string, unknown> = { Problem: PROBLEM }
  const open = new Set(anonymous)
  const paths: Record<string, Record<string, unknown>> = {}
  const tags = new Map<string, string>()
  const byHeader = Object.fromEntries(
    Object.entries(headerSchemes).map(([scheme, header]) => [scheme, { type: 'apiKey', in: 'header', ...header }]),
  )
  for (const [name, operation] of Object.entries(routes)) {
    const path = (paths[basePath + operation.path] ??= {})
    const tag = tagOf(operation)
    const text = subjects[tag]
    if (text === undefined) throw new TypeError(`openApiDocument: subjects has no text for '${tag}'`)
    tags.set(tag, text)
    path[operation.method.toLowerCase()] = { tags: [tag], ...describe(name, operation, open.has(name), schemas) }
  }
  return {
    openapi: '3.1.0',
    info: {
      title,
      version,
      description,
      contact: { name: 'The operator' },
      license: { name: 'MIT', identifier: 'MIT' },
    },
    servers: [{ url: '/' }],
    tags: Array.from(tags, ([name, text]) => ({ name, description: text })),
    paths,
    components: { schemas, securitySchemes: { token: { type: 'http', scheme: 'bearer' }, ...byHeader } },
    security: [{ token: [] }, ...Object.keys(byHeader).map((scheme) => ({ token: [], [scheme]: [] }))],
  }
}

/** The tag of an operation is the first word of its path: `tickets` for `/tickets/{ticketId}`. */
const tagOf = ({ path }: Operation) => path.split('/')[1] as string

function describe(name: string, operation: Operation, open: boolean, schemas: Record<string, unknown>): Json {
  const input = partsOf(operation.input, schemas)
  const properties = (input['properties'] ?? {}) as Readonly<Record<string, Json>>
  const required = new Set((input['required'] ?? []) as readonly string[])
  const places = placesOf(operation, Object.keys(properties))
  const inBody = places.filter(({ place }) => place === 'body').map(({ key }) => key)

  const parameters = places
    .filter(({ place }) => place !== 'body')
    .map(({ key, place, name: wire }) => {
      const { description, ...schema } = properties[key] as Json
      return {
        name: wire,
        in: place,
        required: place === 'path' || required.has(key),
        ...(description === undefined ? {} : { description }),
        schema,
      }
    })
  const body = {
    type: 'object',
    properties: Object.fromEntries(inBody.map((key) => [key, properties[key]])),
    required: inBody.filter((key) => required.has(key)),
    additionalProperties: false,
  }
  return {
    operationId: name,
    summary: operation.summary,
    description: open ? 'Anybody may call.' : 'For callers whose token is known.',
    ...(open ? { security: [] } : {}),
    parameters,
    ...(inBody.length === 0
      ? {}
      : { requestBody: { required: body.required.length > 0, content: { 'application/json': { schema: body } } } }),
    responses: { ...successes(operation, schemas), ...refusals(operation, open, inBody.length > 0) },
  }
}

function successes({ success, output }: Operation, schemas: Record<string, unknown>): Json {
  const content = output && { 'application/json': { schema: jsonSchema(output, 'output', schemas) } }
  return Object.fromEntries(
    success.map((status) => [
      status,
      { description: STATUS_CODES[status] ?? '', ...(content === undefined || status === 204 ? {} : { content }) },
    ]),
  )
}

/** The declared errors, and the refusals that happen before a handler is called. */
function refusals({ errors }: Operation, open: boolean, hasBody: boolean): Json {
  const before = [400, 429, ...(open ? [] : [401]), ...(hasBody ? [413, 415] : [])]
  const statuses = [...new Set([...before, ...errors])].toSorted((a, b) => a - b)
  const content = { 'application/problem+json': { schema: { $ref: '#/components/schemas/Problem' } } }
  return Object.fromEntries(statuses.map((status) => [status, { description: STATUS_CODES[status] ?? '', content }]))
}

/** The schema of an input. It is no component, because its keys are split by the place in which they travel. */
function partsOf(schema: z.ZodType, schemas: Record<string, unknown>): Json {
  const json = jsonSchema(schema, 'input', schemas)
  const name = /^#\/components\/schemas\/(.+)$/.exec(String(json['$ref']))?.[1]
  if (name === undefined) return json
  const whole = schemas[name] as Json
  delete schemas[name]
  return whole
}

/** The JSON Schema of a type. Parts with an id are added to `schemas` and referenced. */
function jsonSchema(schema: z.ZodType, io: 'input' | 'output', schemas: Record<string, unknown>): Json {
  const { $schema: _, $defs, ...json } = z.toJSONSchema(schema, { io, unrepresentable: 'any' }) as Json
  const referring = (value: Json) =>
    withoutAnything(JSON.parse(JSON.stringify(value).replaceAll('"#/$defs/', '"#/components/schemas/'))) as Json
  for (const [id, definition] of Object.entries(($defs ?? {}) as Readonly<Record<string, Json>>))
    schemas[id] = referring(withoutId(definition))
  const id = json['id']
  if (typeof id !== 'string') return referring(json)
  schemas[id] = referring(withoutId(json))
  return { $ref: `#/components/schemas/${id}` }
}

/** Removes `anyOf` where one alternative allows any value, as it then restricts nothing. */
function withoutAnything(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutAnything)
  if (typeof value !== 'object' || value === null) return value
  const { anyOf, ...rest } = value as Json
  const saysNothing =
    Array.isArray(anyOf) &&
    anyOf.some((one) => typeof one === 'object' && one !== null && Object.keys(one).length === 0)
  const kept = anyOf === undefined || saysNothing ? rest : { ...rest, anyOf }
  return Object.fromEntries(Object.entries(kept).map(([key, inside]) => [key, withoutAnything(inside)]))
}

const withoutId = (json: Json): Json => Object.fromEntries(Object.entries(json).filter(([key]) => key !== 'id'))
