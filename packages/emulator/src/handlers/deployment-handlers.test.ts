import { beforeEach, describe, expect, test } from 'vitest'
import { idOf, studio } from '../deployments/studio.fixture.js'
import { version } from '../emulator.fixture.js'
import { places } from '../places.js'

type Studio = Awaited<ReturnType<typeof studio>>

describe('a bulk stop', () => {
  let made: Studio
  let ids: readonly string[]
  const stop = (...filters: object[]) => made.call('POST', '/v1/deployments/bulk-stop', { filters })

  beforeEach(async () => {
    made = await studio()
    ids = [await made.deploy({ tags: ['red', 'big'] }), await made.deploy({ tags: ['red'] }), await made.deploy()]
  })

  test.each([
    ['any', ['big', 'red'], [0, 1]],
    ['all', ['big', 'red'], [0]],
    ['not', ['big'], [1, 2]],
  ])('a bulk stop stops deployments by tags: %s of %j', async (filter_type, values, expected) => {
    expect(await stop({ field: 'deployment_tags', filter_type, values })).toMatchObject({
      status: 202,
      body: { processable: expected.map((index) => ({ request_id: ids[index] })) },
    })
  })

  test('a bulk stop by ids and tags stops starting deployments later, and skips stopped deployments', async () => {
    const { clock, listedIds } = made
    await clock.advance(11_000)
    const late = await made.deploy({ tags: ['red'] })
    const red = { field: 'deployment_tags', filter_type: 'any', values: ['red'] }
    const some = { field: 'request_id', filter_type: 'any', values: [ids[0], ids[2], late, 'none'] }
    expect((await stop(red, some)).body).toEqual({ processable: [{ request_id: ids[0] }, { request_id: late }] })
    expect(await made.status(ids[0] as string)).toMatchObject({ current_status: 'Status.TERMINATING' })
    expect(await made.status(late)).toMatchObject({ current_status: 'Status.INITIALIZING' })
    expect((await stop(some)).body).toEqual({ processable: [{ request_id: ids[2] }, { request_id: late }] })
    await clock.advance(60_000)
    expect(await listedIds()).toEqual([ids[1]])
  })

  test('a bulk stop with a wrong filter is answered with 400 and stops nothing', async () => {
    const good = { field: 'deployment_tags', filter_type: 'any', values: ['red'] }
    expect(await stop(good, { field: 'city', filter_type: 'any', values: ['Paris'] })).toMatchObject({
      status: 400,
      body: { message: 'filters[1].field: must be one of request_id, deployment_tags, not "city"' },
    })
    expect(await stop({ ...good, filter_type: 'none' })).toMatchObject({ status: 400 })
    expect((await stop()).status).toBe(400)
    await made.clock.advance(60_000)
    expect(await made.listedIds()).toHaveLength(3)
  })
})

