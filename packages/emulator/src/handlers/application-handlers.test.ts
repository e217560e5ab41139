import { expect, test } from 'vitest'
import { started, version } from '../emulator.fixture.js'

test('an application is created with its defaults, and read again', async () => {
  const { call } = started()
  const created = await call('POST', '/v1/app', { name: 'arena' })
  expect(created).toMatchObject({
    status: 200,
    body: {
      name: 'arena',
      is_active: true,
      is_telemetry_agent_active: false,
      image: '',
      create_time: '2026-01-01 00:00:00.000000',
      last_updated: '2026-01-01 00:00:00.000000',
    },
  })
  expect((await call('GET', '/v1/app/arena')).body).toEqual(created.body)
  expect((await call('GET', '/v1/apps')).body).toEqual({ applications: [created.body] })
})

test('application names are unique', async () => {
  const { call } = started()
  await call('POST', '/v1/app', { name: 'arena' })
  await call('POST', '/v1/app', { name: 'other' })
  const conflict = { status: 409, body: { message: 'there is already an application named "arena"' } }
  expect(await call('POST', '/v1/app', { name: 'arena' })).toMatchObject(conflict)
  expect(await call('PATCH', '/v1/app/other', { name: 'arena', is_active: false })).toMatchObject(conflict)
  expect((await call('GET', '/v1/app/other')).body).toMatchObject({ is_active: true })
})

test('an application update changes the named fields and last_updated', async () => {
  const { call, clock } = started()
  await call('POST', '/v1/app', { name: 'arena', image: 'aGk=' })
  await clock.advance(1500)
  expect((await call('PATCH', '/v1/app/arena', { is_active: false })).body).toMatchObject({
    is_active: false,
    image: 'aGk=',
    create_time: '2026-01-01 00:00:00.000000',
    last_updated: '2026-01-01 00:00:01.500000',
  })
})

test('renaming an application keeps its versions and every link to them', async () => {
  const { call } = started()
  await call('POST', '/v1/app', { name: 'arena' })
  await call('POST', '/v1/app/arena/version', version)
  await call('POST', '/v1/fleet', { name: 'fleet' })
  await call('PUT', '/v1/fleet/fleet/app/arena/version/1.0')
  await call('PATCH', '/v1/app/arena', { name: 'renamed' })
  expect((await call('GET', '/v1/app/arena')).status).toBe(404)
  expect((await call('GET', '/v1/app/renamed/versions')).body).toMatchObject({
    total_count: 1,
    versions: [{ name: '1.0' }],
  })
  expect((await call('DELETE', '/v1/fleet/fleet/app/renamed/version/1.0')).status).toBe(204)
})

test('deleting an application deletes its versions and their links', async () => {
  const { call, emulator } = started()
  await call('POST', '/v1/app', { name: 'arena' })
  await call('POST', '/v1/app/arena/version', version)
  await call('POST', '/v1/fleet', { name: 'fleet' })
  await call('PUT', '/v1/fleet/fleet/app/arena/version/1.0')
  expect(await call('DELETE', '/v1/app/arena')).toMatchObject({ status: 204, body: undefined })
  expect((await call('GET', '/v1/app/arena/versions')).status).toBe(404)

  await call('POST', '/v1/app', { name: 'arena' })
  expect((await call('GET', '/v1/app/arena/versions')).body).toEqual({ versions: [], total_count: 0 })
  await call('POST', '/v1/app/arena/version', version)
  expect(await call('DELETE', '/v1/fleet/fleet/app/arena/version/1.0')).toMatchObject({
    status: 404,
    body: { message: 'version "1.0" of "arena" is not linked to fleet "fleet"' },
  })
  expect(emulator.inspect().applications).toEqual([{ name: 'arena', versions: ['1.0'] }])
})
