import { describe, expect, test } from 'vitest'
import { operations, type OperationId } from '../api/api.js'
import { validate } from '../validation/validate.js'
import { invalid } from './call.js'

const byId = new Map(operations)

/** Returns the error for an invalid input of an operation. */
function refused(id: OperationId, input: unknown) {
  const operation = byId.get(id)
  const result = operation && validate(operation.input, input)
  if (result?.success !== false) return expect.unreachable('the input should be refused')
  return invalid(`${id}: input`, result.fault, { operation: id })
}

const version = {
  app_name: 'a',
  name: 'v',
  docker_repository: 'r',
  docker_image: 'i',
  docker_tag: 't',
  req_cpu: 128,
  req_memory: 256,
}
const create = { application: 'a', version: 'v' }

describe('the error of invalid input', () => {
  test.each([
    ['versions.create', 'req_memory', 'must be at most twice req_cpu, got 300', { ...version, req_memory: 300 }],
    ['versions.create', 'ports.0.port', 'got 70000', { ...version, ports: [{ port: 70_000, protocol: 'UDP' }] }],
    ['fleets.list', 'page', 'got 0', { page: 0 }],
    ['fleets.list', 'page', 'must be a number, got a text', { page: '1' }],
    ['deployments.get', 'request_id', 'is missing', {}],
    ['deployments.get', 'request_id', 'must be a text, got null', { request_id: null }],
    ['deployments.get', 'request_id', 'got ""', { request_id: '' }],
    ['deployments.metrics', 'steps', 'got "5x"', { request_id: 'a', steps: '5x' }],
    ['deployments.get', 'requestId', 'is not known; did you mean request_id?', { requestId: 'a', request_id: 'a' }],
    ['deployments.create', 'users', 'must not be empty', { ...create, users: [] }],
    [
      'deployments.create',
      'users.0.user_type',
      'must be "ip_address" or "geo_coordinates", got "email"',
      { ...create, users: [{ user_type: 'email' }] },
    ],
    ['versions.create', 'time_to_deploy', 'must be at least 15, got 14', { ...version, time_to_deploy: 14 }],
    [
      'deployments.deployLegacy',
      'container_log_storage.endpoint_storage',
      'is missing',
      { app_name: 'a', ip_list: ['192.0.2.1'], container_log_storage: { enabled: true } },
    ],
    ['applications.get', 'page', 'is not known', { app_name: 'a', page: 1 }],
  ] as const)(
    'invalid input to %s is refused with an error that names the field %s and its fault “%s”',
    (id, field, says, input) => {
      const error = refused(id, input)
      expect(error).toMatchObject({
        name: 'InvalidInput',
        operation: id,
        field,
        message: expect.stringContaining(says),
      })
      expect(error.message.startsWith(`${id}: input ${field}: `)).toBe(true)
    },
  )

  test('the error of input that is not an object has no field', () => {
    const error = refused('deployments.get', 'abc')
    expect(error.message).toMatch(/^deployments.get: input: /)
    expect(error).not.toHaveProperty('field')
  })
})

describe('the error of input that may be a secret or an address', () => {
  test.each([
    [
      'deployments.create',
      { ...create, users: [{ user_type: 'ip_address', user_data: { ip_address: '198.51.100.777' } }] },
    ],
    ['deployments.create', { ...create, users: ['198.51.100.7'] }],
    ['deployments.create', { ...create, users: [{ user_type: '198.51.100.7', user_data: {} }] }],
    [
      'deployments.create',
      { ...create, users: [], environment_variables: [{ key: 'K', value: 77_123, is_hidden: true }] },
    ],
    ['versions.create', { ...version, envs: [{ key: 'K', value: 'hunter2'.repeat(1000) }] }],
    ['versions.create', { ...version, envs: ['K=hunter2'] }],
    ['versions.create', { ...version, private_token: 77_123 }],
    ['relays.create', { users: [{ ip: 'hunter2' }] }],
    ['relays.revokeUser', { session_id: 's', authorization_token: -77_123 }],
    [
      'deployments.create',
      {
        ...create,
        users: [{ user_type: 'geo_coordinates', user_data: { latitude: 1, longitude: 2 } }],
        webhook_on_ready: { url: 'hunter2' },
      },
    ],
    ['deployments.selfStop', { request_id: 'a', access_point_id: 'b', authorization: ['hunter2'] }],
    ['deployments.deployLegacy', { app_name: 'game', ip_list: ['203.0.113.9', 'hunter2'] }],
    ['relays.authorizeUser', { session_id: 'abc', user_ip: 'hunter2' }],
    ['storages.update', { endpoint_name: 's', secret_access_key: ['hunter2'] }],
    ['versions.update', { app_name: 'game', version_name: '1', private_token: { hunter2: 1 } }],
    ['tags.create', { request_id: 'abc', name: `of 198.51.100.7 ${'n'.repeat(40)}` }],
  ] as const)('the error of input that may be a secret or an address shows no value: %s %j', (id, input) => {
    const error = refused(id, input)
    expect(JSON.stringify([error.message, error, error.stack])).not.toMatch(/198\.51|hunter2|77123/)
  })

  test('the error of invalid input shortens long values', () => {
    expect(refused('deployments.metrics', { request_id: 'a', steps: 'x'.repeat(500) }).message.length).toBeLessThan(250)
  })
})
