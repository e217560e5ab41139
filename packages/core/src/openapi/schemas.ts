import { z } from 'zod'
import type { OperationId } from '../api/api.js'
import { names } from '../api/fields.js'
import { secretFlags, secretKeys } from '../redact.js'

/** An object in the document. */
export type Json = Readonly<Record<string, unknown>>

/** Returns the object without the keys whose value is undefined. */
export const present = (object: Json): Json =>
  Object.fromEntries(Object.entries(object).filter(([, value]) => value !== undefined))

const isObject = (value: unknown): value is Json => typeof value === 'object' && value !== null && !Array.isArray(value)

/** A reference to a named schema of the document. */
export const schemaRef = (name: string): Json => ({ $ref: `#/components/schemas/${name}` })

/** A body of type JSON. */
export const jsonContent = (schema: Json): Json => ({ 'application/json': { schema } })

/** Doc comments of the description, by type and field: read from its sources, as they are gone at run time. */
export type Comments = Readonly<Record<string, TypeComment>>

/** The comment on an interface and those on its fields, including inherited fields. */
export interface TypeComment {
  readonly description?: string
  readonly fields: Readonly<Record<string, FieldComment>>
}

/** The comment on one field. */
export interface FieldComment {
  readonly description?: string
  readonly deprecated?: boolean
  /** Known values of a text that may have other values too. */
  readonly examples?: readonly string[]
  /** Comments on the fields of the field's own object, or of the objects in its list. */
  readonly fields?: Readonly<Record<string, FieldComment>>
}

/** The name of a schema's type; undefined for a schema without a type name, such as the empty input of an operation. */
export const nameOf = (schema: z.ZodType): string | undefined => names.get(schema)?.id

/** The JSON Schemas of all named schemas, which refer to each other as components of an OpenAPI document. */
const namedJsonSchemas = (): Readonly<Record<string, object>> =>
  z.toJSONSchema(names, { uri: (id) => `#/components/schemas/${id}` }).schemas

/** The tables of the specification's 'Endpoints', which group the operations for readers. Pure. */
interface Group {
  readonly name: string
  readonly description: string
  /** Whether its error bodies are documented: `{message: string}`, with message required (service-api, Errors). */
  readonly errorsShown?: true
  readonly deprecated?: true
}

const applications = { name: 'Applications', description: 'Applications and their versions.' }
const registry = { name: 'Container registry', description: 'Tags of images.' }
const logStorage = {
  name: 'Log storage',
  description: 'Buckets that receive container logs, and pull profiles that copy data from them into containers.',
  errorsShown: true,
} as const
const locations = {
  name: 'Locations and beacons',
  description: 'Where deployments can run, and hosts to ping there.',
  errorsShown: true,
} as const
const deployments = { name: 'Deployments', description: 'Servers: created, followed, stopped and looked into.' }
const legacy = { name: 'Legacy deploy', description: 'Replaced by POST /deployments.', deprecated: true } as const
const fleets = { name: 'Fleets', description: 'Fleets that create deployments by themselves, as their policies say.' }
const tags = { name: 'Deployment tags', description: 'Tags of deployments.' }
const relays = { name: 'Relay sessions', description: 'Sessions in which a relay passes traffic between users.' }

const byResource: Readonly<Record<string, Group>> = {
  applications,
  versions: applications,
  registry,
  storages: logStorage,
  pullProfiles: logStorage,
  locations,
  deployments,
  fleets,
  policies: fleets,
  tags,
  relays,
}

/** The groups in the order of the specification. */
export const groups: readonly Group[] = [
  applications,
  registry,
  logStorage,
  locations,
  deployments,
  legacy,
  fleets,
  tags,
  relays,
]

export function groupOf(id: OperationId): Group {
  return id === 'deployments.deployLegacy' ? legacy : (byResource[id.split('.')[0] as string] as Group)
}

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
