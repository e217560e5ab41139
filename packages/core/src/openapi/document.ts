import { operations } from '../api/api.js'
import { settingsWith, type SettingsOption } from '../api/settings.js'
import { pathOf } from '../wire.js'
import { type Comments, componentSchemas, groups, type Json, nameOf } from './schemas.js'
import { errorSchemas, operationObject, sharedResponses } from './paths.js'

/** The description of the service as an OpenAPI 3.1 document. Pure. */

export interface OpenApiOptions {
  /** Names that the specification leaves open; default `defaultSettings`. Limits of values are the default ones. */
  readonly settings?: SettingsOption | undefined
  /** Doc comments of the description's sources, for the descriptions of types and fields; default none. */
  readonly comments?: Comments | undefined
  /** Doc comments of the operations by route, e.g. `GET /v1/apps`, for their descriptions; default none. */
  readonly operationComments?: Readonly<Record<string, string>> | undefined
  /** Address of the service, for the document's server. */
  readonly baseUrl?: string | undefined
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
    readonly responses: Readonly<Record<string, Json>>
    readonly securitySchemes: Readonly<Record<string, Json>>
  }
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

export function openApiDocument(options: OpenApiOptions = {}): OpenApiDocument {
  const { settings, comments = {}, operationComments = {}, baseUrl = 'https://service.example' } = options
  const described = {
    settings: settingsWith(settings),
    comments,
    operationComments,
    schemas: componentSchemas(comments),
  }
  const schemas: Record<string, Json> = { ...described.schemas, ...errorSchemas }
  // Inputs are flat objects; only their keys that travel in a body make a schema of the document.
  for (const [, { input }] of operations) delete schemas[nameOf(input) ?? '']

  const paths: Record<string, Record<string, Json>> = {}
  for (const [id, operation] of operations) {
    const { object, body } = operationObject(id, operation, described)
    if (body !== undefined) schemas[body.name] = body.schema
    const path = pathOf(operation, described.settings)
    paths[path] = { ...paths[path], [operation.method.toLowerCase()]: object }
  }

  return {
    openapi: '3.1.1',
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
    paths,
    components: { schemas: sortedByName(schemas), responses: sharedResponses, securitySchemes },
  }
}

const sortedByName = <T>(entries: Readonly<Record<string, T>>): Record<string, T> =>
  Object.fromEntries(Object.entries(entries).toSorted(([one], [other]) => (one < other ? -1 : 1)))

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
