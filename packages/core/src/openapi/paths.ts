import type { OperationId } from '../api/api.js'
import type { Settings } from '../api/settings.js'
import type { Operation } from '../operation.js'
import { wireName } from '../wire.js'
import { type Comments, groupOf, type Json, jsonContent, nameOf, present, schemaRef } from './schemas.js'

/** The answers of each operation, and the schemas of errors. Pure. */

const labels: Readonly<Record<number, string>> = {
  200: 'OK',
  202: 'Accepted',
  204: 'No content',
  400: 'Bad Request',
  401: 'Unauthorized: the token is missing or wrong.',
  403: 'Forbidden',
  404: 'Not Found',
  409: 'Conflict',
  410:
    'Gone: the deployment is already terminated, which for a caller who wants it stopped is a success ' +
    '(status: public fact).',
  422: 'Unprocessable',
  424: 'Failed Dependency: the image cannot be pulled.',
  500: 'Internal Server Error',
  503: 'Service Unavailable',
}

const couldNotAllocate = {
  description:
    "Couldn't Allocate Server (status and body: public facts). The deployment may exist, in error, until the " +
    'request_id is stopped.',
  content: jsonContent(schemaRef('CouldNotAllocateServer')),
}

export const errorSchemas: Readonly<Record<string, Json>> = {
  Error: {
    description: 'The documented body of an error.',
    type: 'object',
    properties: { message: { description: 'For people.', type: 'string' } },
    required: ['message'],
  },
  ErrorNotShown: {
    description:
      'Not shown in the specification. Usually `{message}`, at times an empty object, at times no JSON at all ' +
      '(public facts): the status is what counts.',
    type: 'object',
    properties: { message: { description: 'For people.', type: 'string' } },
  },
  CouldNotAllocateServer: {
    description: 'No server, and what may be left of the attempt.',
    type: 'object',
    properties: {
      request_id: { description: 'Stop this deployment.', type: 'string' },
      message: { description: 'For people.', type: 'string' },
    },
  },
}

export const sharedResponses: Readonly<Record<string, Json>> = {
  TooManyRequests: {
    description:
      'Above the rate limit. Not documented, so neither the status nor the body is sure, and Retry-After may be ' +
      'missing.',
    headers: {
      'Retry-After': { description: 'Seconds to wait, or a date.', schema: { type: ['integer', 'string'] } },
    },
  },
}

function responsesOf(id: OperationId, { output, success, errors }: Operation, comments: Comments): Json {
  const name = output && nameOf(output)
  const answer = (status: number) =>
    present({
      description: (name !== undefined && status !== 204 && comments[name]?.description) || labels[status],
      content: name === undefined || status === 204 ? undefined : jsonContent(schemaRef(name)),
    })
  const refusal = (status: number) =>
    id === 'deployments.create' && status === 422
      ? couldNotAllocate
      : {
          description: labels[status],
          content: jsonContent(schemaRef(groupOf(id).errorsShown ? 'Error' : 'ErrorNotShown')),
        }
  return {
    ...Object.fromEntries(success.map((status) => [status, answer(status)])),
    ...Object.fromEntries(errors.map((status) => [status, refusal(status)])),
    429: { $ref: '#/components/responses/TooManyRequests' },
  }
}

/** The calls that the service makes to webhook URLs (service-api, Events). Pure. */

const HINT = 'Not repeated and not signed (public facts): it is a hint, to be confirmed by a read.'

const callback = (url: string, summary: string, schema: string, description: string): Json => ({
  [`{$request.body#/${url}}`]: {
    post: {
      summary,
      description: `${description} ${HINT}`,
      security: [],
      requestBody: { content: jsonContent(schemaRef(schema)) },
      responses: { '2XX': { description: 'Received.' }, '4XX': { description: 'Refused; it does not come again.' } },
    },
  },
})

const statusView = 'The body is not shown; likely the status view (public fact).'

const callbacks: Partial<Record<OperationId, Json>> = {
  'deployments.create': {
    onReady: callback('webhook_on_ready/url', 'The deployment is ready', 'Deployment', statusView),
    onError: callback('webhook_on_error/url', 'The deployment is in error', 'Deployment', statusView),
    onTerminated: callback('webhook_on_terminated/url', 'The deployment is terminated', 'Deployment', statusView),
  },
  'deployments.deployLegacy': {
    onReady: callback(
      'webhook_url',
      'The deployment is ready',
      'Deployment',
      'The body has the content of the status view.',
    ),
  },
  'relays.create': {
    onReady: callback(
      'webhook_url',
      'The data of the session',
      'RelaySession',
      'The body is not shown; likely the session (public fact, unsure).',
    ),
  },
}

const callbacksOf = (id: OperationId): Json | undefined => callbacks[id]

/** Describes operations for an OpenAPI document. Pure. */

interface Described {
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
