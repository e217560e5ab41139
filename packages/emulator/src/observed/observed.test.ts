import { describe, expect, test } from 'vitest'
import { started, version } from '../emulator.fixture.js'

const observed = (options: Parameters<typeof started>[0] = {}) => started({ as: 'observed', ...options })
const users = [{ user_type: 'ip_address', user_data: { ip_address: '203.0.113.7' } }]
const created = { application: 'arena', version: '1.0', users }
const application = { name: 'arena', is_active: true, image: '' }

/** Starts an observed service with a version. Returns it with a function that deploys the version. */
async function withVersion(options: Parameters<typeof started>[0] = {}) {
  const service = observed(options)
  await service.call('POST', '/v1/app', application)
  await service.call('POST', '/v1/app/arena/version', version)
  const deploy = async (more: object = {}) => {
    const { body } = await service.call('POST', '/v2/deployments', { ...created, ...more })
    return (body as { readonly request_id: string }).request_id
  }
  return { ...service, deploy }
}

test('the emulator in mode observed creates deployments only at /v2/deployments or a configured path', async () => {
  const { call } = observed()
  expect(await call('POST', '/deployments', created)).toMatchObject({ status: 404, body: expect.stringMatching(/^<!/) })
  expect(await call('POST', '/v2/deployments', created)).toMatchObject({ status: 400 })

  const other = observed({ settings: { createDeploymentPath: '/own' } })
  expect(other.emulator.settings.createDeploymentPath).toBe('/own')
  expect(await other.call('POST', '/own', created)).toMatchObject({ status: 400 })
})

test('the emulator in mode specification creates deployments at /deployments, and has fleets', async () => {
  const { call, emulator } = started()
  expect(emulator.settings.createDeploymentPath).toBe('/deployments')
  expect((await call('POST', '/v2/deployments', {})).status).toBe(404)
  expect((await call('GET', '/v1/fleets')).status).toBe(200)
})

test.each(['/v1/fleets', '/v1/fleet/europe/policies', '/v2/status/x'])(
  'the emulator in mode observed answers %s with a 404 that is a web page',
  async (path) => {
    const { status, body } = await observed().call('GET', path)
    expect([status, body]).toEqual([404, expect.stringMatching(/^<!doctype html>/)])
  },
)

const rest = { ...version, name: '2.0' }
const legacy = { app_name: 'arena', version_name: '1.0', ip_list: ['203.0.113.7'] }
const query = (content: object) => `/v1/deployments?query=${encodeURIComponent(JSON.stringify(content))}`
const since = (operator: string) => ({ field: 'created_at', operator, value: '2026-01-31 08:15:30.250000' })

describe('a request that the observed service refuses', () => {
  test.each<[says: string, method: string, path: string, body?: object]>([
    ['is_active: is required', 'POST', '/v1/app', { name: 'puzzle', image: '' }],
    ['image: is required', 'POST', '/v1/app', { name: 'puzzle', is_active: true }],
    ['version_name: is required', 'POST', '/v1/deploy', { app_name: 'arena', ip_list: ['203.0.113.7'] }],
    [
      'environment_variables.1.is_hidden: is missing',
      'POST',
      '/v2/deployments',
      {
        ...created,
        environment_variables: [
          { key: 'A', value: '1', is_hidden: true },
          { key: 'B', value: '2' },
        ],
      },
    ],
    ['is_telemetry_agent_active: is not', 'PATCH', '/v1/app/arena', { is_telemetry_agent_active: true }],
    [
      'session_config: is not described',
      'PATCH',
      '/v1/app/arena/version/1.0',
      { session_config: { kind: 'Seat', sockets: 10, autodeploy: false, empty_ttl: 5, session_max_duration: 60 } },
    ],
    [
      'envs[0].is_secret: is not described',
      'POST',
      '/v1/app/arena/version',
      { ...rest, envs: [{ key: 'A', value: '1', is_secret: true }] },
    ],
    ['skip_telemetry: is not described', 'POST', '/v1/deploy', { ...legacy, skip_telemetry: true }],
    ['ap_sort_strategy: is not described', 'POST', '/v1/deploy', { ...legacy, ap_sort_strategy: 'basic' }],
    ['tags: is not described', 'GET', '/v1/locations?tags=true'],
    ['req_cpu: must be', 'POST', '/v1/app/arena/version', { ...rest, req_cpu: 99 }],
    ['at most one filter per field', 'GET', query({ filters: [since('gte'), since('lte')] })],
    ['must be one of eq, gte, lte for created_at', 'GET', query({ filters: [since('gt')] })],
    [
      'must be one of created_at, available_session_sockets',
      'GET',
      query({ order_by: [{ field: 'version', order: 'asc' }] }),
    ],
    [
      'must be one of request_id, deployment_tags',
      'POST',
      '/v1/deployments/bulk-stop',
      { filters: [{ field: 'application', values: ['arena'], filter_type: 'any' }] },
    ],
  ])(
    'the emulator in mode observed answers a request with 400 and the reason “%s”',
    async (says, method, path, body) => {
      const { call } = await withVersion()
      const answer = await call(method, path, body)
      expect(answer).toMatchObject({ status: 400, body: { message: expect.stringContaining(says) } })
    },
  )

  test('requests that the emulator refuses in mode observed are accepted in mode specification', async () => {
    const { call } = started()
    await call('POST', '/v1/app', { name: 'arena', is_telemetry_agent_active: true })
    const saved = await call('POST', '/v1/app/arena/version', {
      ...version,
      envs: [{ key: 'A', value: '1', is_secret: true }],
    })
    expect(saved.status).toBe(200)
    expect((await call('GET', query({ filters: [since('gte'), since('lt')] }))).status).toBe(200)
    expect((await call('GET', '/v1/locations?tags=true')).status).toBe(200)
  })
})

