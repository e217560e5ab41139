import { inspect } from 'node:util'
import { describe, expect, test } from 'vitest'
import { api, operations, type OperationId } from '../api/api.js'
import { refusal } from './refusal.js'
import { testRequest } from './request.fixture.js'
import type { HttpAnswer } from './transport.js'

const answer = (
  status: number,
  body: unknown = { message: 'what it says' },
  headers: HttpAnswer['headers'] = {},
): HttpAnswer => {
  const text = typeof body === 'string' ? body : JSON.stringify(body)
  return { status, headers, body: text, bytes: text.length }
}
const of = (
  status: number,
  body?: unknown,
  id: OperationId = 'fleets.get',
  input: Readonly<Record<string, unknown>> = {},
) => {
  const operation = operationOf(id)
  return refusal(testRequest({ id, input, operation, template: operation.path }), answer(status, body), 0)
}
const operationOf = (id: OperationId) => new Map(operations).get(id) ?? api.fleets.get

test.each([
  [400, 'InvalidInput', 'the service refused the input'],
  [401, 'Unauthorized', 'the token is missing, wrong or expired'],
  [403, 'Forbidden', 'not allowed with this token'],
  [404, 'NotFound', 'not found'],
  [409, 'Conflict', 'conflict'],
  [410, 'AlreadyTerminated', 'already terminated'],
  [422, 'InvalidInput', 'the service refused the input'],
  [424, 'DependencyFailed', 'something the service depends on failed'],
  [408, 'ServerError', 'the request was not served'],
  [425, 'ServerError', 'the request was not served'],
  [429, 'RateLimited', 'too many requests'],
  [500, 'ServerError', 'the service failed'],
  [503, 'ServerError', 'the service failed'],
  [599, 'ServerError', 'the service failed'],
  [402, 'UnexpectedResponse', 'an undocumented status'],
  [418, 'UnexpectedResponse', 'an undocumented status'],
])('a response of status %i becomes the error %s', (status, name, what) => {
  expect(of(status)).toMatchObject({
    name,
    status,
    operation: 'fleets.get',
    call: 'test-1',
    message: `fleets.get: ${what} (status ${status}): what it says`,
  })
})

describe('refusals of deployments', () => {
  test.each(['deployments.create', 'deployments.deployLegacy'] as const)(
    'a 422 without capacity on %s carries the request_id of the deployment to stop',
    (id) => {
      expect(of(422, { request_id: 'abc', message: 'no room' }, id)).toMatchObject({
        name: 'NoCapacity',
        requestId: 'abc',
      })
      expect(of(422, {}, id)).toMatchObject({ name: 'NoCapacity' })
      expect(of(422, {}, id).requestId).toBeUndefined()
    },
  )

  test.each([
    'account-secret',
    'the account-SECRET again',
    'hush',
    'hunter2-of-the-variable',
    '198.51.100.7',
    '2001:db8::7',
    'x'.repeat(201),
  ])('the error of a 422 has no request_id that may be a secret: %s', (request_id) => {
    const request = testRequest({
      id: 'deployments.create',
      input: {
        users: [{ user_type: 'ip_address', user_data: { ip_address: '198.51.100.7' } }],
        environment_variables: [
          { key: 'A', value: 'hunter2-of-the-variable', is_hidden: true },
          { key: 'B', value: 'hush', is_hidden: true },
        ],
      },
    })
    request.progress.token = 'account-secret'
    const error = refusal(request, answer(422, { request_id, message: 'no room' }), 0)
    expect(error).toMatchObject({ name: 'NoCapacity' })
    expect(error.requestId).toBeUndefined()
  })

  test('the error of a 422 shows an id in which a short secret occurs by chance', () => {
    const input = { environment_variables: [{ key: 'B', value: 'ab', is_hidden: true }] }
    expect(of(422, { request_id: 'ab12cd' }, 'deployments.create', input).requestId).toBe('ab12cd')
  })

  test('a 422 of an operation that deploys nothing is InvalidInput', () =>
    expect(of(422, {}, 'deployments.metrics').name).toBe('InvalidInput'))

  test.each(['deployments.get', 'deployments.stop', 'deployments.selfStop'] as const)(
    'a 400 whose message says "not found" means an unknown deployment: %s',
    (id) => {
      const input = { request_id: 'abc' }
      for (const message of [
        'Deployment not found',
        'No such request',
        'request_id does not exist',
        "it doesn't exist",
        'Unknown deployment',
      ]) {
        expect(of(400, { message }, id, input)).toMatchObject({ name: 'NotFound', status: 400, requestId: 'abc' })
      }
      expect(of(400, { message: 'page must be positive' }, id, input).name).toBe('InvalidInput')
    },
  )

  test.each([
    'Unknown error',
    'An unknown error occurred',
    'an unknown exception was raised',
    'Unknown failure while reading the request',
    'Unknown parameter container_log_storage',
    'Unknown field: foo',
  ])('a 400 about something unknown other than the deployment is InvalidInput: %s', (message) => {
    for (const id of ['deployments.get', 'deployments.stop', 'deployments.selfStop'] as const)
      expect(of(400, { message }, id, { request_id: 'abc' }).name).toBe('InvalidInput')
  })

  test('a 400 of an operation without a deployment is InvalidInput, even if its message says "not found"', () =>
    expect(of(400, { message: 'app not found' }, 'versions.create').name).toBe('InvalidInput'))

  test('the error of a stop that came too late is recognized by the message of the service', () => {
    for (const status of [400, 404, 409, 410])
      expect(of(status, { message: 'Instance Already terminated' }, 'deployments.stop').name).toBe('AlreadyTerminated')
    expect(of(400, { message: 'Instance Already terminated' }, 'fleets.delete').name).toBe('InvalidInput')
  })
})