describe('a legacy deploy', () => {
  const deploy = ({ call }: Studio, fields: object = {}) =>
    call('POST', '/v1/deploy', {
      app_name: 'arena',
      geo_ip_list: [{ ip: '192.0.2.1', latitude: 48.9, longitude: 2.3 }],
      ...fields,
    })

  test('a legacy deploy returns its choices in the answer', async () => {
    const made = await studio()
    const filters = [{ field: 'country', values: ['Germany', 'Japan'], filter_type: 'any' }]
    const container_log_storage = { enabled: true, endpoint_storage: 'logs' }
    const secrets = { access_key_id: 'key', secret_access_key: 'hidden-key' }
    await made.call('POST', '/v1/storage/endpoint', {
      name: 'logs',
      endpoint: 'https://s3.example.com',
      bucket: 'b',
      ...secrets,
    })
    const answer = await deploy(made, { tags: ['a'], filters, container_log_storage })
    const request_id = idOf(answer.body)
    expect(answer.status).toBe(200)
    expect(answer.body).toEqual({
      request_id,
      request_dns: `${request_id}.emulator.invalid`,
      request_app: 'arena',
      request_version: '1.0',
      request_user_count: 1,
      tags: ['a'],
      container_log_storage,
      location: places.find(({ id }) => id === 'frankfurt')?.location,
      filters,
      ap_sort_strategy: 'basic',
    })
    await made.clock.advance(11_000)
    expect(await made.status(request_id)).toMatchObject({
      current_status: 'Status.READY',
      tags: ['a'],
      location: { city: 'Frankfurt' },
    })
  })

  test('a legacy deploy takes addresses, a wanted location, variables and a command', async () => {
    const made = await studio(
      { locate: () => ({ latitude: 35.7, longitude: 139.7 }) },
      { command: 'of version', arguments: 'of version' },
    )
    const { emulator, status } = made
    const near = idOf((await deploy(made, { geo_ip_list: undefined, ip_list: ['192.0.2.1', '192.0.2.2'] })).body)
    const far = idOf(
      (
        await deploy(made, {
          location: { latitude: -33, longitude: 18 },
          env_vars: [{ key: 'K', value: 'v', is_hidden: true }],
          command: 'mine',
          arguments: null,
        })
      ).body,
    )
    await made.clock.advance(11_000)
    expect(await status(near)).toMatchObject({ location: { city: 'Tokyo' }, command: 'of version' })
    expect(await status(far)).toMatchObject({
      location: { city: 'Cape Town' },
      command: 'mine',
      arguments: 'of version',
    })
    expect(emulator.environment(far)).toMatchObject({ K: 'v' })
  })

  test('a legacy deploy is faster without telemetry', async () => {
    const made = await studio()
    const id = idOf((await deploy(made, { skip_telemetry: true })).body)
    await made.clock.advance(10_700)
    expect(await made.status(id)).toMatchObject({ current_status: 'Status.READY' })
  })

  test('a legacy deploy calls its webhook when the deployment is ready', async () => {
    const calls: string[] = []
    const made = await studio({ fetch: async (url) => (calls.push(url), new Response()) })
    await deploy(made, { webhook_url: 'http://127.0.0.1/legacy' })
    await made.clock.advance(11_000)
    expect(calls).toEqual(['http://127.0.0.1/legacy'])
  })

  test('a legacy deploy takes the latest version by default', async () => {
    const made = await studio()
    await made.call('POST', '/v1/app/arena/version', { ...version, name: '0.9' })
    expect((await deploy(made)).body).toMatchObject({ request_version: '0.9' })
    expect((await deploy(made, { version_name: '1.0' })).body).toMatchObject({ request_version: '1.0' })
  })

  test.each([
    ['an unknown application', { app_name: 'none' }, 400],
    ['an unknown version', { version_name: '2.0' }, 400],
    ['an application without versions', { app_name: 'empty' }, 409],
    ['an inactive version', { version_name: 'off' }, 409],
    ['an inactive latest version', {}, 409],
    ['an unknown strategy', { version_name: '1.0', ap_sort_strategy: 'cheapest' }, 400],
    [
      'an unknown filter',
      { version_name: '1.0', filters: [{ field: 'planet', filter_type: 'any', values: ['Mars'] }] },
      400,
    ],
    [
      'an unknown storage',
      { version_name: '1.0', container_log_storage: { enabled: true, endpoint_storage: 'none' } },
      400,
    ],
    ['no address or location of players', { version_name: '1.0', geo_ip_list: undefined }, 400],
    [
      'filters that match no place',
      { version_name: '1.0', filters: [{ field: 'city', filter_type: 'any', values: ['Atlantis'] }] },
      422,
    ],
  ])('a legacy deploy is refused with a reason: %s', async (_what, fields, status) => {
    const made = await studio()
    await made.call('POST', '/v1/app', { name: 'empty' })
    await made.call('POST', '/v1/app/arena/version', { ...version, name: 'off', is_active: false })
    expect(await deploy(made, fields)).toMatchObject({ status, body: { message: expect.any(String) } })
  })

  test('a legacy deploy without capacity is answered with 422 and the deployment to stop', async () => {
    const made = await studio({ capacity: 0 })
    const answer = await deploy(made)
    expect(answer).toMatchObject({ status: 422, body: { message: "Couldn't Allocate Server" } })
    expect((await made.stop(idOf(answer.body))).status).toBe(200)
  })
})