test('the emulator in mode observed shows a missing deployment address as empty strings, never as null', async () => {
  const { call, deploy } = await withVersion()
  const request_id = await deploy()
  const { body } = await call('GET', `/v1/status/${request_id}`)
  expect(body).toMatchObject({ public_ip: '', current_status: 'Status.INITIALIZING', error: false })
  expect(JSON.stringify(body)).not.toContain('null')
  for (const absent of ['error_detail', 'removal_time', 'command', 'location', 'sessions', 'sockets'])
    expect(body).not.toHaveProperty(absent)
})

test('in mode observed, container variables begin with ARBITRIUM_, and the delete token is hidden', async () => {
  const { emulator, clock, call, deploy } = await withVersion()
  const request_id = await deploy()
  await clock.advance(60_000)
  const variables = emulator.environment(request_id) ?? {}
  expect(variables).toMatchObject({ ARBITRIUM_REQUEST_ID: request_id, ARBITRIUM_DELETE_TOKEN: expect.any(String) })
  expect(Object.keys(variables).filter((name) => name.startsWith('SERVICE_'))).toEqual([])
  const page = await call('GET', `/_emulator/deployments/${request_id}`)
  expect(JSON.stringify(page.body)).not.toContain(variables['ARBITRIUM_DELETE_TOKEN'])
})

test('the emulator in mode observed has no logs of a container once the container is being stopped', async () => {
  const { clock, call, deploy } = await withVersion()
  const request_id = await deploy()
  await clock.advance(60_000)
  const logs = `/v1/deployment/${request_id}/container-logs`
  expect(await call('GET', logs)).toMatchObject({ status: 200, body: { logs: expect.stringContaining('ready') } })
  expect((await call('DELETE', `/v1/stop/${request_id}`)).status).toBe(200)
  expect((await call('GET', logs)).status).toBe(404)
})

test('the emulator in mode observed answers a stop before READY with 202, and a self-stop without a body', async () => {
  const { clock, call, deploy, emulator } = await withVersion()
  const request_id = await deploy()
  const stopped = await call('DELETE', `/v1/stop/${request_id}`)
  expect([stopped.status, Object.keys(stopped.body as object)]).toEqual([202, ['message']])

  const other = await deploy()
  await clock.advance(60_000)
  const { ARBITRIUM_DELETE_URL = '', ARBITRIUM_DELETE_TOKEN = '' } = emulator.environment(other) ?? {}
  const path = new URL(ARBITRIUM_DELETE_URL).pathname
  const headers = { authorization: ARBITRIUM_DELETE_TOKEN }
  expect(await call('DELETE', path, undefined, headers)).toMatchObject({ status: 200, body: undefined })
  await clock.advance(60_000)
  expect((await call('DELETE', path, undefined, headers)).status).toBe(404)
})

test('the emulator in mode observed returns lists in pages, and an empty list without its entries field', async () => {
  const { call } = observed()
  expect((await call('GET', '/v1/apps')).body).toEqual({
    total_count: 0,
    pagination: expect.objectContaining({ number: 1, has_next: false, next_page_number: null }) as unknown,
  })
  for (const name of ['one', 'two', 'three']) await call('POST', '/v1/app', { ...application, name })
  expect((await call('GET', '/v1/apps?page=2&limit=2')).body).toMatchObject({
    applications: [{ name: 'three' }],
    total_count: 3,
    pagination: { number: 2, has_next: false, previous_page_number: 1 },
  })
})

test('the emulator in mode observed sends webhooks without null and without fields that reads omit', async () => {
  const posted: unknown[] = []
  const { clock, deploy } = await withVersion({
    fetch: async (_, { body }) => {
      posted.push(JSON.parse(String(body)))
      return new Response()
    },
  })
  await deploy({ webhook_on_ready: { url: 'http://127.0.0.1:9/ready' } })
  await clock.advance(60_000)
  expect(posted).toMatchObject([{ current_status: 'Status.READY', location: { latitude: expect.any(Number) } }])
  expect(JSON.stringify(posted)).not.toMatch(/null|whitelisting_active|sockets/)
})

test('createEmulator refuses an unknown value of the option `as`', () => {
  expect(() => started({ as: 'live' as 'observed' })).toThrow(/option as/)
})
