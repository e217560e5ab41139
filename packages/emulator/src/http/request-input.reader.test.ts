import { api, defaultSettings, type Operation } from '@muster/core/api'
import { describe, expect, test } from 'vitest'
import { createReader, type RequestParts } from './request-input.js'

const read = (
  operation: Operation,
  parts: Partial<Omit<RequestParts, 'query'>> & { readonly query?: string } = {},
  settings = defaultSettings,
) =>
  createReader(
    operation,
    settings,
  )({
    segments: [],
    headers: new Headers(),
    body: undefined,
    ...parts,
    query: new URLSearchParams(parts.query),
  })

const version = {
  name: '1.0',
  docker_repository: 'r',
  docker_image: 'i',
  docker_tag: 't',
  req_cpu: 1024,
  req_memory: 1024,
}
const deployment = {
  application: 'app',
  version: '1.0',
  users: [{ user_type: 'ip_address', user_data: { ip_address: '192.0.2.1' } }],
}
const body = (value: unknown) => ({ body: JSON.stringify(value) })

describe('the flat input of a request', () => {
  test('the flat input of a request contains the decoded values of the path', () => {
    expect(read(api.versions.get, { segments: ['my%2Fapp', '1.0%3F'] })).toEqual({
      input: { app_name: 'my/app', version_name: '1.0?' },
    })
  })

  test('the flat input of a request contains the query, with the types of the description', () => {
    expect(read(api.locations.list, { query: 'page=2&limit=5&tags=true&app=a+b' })).toEqual({
      input: { page: 2, limit: 5, tags: true, app: 'a b' },
    })
    const query = {
      filters: [{ field: 'status', operator: 'eq', value: 'ready' }],
      order_by: [{ field: 'created_at', order: 'desc' }],
    }
    expect(read(api.deployments.list, { query: `query=${encodeURIComponent(JSON.stringify(query))}` })).toEqual({
      input: { query },
    })
  })

  test('the flat input of a request contains the headers', () => {
    const headers = new Headers({ 'X-Fields': 'endpoints{name}', authorization: 'delete-token' })
    expect(read(api.storages.list, { headers })).toEqual({ input: { x_fields: 'endpoints{name}' } })
    expect(
      read(api.deployments.selfStop, { headers, segments: ['id', 'ap'], query: 'container_log_storage=false' }),
    ).toEqual({
      input: { request_id: 'id', access_point_id: 'ap', authorization: 'delete-token', container_log_storage: false },
    })
  })

  test('the flat input of a request contains the keys of its body and its path', () => {
    expect(read(api.versions.create, { segments: ['app'], ...body(version) })).toEqual({
      input: { app_name: 'app', ...version },
    })
  })

  test('the flat input of a request contains a parameter with an open name under its name in the settings', () => {
    const settings = { ...defaultSettings, locationTagsParameter: 'with_tags' }
    expect(read(api.locations.list, { query: 'with_tags=true' }, settings)).toEqual({ input: { tags: true } })
    expect(read(api.locations.list, { query: 'tags=true' }, settings)).toEqual({
      problem: 'tags: is not a query parameter of this operation',
    })
  })
})

describe('wrong input', () => {
  test.each([
    ['a bad escape', api.applications.get, { segments: ['%zz'] }, 'app_name: is not valid percent-encoding'],
    [
      'a number that cannot be parsed',
      api.fleets.list,
      { query: 'page=one' },
      'page: must be a whole number, got "one"',
    ],
    ['a number out of range', api.fleets.list, { query: 'limit=0' }, 'limit: must be at least 1, got 0'],
    [
      'an unknown parameter',
      api.fleets.list,
      { query: 'pages=1' },
      'pages: is not a query parameter of this operation',
    ],
    ['a parameter twice', api.fleets.list, { query: 'page=1&page=2' }, 'page: is given more than once'],
    [
      'a flag that is neither true nor false',
      api.locations.list,
      { query: 'tags=yes' },
      'tags: must be true or false, got "yes"',
    ],
    ['a query that is not JSON', api.deployments.list, { query: 'query=status' }, 'query: must be JSON'],
    ['a missing field', api.applications.create, body({}), 'name: is missing'],
    ['a missing body', api.applications.create, {}, 'name: is missing'],
    ['a body that is not JSON', api.applications.create, { body: '{"name":' }, 'The body must be a JSON object.'],
    ['a body that is a list', api.applications.create, body([1]), 'The body must be a JSON object.'],
    ['a field of another type', api.applications.create, body({ name: 7 }), 'name: must be a text, got 7'],
    [
      'an unknown field',
      api.applications.create,
      body({ name: 'app', colour: 'red' }),
      'colour: is not a field of the body',
    ],
    [
      'a path key in the body',
      api.applications.update,
      { segments: ['app'], ...body({ app_name: 'other' }) },
      'app_name: is not a field of the body',
    ],
    [
      'a rule across fields',
      api.versions.create,
      { segments: ['app'], ...body({ ...version, req_memory: 4096 }) },
      'req_memory: must be at most twice req_cpu, got 4096',
    ],
    [
      'a rule of a nested field',
      api.versions.create,
      { segments: ['app'], ...body({ ...version, ports: [{ port: 70_000, protocol: 'UDP' }] }) },
      'ports.0.port: must be at most 59999, got 70000',
    ],
    [
      'an unknown nested field',
      api.versions.create,
      { segments: ['app'], ...body({ ...version, ports: [{ port: 1, protocol: 'UDP', proto: 'x' }] }) },
      'ports.0.proto: is not known; did you mean protocol?',
    ],
  ])('wrong request input is a problem that names the field: %s', (_what, operation, parts, problem) => {
    expect(read(operation, parts)).toEqual({ problem })
  })

  test('__proto__ in a request body is refused like any other unknown field', () => {
    expect(read(api.applications.create, { body: '{"name":"app","__proto__":{"is_active":false}}' })).toEqual({
      problem: '__proto__: is not a field of the body',
    })
  })
})

describe('a problem about secrets and addresses', () => {
  test.each([
    [
      'an address',
      api.deployments.create,
      body({ ...deployment, users: [{ user_type: 'ip_address', user_data: { ip_address: '300.1.2.3' } }] }),
      '300.1.2.3',
    ],
    ['addresses of another shape', api.deployments.create, body({ ...deployment, users: '192.0.2.77' }), '192.0.2.77'],
    ['a token', api.relays.revokeUser, body({ session_id: 's', authorization_token: 5_000_000_000 }), '5000000000'],
    [
      'a secret of another type',
      api.versions.create,
      { segments: ['app'], ...body({ ...version, private_token: 12_345 }) },
      '12345',
    ],
    [
      'the value of a variable',
      api.deployments.create,
      body({ ...deployment, environment_variables: [{ key: 'K', value: 4711, is_hidden: true }] }),
      '4711',
    ],
    [
      'a webhook',
      api.deployments.create,
      body({ ...deployment, webhook_on_ready: { url: 'ftp://host/unguessable' } }),
      'unguessable',
    ],
  ])('a problem about secrets and addresses does not show them: %s', (_what, operation, parts, secret) => {
    const result = read(operation, parts)
    expect(result).toEqual({ problem: expect.stringMatching(/^[\w.]+: /) })
    expect(JSON.stringify(result)).not.toContain(secret)
  })
})
