import type { OperationId } from '../api/api.js'
import type { Settings } from '../api/settings.js'
import type { Operation } from '../operation.js'
import { wireName } from '../wire.js'
import { callbacksOf } from './callbacks.js'
import type { Comments } from './comments.js'
import { groupOf } from './groups.js'
import { jsonContent, present, schemaRef, type Json } from './json.js'
import { responsesOf } from './responses.js'
import { nameOf } from './schemas.js'

/** Describes operations for an OpenAPI document. Pure. */

export interface Described {
  readonly settings: Settings
  readonly comments: Comments
  /** Operations by route. */
  readonly operationComments: Readonly<Record<string, string>>
  /** The named schemas, with inputs still complete. */
  readonly schemas: Readonly<Record<string, Json>>
}

/** The flat input, split by the place in which its keys travel. */
interface Parts {
  readonly parameters: readonly Json[]
  /** The schema of the body, named after the input. */
  readonly body: { readonly name: string; readonly schema: Json } | undefined
}

/** @returns the operation, and the named schema of its body */
export function operationObject(
  id: OperationId,
  operation: Operation,
  described: Described,
): { object: Json; body: Parts['body'] } {
  const { parameters, body } = partsOf(operation, described)
  const group = groupOf(id)
  const object = present({
    operationId: id,
    summary: operation.summary,
    description: described.operationComments[`${operation.method} ${operation.path}`],
    tags: [group.name],
    deprecated: group.deprecated,
    security: operation.auth === 'delete-token' ? [{ deleteToken: [] }] : undefined,
    parameters: parameters.length === 0 ? undefined : parameters,
    requestBody: body && { required: true, content: jsonContent(schemaRef(body.name)) },
    responses: responsesOf(id, operation, described.comments),
    callbacks: callbacksOf(id),
    'x-rate-limit': operation.limit && { limit: operation.limit.limit, windowMs: operation.limit.windowMs },
  })
  return { object, body }
}

function partsOf(operation: Operation, { settings, schemas }: Described): Parts {
  const name = nameOf(operation.input)
  const schema = name === undefined ? {} : (schemas[name] ?? {})
  const required = (schema['required'] ?? []) as readonly string[]
  const parameters: Json[] = []
  const inBody: [key: string, property: unknown][] = []
  for (const [key, property] of Object.entries((schema['properties'] ?? {}) as Readonly<Record<string, Json>>)) {
    const wire = wireName(operation, key, settings)
    if (wire.place === 'body') inBody.push([wire.name, property])
    // A header of this name is described by the security scheme.
    else if (wire.name.toLowerCase() !== 'authorization')
      parameters.push(parameter(wire, required.includes(key), property))
  }
  if (name === undefined || inBody.length === 0) return { parameters, body: undefined }
  const requiredInBody = inBody.map(([key]) => key).filter((key) => required.includes(key))
  const body = present({
    ...schema,
    properties: Object.fromEntries(inBody),
    required: requiredInBody.length === 0 ? undefined : requiredInBody,
  })
  return { parameters, body: { name, schema: body } }
}

function parameter(
  { place, name }: { readonly place: string; readonly name: string },
  required: boolean,
  property: Json,
): Json {
  const { description, ...schema } = property
  const isText = schema['$ref'] === undefined && schema['type'] !== 'object'
  return present({
    name,
    in: place,
    required: required || undefined,
    description,
    // An object in the query travels as JSON text. It is described as a text, because few generators understand a
    // parameter with `content`.
    schema: isText ? schema : { type: 'string', contentMediaType: 'application/json', contentSchema: schema },
  })
}
