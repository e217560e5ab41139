import { beforeEach, describe, expect, test } from 'vitest'
import { started, version, type Call } from '../emulator.fixture.js'

let call: Call

beforeEach(async () => {
  call = started().call
  await call('POST', '/v1/fleet', { name: 'fleet' })
})

test('a fleet is disabled by default, and can be read, changed, listed and deleted', async () => {
  const read = await call('GET', '/v1/fleet/fleet')
  expect(read.body).toEqual({
    name: 'fleet',
    enabled: false,
    create_time: '2026-01-01 00:00:00.000000',
    last_updated: '2026-01-01 00:00:00.000000',
  })
  expect((await call('PATCH', '/v1/fleet/fleet', { enabled: true, name: 'armada' })).body).toMatchObject({
    name: 'armada',
    enabled: true,
  })
  expect((await call('GET', '/v1/fleets')).body).toMatchObject({
    fleets: [{ name: 'armada' }],
    pagination: { number: 1, has_next: false },
  })
  expect(await call('DELETE', '/v1/fleet/armada')).toMatchObject({
    status: 200,
    body: { message: 'fleet "armada" deleted' },
  })
  expect((await call('GET', '/v1/fleet/armada')).status).toBe(404)
})

test('a fleet name in use is answered with 400, since the API declares no conflict', async () => {
  await call('POST', '/v1/fleet', { name: 'other' })
  expect((await call('POST', '/v1/fleet', { name: 'fleet' })).status).toBe(400)
  expect((await call('PATCH', '/v1/fleet/other', { name: 'fleet' })).status).toBe(400)
})

test('a version can be linked to a fleet and unlinked, and a second link changes nothing', async () => {
  await call('POST', '/v1/app', { name: 'arena' })
  await call('POST', '/v1/app/arena/version', version)
  const link = '/v1/fleet/fleet/app/arena/version/1.0'
  expect((await call('DELETE', link)).status).toBe(404)
  const linked = await call('PUT', link)
  expect(linked).toMatchObject({ status: 200, body: { app: 'arena', app_version: '1.0', fleet: 'fleet' } })
  expect((await call('PUT', link)).body).toEqual(linked.body)
  expect((await call('DELETE', link)).status).toBe(204)
  expect((await call('GET', '/v1/app/arena/version/1.0')).status).toBe(200)
})

describe('policies of a fleet', () => {
  const policies = '/v1/fleet/fleet/policies'
  const filters = [{ field: 'city', values: ['Paris'], filter_type: 'any' }]

  test('fleet policies are created with their defaults, read, changed and deleted', async () => {
    const created = await call('POST', policies, { name: 'europe', data: { filters } })
    expect(created.body).toMatchObject({
      name: 'europe',
      enabled: true,
      type: 'Location',
      minimum: 0,
      maximum: 10,
      threshold: 1,
      data: { filters },
    })
    expect((await call('GET', `${policies}/europe`)).body).toEqual(created.body)
    expect((await call('PATCH', `${policies}/europe`, { name: 'eu', minimum: 2, enabled: false })).body).toMatchObject({
      name: 'eu',
      minimum: 2,
      maximum: 10,
      enabled: false,
      data: { filters },
    })
    expect(await call('DELETE', `${policies}/eu`)).toMatchObject({
      status: 200,
      body: { message: 'policy "eu" deleted' },
    })
    expect((await call('GET', `${policies}/eu`)).status).toBe(404)
    expect((await call('GET', '/v1/fleet/fleet')).status).toBe(200)
  })

  test('the minimum of a fleet policy is at most its maximum, even after a change', async () => {
    expect(await call('POST', policies, { name: 'p', minimum: 5, maximum: 4 })).toMatchObject({
      status: 400,
      body: { message: 'maximum: must be at least the minimum of 5, not 4' },
    })
    await call('POST', policies, { name: 'p', minimum: 20 })
    expect((await call('GET', `${policies}/p`)).body).toMatchObject({ maximum: 20 })
    expect((await call('PATCH', `${policies}/p`, { maximum: 19 })).status).toBe(400)
    expect((await call('PATCH', `${policies}/p`, { minimum: 5, maximum: 19 })).body).toMatchObject({
      minimum: 5,
      maximum: 19,
    })
  })

  test('fleet policies have unique names in their fleet', async () => {
    await call('POST', policies, { name: 'a' })
    await call('POST', policies, { name: 'b' })
    expect((await call('POST', policies, { name: 'a' })).status).toBe(400)
    expect((await call('PATCH', `${policies}/b`, { name: 'a' })).status).toBe(400)
    await call('POST', '/v1/fleet', { name: 'other' })
    expect((await call('POST', '/v1/fleet/other/policies', { name: 'a' })).status).toBe(200)
  })
})
