import { type OperationId, operations, type SettingsOption } from '@muster/core/api'
import {
  type Json,
  jsonContent,
  names,
  type OpenApiDocument,
  openApiDocument,
  type OperationText,
  present,
  schemaRef,
  secretFlags,
  secretKeys,
  settingsWith,
} from '@muster/core/internal'
import type { Comments, FieldComment } from './comments.js'

/** Creates the OpenAPI 3.1 document of the service. Pure. */

export interface ServiceDocumentOptions {
  /**
   * Settings for names that the specification leaves open. Default: `defaultSettings`. Limits of values are always the
   * defaults.
   */
  readonly settings?: SettingsOption | undefined
  /** Doc comments of the description's sources, as descriptions of types and fields. Default: none. */
  readonly comments?: Comments | undefined
  /** Doc comments of operations by route, e.g. `GET /v1/apps`, as their descriptions. Default: none. */
  readonly operationComments?: Readonly<Record<string, string>> | undefined
  /** URL of the service for the document. */
  readonly baseUrl?: string | undefined
}

const about = [
  'Deploys containerized servers near their users.',
  "Made from Muster's description of the service, which no live service has checked. Where the specification leaves " +
    'a point open, what stands here is a public fact about a service with the same interface, or ' +
    "Muster's choice, and says so.",
  '**Timestamps.** Format A is `YYYY-MM-DD HH:MM:SS.ffffff`; format B is ISO 8601 in UTC with milliseconds and a ' +
    'trailing Z.',
  '**Answers.** Fields that are not required may be missing or null, other fields may come, and a text with known ' +
    'values may have another.',
  '**Secrets** are marked `x-secret`; the value of a variable is one if the flag named by `x-secret-if` beside it is ' +
    'true.',
  '**Rate limits** that are documented are given as `x-rate-limit`; those of all other operations are not shown, so ' +
    'any may answer 429.',
].join('\n\n')

export function serviceDocument(options: ServiceDocumentOptions = {}): OpenApiDocument {
  const { settings, comments = {}, operationComments = {}, baseUrl = 'https://service.example' } = options
  return openApiDocument({
    info: {
      title: 'Deployment Orchestration Service API, v1',
      version: '2026.08.05',
      description: about,
      contact: { name: 'The Muster authors' },
      license: { name: 'MIT', identifier: 'MIT' },
    },
    servers: [
      { url: '{base_url}', variables: { base_url: { default: baseUrl, description: 'Address of the service.' } } },
    ],
    security: [{ apiToken: [] }],
    tags: groups.map(({ name, description }) => ({ name, description })),
    securitySchemes,
    schemas: errorSchemas,
    responses: sharedResponses,
    names,
    operations,
    settings: settingsWith(settings),
    complete: (name, schema) => {
      const { description, fields = {} } = comments[name] ?? {}
      return present({ description, ...withComments(schema, fields) })
    },
    describe: (id, operation, { content, outputName }) => {
      const group = groupOf(id)
      const error = jsonContent(schemaRef(group.errorsShown ? 'Error' : 'ErrorNotShown'))
      const comment = outputName === undefined ? undefined : comments[outputName]?.description
      const answers = operation.success.map((status) => [
        status,
        status === 204 ? { description: labels[204] } : present({ description: comment ?? labels[status], content }),
      ])
      const refusals = operation.errors.map((status) => [
        status,
        id === 'deployments.create' && status === 422
          ? couldNotAllocate
          : { description: labels[status], content: error },
      ])
      return present({
        description: operationComments[`${operation.method} ${operation.path}`],
        tags: [group.name],
        deprecated: group.deprecated,
        security: operation.auth === 'delete-token' ? [{ deleteToken: [] }] : undefined,
        responses: {
          ...Object.fromEntries([...answers, ...refusals]),
          429: { $ref: '#/components/responses/TooManyRequests' },
        },
        callbacks: callbacks[id as OperationId],
        'x-rate-limit': operation.limit && { limit: operation.limit.limit, windowMs: operation.limit.windowMs },
      }) as OperationText
    },
  })
}

const securitySchemes = {
  apiToken: {
    type: 'apiKey',
    in: 'header',
    name: 'Authorization',
    description: 'The word token, a space, and the API token of the account: `token <API_TOKEN>`.',
  },
  deleteToken: {
    type: 'apiKey',
    in: 'header',
    name: 'Authorization',
    description: 'The delete token injected into the container (SERVICE_DELETE_TOKEN), as it is.',
  },
} as const

/** The tables of the specification's 'Endpoints', which group the operations for readers. Pure. */
interface Group {
  readonly name: string
  readonly description: string
  /** Set if its error bodies are documented: `{message: string}`, with message required (service-api, Errors). */
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
const groups: readonly Group[] = [
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

function groupOf(id: string): Group {
  return id === 'deployments.deployLegacy' ? legacy : (byResource[id.split('.')[0] as string] as Group)
}

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

const errorSchemas: Readonly<Record<string, Json>> = {
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

const sharedResponses: Readonly<Record<string, Json>> = {
  TooManyRequests: {
    description:
      'Above the rate limit. Not documented, so neither the status nor the body is sure, and Retry-After may be ' +
      'missing.',
    headers: {
      'Retry-After': { description: 'Seconds to wait, or a date.', schema: { type: ['integer', 'string'] } },
    },
  },
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

/** Adds each comment to its field, and marks secrets. Does not enter other named schemas. */
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

const isObject = (value: unknown): value is Json => typeof value === 'object' && value !== null && !Array.isArray(value)

const isOpenText = ({ type, enum: values }: Json) => [type].flat().includes('string') && values === undefined
