import { operations } from '@muster/core/api'
import { Validator } from '@seriousme/openapi-schema-validator'
import { describe, expect, test } from 'vitest'
import { readComments, readOperationComments } from './comments.js'
import { beyondDocument, rows } from './rows.js'
import { serviceDocument } from './service-document.js'
import { groupSizes } from './tables.js'

const comments = readComments(new URL('../../packages/core/src/api', import.meta.url))
const document = serviceDocument({
  comments,
  operationComments: readOperationComments(new URL('../../packages/core/src/api', import.meta.url)),
})

type Json = Readonly<Record<string, unknown>>
const isObject = (value: unknown): value is Json => typeof value === 'object' && value !== null
const objectsIn = (value: unknown): Json[] =>
  isObject(value) ? [value, ...Object.values(value).flatMap(objectsIn)] : []
const described = Object.entries(document.paths).flatMap(([path, methods]) =>
  Object.entries(methods).map(([method, object]) => [`${method.toUpperCase()} ${path}`, object] as const),
)
const parametersOf = (object: Json) => (object['parameters'] ?? []) as readonly Json[]

/** Returns the schema of an operation's body. */
function bodyOf({ requestBody }: Json): Json | undefined {
  const content = (requestBody as { content: { 'application/json': { schema: { $ref: string } } } } | undefined)
    ?.content
  const name = content?.['application/json'].schema.$ref.split('/').at(-1)
  return name === undefined ? undefined : document.components.schemas[name]
}

test('docs/openapi.json is the generated document, which `pnpm openapi` writes', async () => {
  await expect(`${JSON.stringify(document, null, 2)}\n`).toMatchFileSnapshot('../../docs/openapi.json')
})

test('an OpenAPI validator accepts docs/openapi.json as version 3.1', async () => {
  const validator = new Validator()
  expect(await validator.validate(JSON.parse(JSON.stringify(document)) as Record<string, unknown>)).toEqual({
    valid: true,
  })
  expect(validator.version).toBe('3.1')
})

test('the OpenAPI validator refuses an invalid document', async () => {
  const { valid } = await new Validator().validate({
    ...document,
    paths: { '/v1/apps': { get: { responses: 'none' } } },
  })
  expect(valid).toBe(false)
})

test('all references of docs/openapi.json have targets, and every component is used', () => {
  const references = new Set(objectsIn(document).flatMap(({ $ref }) => (typeof $ref === 'string' ? [$ref] : [])))
  const components = [
    ...Object.keys(document.components.schemas).map((name) => `#/components/schemas/${name}`),
    ...Object.keys(document.components.responses ?? {}).map((name) => `#/components/responses/${name}`),
  ]
  expect([...references].toSorted()).toEqual(components.toSorted())
})

test('docs/openapi.json has every operation, under its group, with its statuses and its rate limit', () => {
  expect(described.map(([route]) => route).toSorted()).toEqual(rows.map(({ route }) => route).toSorted())
  for (const [route, object] of described) {
    const row = rows.find((each) => each.route === route)
    const found = operations.find(([, { method, path }]) => `${method} ${path}` === route)
    if (row === undefined || found === undefined) throw new Error(`${route} is not described`)
    const [id, { summary, limit }] = found
    expect(object).toMatchObject({ operationId: id, summary, tags: [row.group] })
    const statuses = [...row.success, ...row.errors, 429].toSorted((one, other) => one - other)
    expect(Object.keys(object['responses'] as Json)).toEqual(statuses.map(String))
    expect(object['x-rate-limit']).toEqual(limit && { limit: limit.limit, windowMs: limit.windowMs })
  }
  expect(document.tags.map(({ name }) => name)).toEqual(Object.keys(groupSizes))
})

test('docs/openapi.json has each key of an input in exactly one place', () => {
  for (const [route, object] of described) {
    const row = rows.find((each) => each.route === route)
    const inBody = Object.keys((bodyOf(object)?.['properties'] ?? {}) as Json)
    const found = [...parametersOf(object).map(({ name }) => String(name)), ...inBody]
    const wanted = [...Array.from(route.matchAll(/\{(\w+)\}/g), ([, key]) => key), ...Object.keys(row?.request ?? {})]
      // The security scheme describes the delete token.
      .filter((key) => key !== 'authorization')
      .concat(found.filter((key) => !(key in (row?.request ?? {})) && beyondDocument[route]?.includes(key) === true))
      .map((key) => (key === 'x_fields' ? 'X-Fields' : key))
    expect(found.toSorted(), route).toEqual(wanted.toSorted())
  }
})

