import { seededRandom } from '@muster/core/clock'
import { expect, test } from 'vitest'
import { studio } from './studio.fixture.js'

test('a deployment passes its statuses to READY, and shows more fields on the way', async () => {
  const { clock, create, status } = await studio()
  const created = await create({ tags: ['match-1', 'match-1', 'blue'] })
  expect(created).toMatchObject({ status: 202, body: { request_id: expect.stringMatching(/^[0-9a-f]{12}$/) } })
  const { request_id } = created.body as { request_id: string }

  const seen: unknown[] = []
  for (const [ms, expected] of [
    [0, 'INITIALIZING'],
    [200, 'SEEKING'],
    [400, 'SEEKED'],
    [100, 'SCANNING'],
    [300, 'DEPLOYING'],
  ] as const) {
    await clock.advance(ms)
    const view = await status(request_id)
    expect(view['current_status']).toBe(`Status.${expected}`)
    seen.push([expected, view['location'] !== null, view['public_ip'] !== null])
  }
  expect(seen).toEqual([
    ['INITIALIZING', false, false],
    ['SEEKING', false, false],
    ['SEEKED', true, false],
    ['SCANNING', true, false],
    ['DEPLOYING', true, true],
  ])

  await clock.advance(10_000)
  const fqdn = `${request_id}.emulator.invalid`
  expect(await status(request_id)).toEqual({
    request_id,
    fqdn,
    app_name: 'arena',
    app_version: '1.0',
    current_status: 'Status.READY',
    last_status: 'Status.DEPLOYING',
    running: true,
    whitelisting_active: false,
    start_time: '2026-01-01 00:00:00.000000',
    removal_time: null,
    elapsed_time: 11,
    error: false,
    error_detail: null,
    ports: {
      game: {
        name: 'game',
        external: 30_000,
        internal: 7777,
        protocol: 'UDP',
        tls_upgrade: false,
        link: `${fqdn}:30000`,
        proxy: 30_000,
      },
    },
    public_ip: expect.stringMatching(/^198\.51\.100\.\d+$/),
    sessions: [],
    location: expect.objectContaining({ city: 'Copenhagen', country: 'Denmark' }),
    tags: ['match-1', 'blue'],
    sockets: null,
    sockets_usage: null,
    command: null,
    arguments: null,
    max_duration: 1440,
  })
})

test('a deployment stopped at READY shows only its status once it is terminated', async () => {
  const { clock, call, deploy, status, stop, listedIds } = await studio()
  const id = await deploy()
  await clock.advance(11_000)
  expect(await stop(id)).toMatchObject({
    status: 200,
    body: {
      message: expect.any(String),
      deployment_summary: { request_id: id, current_status: 'Status.TERMINATING', last_status: 'Status.READY' },
    },
  })
  expect(await stop(id)).toMatchObject({
    status: 202,
    body: { deployment_summary: { current_status: 'Status.TERMINATING' } },
  })
  expect(await listedIds()).toEqual([id])
  expect((await call('GET', `/v1/deployment/${id}/container-logs`)).status).toBe(200)

  await clock.advance(1000)
  expect(await status(id)).toMatchObject({
    current_status: 'Status.TERMINATED',
    running: false,
    removal_time: '2026-01-01 00:00:12.000000',
    elapsed_time: 12,
  })
  expect(await stop(id)).toMatchObject({ status: 410, body: { message: 'Instance Already terminated' } })
  expect(await listedIds()).toEqual([])
  expect((await call('GET', `/v1/deployment/${id}/container-logs`)).status).toBe(404)
})

test('a terminated deployment is removed after the retention time', async () => {
  const { clock, call, deploy, stop } = await studio({ deployments: { retentionMs: 60_000 } })
  const id = await deploy()
  await clock.advance(11_000)
  await stop(id)
  await clock.advance(61_000)
  expect((await call('GET', `/v1/status/${id}`)).status).toBe(200)
  await clock.advance(1)
  expect(await call('GET', `/v1/status/${id}`)).toMatchObject({
    status: 400,
    body: { message: `no such deployment: "${id}"` },
  })
  expect((await stop(id)).status).toBe(404)
})

test('a stop before READY is answered with 202 and takes effect at READY', async () => {
  const { clock, deploy, status, stop } = await studio()
  const id = await deploy()
  expect(await stop(id)).toMatchObject({
    status: 202,
    body: { deployment_summary: { current_status: 'Status.INITIALIZING' } },
  })
  await clock.advance(5000)
  expect((await stop(id)).status).toBe(202)
  expect(await status(id)).toMatchObject({ current_status: 'Status.DEPLOYING' })
  await clock.advance(6000)
  expect(await status(id)).toMatchObject({ current_status: 'Status.TERMINATING', last_status: 'Status.READY' })
  await clock.advance(1000)
  expect(await status(id)).toMatchObject({ current_status: 'Status.TERMINATED' })
})

const quick = { valueLimits: { timeToDeploy: { min: 5 } } }

test('time_to_deploy ends a slow deployment with ERROR, which can be stopped', async () => {
  const { clock, deploy, status, stop } = await studio({ settings: quick }, { time_to_deploy: 5 })
  const id = await deploy()
  await clock.advance(5000)
  expect(await status(id)).toMatchObject({
    current_status: 'Status.ERROR',
    error: true,
    error_detail: 'time_to_deploy exceeded',
    running: false,
  })
  expect((await stop(id)).status).toBe(200)
})