test('the error of a 429 contains the Retry-After of the service', () => {
  for (const status of [429, 503]) {
    expect(refusal(testRequest(), answer(status, {}, { 'retry-after': '7' }), 0)).toMatchObject({ retryAfterMs: 7000 })
    expect(refusal(testRequest(), answer(status, {}, { 'retry-after': ['2', '7'] }), 0)).toMatchObject({
      retryAfterMs: 2000,
    })
    expect(refusal(testRequest(), answer(status), 0)).not.toHaveProperty('retryAfterMs')
  }
})

describe('the message of a refusal', () => {
  test.each([
    ['{"message":"a","details":"b"}', ': a – b'],
    ['{"message":{"nested":1}}', ''],
    ['{}', ''],
    ['[]', ''],
    ['', ''],
    ['upstream timed out', ': upstream timed out'],
    ['<html><body>Bad Gateway</body></html>', ''],
    ['{"message":"trunc', ''],
    ['null', ''],
    ['x'.repeat(501), ''],
  ])('the service message %j is shown in the error as %j', (body, told) => {
    expect(of(500, body).message).toBe(`fleets.get: the service failed (status 500)${told}`)
  })

  test('an error shows only the beginning of a long service message', () => {
    expect(of(400, { message: 'long '.repeat(1000) }).message.length).toBeLessThan(600)
  })

  test('the error of a call shows the service’s message without the secrets and addresses of the call', () => {
    const input = {
      application: 'arena',
      users: [{ user_type: 'ip_address', user_data: { ip_address: '198.51.100.7' } }],
      environment_variables: [{ key: 'KEY', value: 'hunter2', is_hidden: true }],
      webhook_on_ready: { url: 'https://backend.example/hooks/unguessable' },
    }
    const request = testRequest({ id: 'deployments.create', operation: api.deployments.create, input })
    request.progress.token = 'account-token'
    const sent = 'token account-token sent {"value":"hunter2"} for 198.51.100.7 and 2001:db8::9'
    const message = `${sent} to ${input.webhook_on_ready.url}`
    const error = refusal(request, answer(400, { message, details: message }), 0)
    for (const text of [error.message, inspect(error, { depth: 9 }), JSON.stringify(error), String(error.stack)]) {
      expect(text).not.toMatch(/account-token|hunter2|198\.51|2001:db8|unguessable/)
      expect(text).toContain('[redacted]')
      expect(text).toContain('[address]')
    }
  })
})

test('a legacy deploy of an application that the service does not know is NotFound', () => {
  const message = 'application "arena" not found'
  expect(of(404, { message }, 'deployments.deployLegacy')).toMatchObject({ name: 'NotFound', status: 404 })
})

describe('a 404 that the API did not send', () => {
  test.each([
    ['a page of a proxy', '<html><body>404 Not Found</body></html>'],
    ['no body', ''],
    ['plain text', '404 page not found'],
    ['JSON without a message', '{"status":404}'],
    ['a list', '[]'],
    ['the message of Flask', { message: 'The requested URL was not found on the server.' }],
    ['the message of Nest', { statusCode: 404, message: 'Cannot DELETE /v2/v1/stop/abc', error: 'Not Found' }],
    ['the message of Kong', { message: 'no Route matched with those values' }],
    ['the message of FastAPI', { detail: 'Not Found' }],
    ['the message of Spring', { status: 404, error: 'Not Found', path: '/v2/v1/stop/abc' }],
    ['the message of the emulator', { message: 'there is no operation at this path' }],
  ])('a 404 that the API did not send is RouteMissing, not an unknown deployment: %s', (_, body) => {
    for (const status of [404, 410])
      expect(of(status, body, 'deployments.stop')).toMatchObject({ name: 'RouteMissing', status })
  })

  test('a 404 of the API is recognized by the wording of its message', () => {
    expect(of(404, { message: 'Not Found' }, 'deployments.stop').name).toBe('NotFound')
    expect(of(404, { detail: 'deployment abc not found' }, 'deployments.stop').name).toBe('NotFound')
    expect(of(410, { message: 'Instance Already terminated' }, 'deployments.stop').name).toBe('AlreadyTerminated')
  })

  test('every 404 of an operation without an id or name, and every 405, is RouteMissing', () => {
    expect(of(404, { message: 'Not Found' }, 'deployments.list').name).toBe('RouteMissing')
    expect(of(404, { message: 'Not Found' }, 'deployments.create').name).toBe('RouteMissing')
    expect(of(404, '<html>', 'deployments.deployLegacy').name).toBe('RouteMissing')
    expect(of(405, { message: 'Method Not Allowed' }, 'deployments.stop').name).toBe('RouteMissing')
  })

  test('a 404 that the API did not send is an error that names the missing route', () => {
    expect(of(404, '').message).toBe(
      'fleets.get: the answer does not come from the API: ' +
        'baseUrl may be wrong, or have no GET /v1/fleet/{fleet_name} (status 404)',
    )
  })

  test('a 400 that the API did not send is InvalidInput, not an unknown deployment', () => {
    expect(of(400, 'Unknown host', 'deployments.stop').name).toBe('InvalidInput')
  })
})