describe('the descriptions in the document', () => {
  test('docs/openapi.json describes every schema, field and parameter', () => {
    const parameters = described.flatMap(([route, object]) =>
      parametersOf(object).map((each) => [`${route} ${each['name']}`, each] as const),
    )
    const types = Object.entries(document.components.schemas)
    const fields = allFields()
    const bare = [...parameters, ...types, ...fields].filter(
      ([, { description }]) => !/\w/.test(String(description ?? '')),
    )
    expect(bare.map(([where]) => where)).toEqual([])
    expect(fields.length).toBeGreaterThan(300)
  })

  test('docs/openapi.json marks deprecated operations', () => {
    const fields = allFields()
    const marked = fields.filter(([, { deprecated }]) => deprecated === true).map(([where]) => where)
    expect(marked).toEqual(['DeployLegacy.is_public_app', 'DeployLegacy.telemetry_profile_uuid_list'])
    expect(described.filter(([, { deprecated }]) => deprecated === true).map(([route]) => route)).toEqual([
      'POST /v1/deploy',
    ])
  })

  test('docs/openapi.json shows known values of open strings as examples', () => {
    const examples = new Map(allFields().map(([where, field]) => [where, field['examples']]))
    expect(examples.get('Deployment.current_status')).toContain('Status.READY')
    expect(examples.get('VersionPort.protocol')).toEqual(['TCP', 'UDP', 'TCP/UDP', 'HTTP', 'HTTPS', 'WS', 'WSS'])
    expect(examples.get('CreateFleetPolicy.type')).toEqual(['Location', 'Tag', 'Coordinates'])
    expect(examples.get('CreateEndpointStorage.output_format')).toBeUndefined()
  })
})

const allFields = () => Object.entries(document.components.schemas).flatMap(([name, schema]) => fieldsIn(name, schema))

function fieldsIn(where: string, schema: Json): (readonly [where: string, field: Json])[] {
  return Object.entries(schema).flatMap(([key, value]) => {
    if (!isObject(value)) return []
    if (key === 'properties') {
      const fields = Object.entries(value).map(([name, field]) => [`${where}.${name}`, field as Json] as const)
      return fields.flatMap(([name, field]) => [[name, field] as const, ...fieldsIn(name, field)])
    }
    if (key === 'items' || key === 'additionalProperties') return fieldsIn(where, value)
    return Array.isArray(value) ? value.filter(isObject).flatMap((one) => fieldsIn(where, one)) : []
  })
}

test('docs/openapi.json marks secrets', () => {
  const fields = allFields()
  const marked = fields.filter(([, field]) => field['x-secret'] === true).map(([where]) => where)
  expect(marked.toSorted()).toEqual([
    'CreateEndpointStorage.secret_access_key',
    'CreateVersion.private_token',
    'RelaySession.authorization_token',
    'RelaySessionOfUser.authorization_token',
    'RelayUser.authorization_token',
    'RevokeRelayUser.authorization_token',
    'UpdateEndpointStorage.secret_access_key',
    'UpdateVersion.private_token',
    'Version.private_token',
  ])
  const conditional = fields
    .map(([where, field]) => [where, field['x-secret-if']] as const)
    .filter(([, flag]) => flag !== undefined)
  expect(Object.fromEntries(conditional)).toEqual({
    'EnvironmentVariable.value': 'is_hidden',
    'VersionVariable.value': 'is_secret',
    'VersionVariableEcho.value': 'is_secret',
  })
})

test('open names and the server address in the OpenAPI document follow the options', () => {
  const { paths, servers } = serviceDocument({
    baseUrl: 'https://api.example.com',
    settings: { createDeploymentPath: '/v2/deployments', locationTypeParameter: 'kind' },
  })
  expect(Object.keys(paths)).toContain('/v2/deployments')
  expect(Object.keys(paths)).not.toContain('/deployments')
  const parameters = parametersOf(paths['/v1/locations']?.['get'] ?? {})
  expect(parameters.map(({ name }) => name)).toEqual(['app', 'version', 'kind', 'tags', 'page', 'limit'])
  expect(servers).toMatchObject([
    { url: '{base_url}', variables: { base_url: { default: 'https://api.example.com' } } },
  ])
})