test('max_duration ends a deployment, and speed shortens all times', async () => {
  const { clock, deploy, status } = await studio({ speed: 60 }, { max_duration: 10 })
  const id = await deploy()
  await clock.advance(11_000 / 60)
  expect(await status(id)).toMatchObject({ current_status: 'Status.READY' })
  await clock.advance(10_000 - 11_000 / 60 - 1)
  expect(await status(id)).toMatchObject({ current_status: 'Status.READY' })
  await clock.advance(1)
  expect(await status(id)).toMatchObject({ current_status: 'Status.TERMINATING' })
})

test('a deployment time limit of -1 means no limit', async () => {
  const { clock, deploy, status } = await studio({}, { max_duration: -1 })
  const id = await deploy()
  await clock.advance(100 * 24 * 3_600_000)
  expect(await status(id)).toMatchObject({ current_status: 'Status.READY', max_duration: -1 })
})

test('a simulated container never takes longer to end than its grace period', async () => {
  const { clock, deploy, status, stop } = await studio(
    { deployTimes: { terminateMs: 600_000, spread: 0 } },
    { termination_grace_period_seconds: 7 },
  )
  const id = await deploy()
  await clock.advance(60_000)
  await stop(id)
  await clock.advance(6999)
  expect(await status(id)).toMatchObject({ current_status: 'Status.TERMINATING' })
  await clock.advance(1)
  expect(await status(id)).toMatchObject({ current_status: 'Status.TERMINATED' })
})

test.each([
  ['stay deploying', 100_000, 'Status.DEPLOYING', null],
  ['stay deploying', 120_000, 'Status.ERROR', 'time_to_deploy exceeded'],
  ['error', 11_000, 'Status.ERROR', 'the container could not be started'],
] as const)(
  'with the declared fault %j, a deployment shows it after %i ms',
  async (deployment, ms, current_status, error_detail) => {
    const { clock, deploy, status } = await studio({
      faults: [{ operation: 'deployments.create', deployment, nth: [2] }],
    })
    const healthy = await deploy()
    const faulty = await deploy()
    await clock.advance(ms)
    expect(await status(healthy)).toMatchObject({ current_status: 'Status.READY' })
    expect(await status(faulty)).toMatchObject({ current_status, error_detail })
  },
)

test.each([
  ['an unknown application', { application: 'none' }, 'there is no application named "none"'],
  ['an unknown version', { version: '2.0' }, 'there is no version of "arena" named "2.0"'],
] as const)('a create with %s is answered with 400', async (_what, fields, message) => {
  const { create } = await studio()
  expect(await create(fields)).toMatchObject({ status: 400, body: { message } })
})

test('a create with an inactive application or version is answered with 400', async () => {
  const { call, create } = await studio()
  await call('PATCH', '/v1/app/arena/version/1.0', { is_active: false })
  expect(await create()).toMatchObject({ status: 400, body: { message: 'version "1.0" of "arena" is not active' } })
  await call('PATCH', '/v1/app/arena/version/1.0', { is_active: true })
  await call('PATCH', '/v1/app/arena', { is_active: false })
  expect(await create()).toMatchObject({ status: 400, body: { message: 'application "arena" is not active' } })
})

test('deployments outlive the deletion of their application version, and keep its settings', async () => {
  const { call, clock, deploy, status } = await studio({}, { max_duration: 60 })
  const id = await deploy()
  await call('PATCH', '/v1/app/arena/version/1.0', { max_duration: 5 })
  await call('DELETE', '/v1/app/arena')
  await clock.advance(11_000)
  expect(await status(id)).toMatchObject({
    current_status: 'Status.READY',
    app_name: 'arena',
    app_version: '1.0',
    max_duration: 60,
  })
})

test('a log storage is used on a stop if it exists, and the server stops in any case', async () => {
  const { call, deploy } = await studio()
  await call('POST', '/v1/storage/endpoint', {
    name: 'bucket',
    access_key_id: 'k',
    secret_access_key: 's',
    endpoint: 'https://s3.invalid',
    bucket: 'b',
  })
  const stopped = 'the deployment will be stopped once it is READY or in ERROR'
  for (const storage of ['bucket', 'true', 'false', 'none']) {
    const answer = await call('DELETE', `/v1/stop/${await deploy()}?container_log_storage=${storage}`)
    const remark = storage === 'none' ? '; its logs are not stored: there is no endpoint storage named "none"' : ''
    expect(answer).toMatchObject({ status: 202, body: { message: `${stopped}${remark}` } })
  }
})

test('emulators with equal seeds draw the same deployment ids, and with different seeds other ids', async () => {
  const ids = async (seed: number) => {
    const { deploy } = await studio({ random: seededRandom(seed) })
    return [await deploy(), await deploy()]
  }
  expect(await ids(3)).toEqual(await ids(3))
  expect(await ids(3)).not.toEqual(await ids(4))
})

test('a deployment is found by its shown creation time at any precision of the clock', async () => {
  const { clock, deploy, status, listedIds } = await studio()
  await clock.advance(1234.5678)
  const id = await deploy()
  const { start_time } = await status(id)
  expect(start_time).toBe('2026-01-01 00:00:01.234568')
  expect(await listedIds({ filters: [{ field: 'created_at', operator: 'eq', value: start_time }] })).toEqual([id])
})

test('an image changed by a new tag does not count as cached', async () => {
  const { call, clock, create, deploy } = await studio()
  await deploy()
  await call('PATCH', '/v1/app/arena/version/1.0', { docker_tag: 'v2' })
  await clock.advance(11_000)
  expect((await create({ require_cached_locations: true })).status).toBe(422)
  await call('PATCH', '/v1/app/arena/version/1.0', { docker_tag: 'v1' })
  expect((await create({ require_cached_locations: true })).status).toBe(202)
})
