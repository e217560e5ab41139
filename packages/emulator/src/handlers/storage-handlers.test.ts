import { beforeEach, expect, test } from 'vitest'
import { started, version, type Call } from '../emulator.fixture.js'

const storage = {
  name: 'logs',
  access_key_id: 'key',
  secret_access_key: 'hidden-key',
  endpoint: 'https://s3.example.com',
  bucket: 'bucket',
}
const profile = { name: 'maps', source: '/maps', source_type: 'Folder', destination: '/data/maps' }
let call: Call

beforeEach(async () => {
  call = started().call
  await call('POST', '/v1/storage/endpoint', storage)
})

test('a storage is read, changed and deleted, and never shows its secret key', async () => {
  const { secret_access_key: _, ...shown } = storage
  const read = await call('GET', '/v1/storage/endpoint/logs')
  expect(read.body).toEqual({
    ...shown,
    container_log_version: 'v1',
    output_format: 'TEXT',
    create_time: '2026-01-01 00:00:00.000000',
    last_updated: '2026-01-01 00:00:00.000000',
  })
  const changed = await call('PATCH', '/v1/storage/endpoint/logs', {
    output_format: 'NDJSON',
    secret_access_key: 'hidden-key-2',
  })
  expect(changed.body).toMatchObject({ name: 'logs', output_format: 'NDJSON', bucket: 'bucket' })
  expect(JSON.stringify([read, changed, await call('GET', '/v1/storage/endpoints')])).not.toContain('hidden-key')
  expect(await call('DELETE', '/v1/storage/endpoint/logs')).toMatchObject({ status: 204, body: undefined })
  expect((await call('GET', '/v1/storage/endpoint/logs')).status).toBe(404)
})

test('a storage name in use is answered with 400, since the API declares no conflict', async () => {
  await call('POST', '/v1/storage/endpoint', { ...storage, name: 'other' })
  expect(await call('POST', '/v1/storage/endpoint', storage)).toMatchObject({
    status: 400,
    body: { message: expect.stringMatching(/^name: /) },
  })
  expect((await call('PATCH', '/v1/storage/endpoint/other', { name: 'logs' })).status).toBe(400)
})

test('storages are listed in pages, and with a mask', async () => {
  await call('POST', '/v1/storage/endpoint', { ...storage, name: 'other' })
  expect((await call('GET', '/v1/storage/endpoints?limit=1&page=2')).body).toMatchObject({
    endpoints: [{ name: 'other', bucket: 'bucket' }],
    pagination: { number: 2, has_previous: true, has_next: false, paginator: { num_pages: 2 } },
  })
  expect((await call('GET', '/v1/storage/endpoints', undefined, { 'x-fields': 'endpoints{name}' })).body).toEqual({
    endpoints: [{ name: 'logs' }, { name: 'other' }],
  })
  expect(await call('GET', '/v1/storage/endpoints', undefined, { 'x-fields': 'endpoints{name' })).toMatchObject({
    status: 400,
    body: { message: 'X-Fields: the brace after endpoints is not closed' },
  })
})

test('a pull profile is created, read, changed, listed and deleted', async () => {
  const profiles = '/v1/storage/endpoint/logs/pull-profile'
  const created = await call('POST', profiles, profile)
  expect(created).toMatchObject({ status: 200, body: profile })
  expect((await call('GET', `${profiles}/maps`)).body).toEqual(created.body)
  expect((await call('PATCH', `${profiles}/maps`, { name: 'levels', source_type: 'File' })).body).toMatchObject({
    ...profile,
    name: 'levels',
    source_type: 'File',
  })
  expect((await call('GET', `${profiles}s`)).body).toMatchObject({
    total_count: 1,
    pull_profiles: [{ name: 'levels' }],
    pagination: { number: 1 },
  })
  expect((await call('POST', profiles, { ...profile, name: 'levels' })).status).toBe(400)
  expect(await call('POST', profiles, { ...profile, name: 'bad', destination: '/data/../etc/x' })).toMatchObject({
    status: 400,
    body: { message: expect.stringMatching(/^destination: must not be in a protected location/) },
  })
  expect((await call('DELETE', `${profiles}/levels`)).status).toBe(204)
  expect((await call('GET', `${profiles}/levels`)).status).toBe(404)
})

test('a pull profile linked to a version stays linked when it is renamed', async () => {
  await call('POST', '/v1/app', { name: 'arena' })
  await call('POST', '/v1/app/arena/version', version)
  await call('POST', '/v1/storage/endpoint/logs/pull-profile', profile)
  const link = (name: string) => `/v1/storage/endpoint/logs/pull-profile/maps/app/arena/version/${name}`
  expect(await call('DELETE', link('1.0'))).toMatchObject({
    status: 404,
    body: { message: 'version "1.0" of "arena" is not linked to pull profile "maps"' },
  })
  expect(await call('PUT', link('1.0'))).toMatchObject({
    status: 200,
    body: {
      app: 'arena',
      app_version: '1.0',
      endpoint: 'logs',
      pull_profile: 'maps',
      create_time: '2026-01-01 00:00:00.000000',
    },
  })
  await call('PATCH', '/v1/app/arena/version/1.0', { name: '1.1' })
  expect((await call('DELETE', link('1.1'))).status).toBe(204)
  expect((await call('DELETE', link('1.1'))).status).toBe(404)
})
