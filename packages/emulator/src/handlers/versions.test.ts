import { beforeEach, describe, expect, test } from 'vitest'
import { started, version, type Call } from '../emulator.fixture.js'

const versions = '/v1/app/arena/version'
let call: Call

beforeEach(async () => {
  call = started({
    images: [{ image: 'studio/server', tag: 'v1' }],
    canPull: ({ docker_tag }) => docker_tag !== 'gone',
  }).call
  await call('POST', '/v1/app', { name: 'arena' })
})

test('a version is created with its defaults, and read again', async () => {
  const created = await call('POST', versions, version)
  expect(created).toMatchObject({ status: 200, body: { success: true, version } })
  expect((created.body as { version: unknown }).version).toMatchObject({
    is_active: true,
    max_duration: 1440,
    force_cache: false,
    req_video: 0,
    kind: 0,
    ports: [],
    envs: [],
    command: null,
    will_deploy_in_mainland_china: false,
    create_time: '2026-01-01T00:00:00.000Z',
  })
  expect((await call('GET', `${versions}/1.0`)).body).toEqual((created.body as { version: unknown }).version)
  expect((await call('GET', '/v1/app/arena/versions')).body).toMatchObject({
    total_count: 1,
    versions: [{ name: '1.0' }],
  })
})

test('secrets of a version are accepted, and appear in no answer', async () => {
  const envs = [
    { key: 'OPEN', value: 'shown' },
    { key: 'HIDDEN', value: 'secret-value', is_secret: true },
  ]
  const created = await call('POST', versions, {
    ...version,
    private_username: 'puller',
    private_token: 'secret-token',
    envs,
  })
  expect(created.body).toMatchObject({
    version: {
      private_username: 'puller',
      envs: [
        { key: 'OPEN', value: 'shown', is_secret: false },
        { key: 'HIDDEN', is_secret: true },
      ],
    },
  })
  const answers = [
    created,
    await call('GET', `${versions}/1.0`),
    await call('GET', '/v1/app/arena/versions'),
    await call('PATCH', `${versions}/1.0`, {}),
  ]
  expect(JSON.stringify(answers)).not.toMatch(/secret-(value|token)/)
})

test('version names are unique in an application, and free in another', async () => {
  await call('POST', versions, version)
  await call('POST', versions, { ...version, name: '2.0' })
  expect(await call('POST', versions, version)).toMatchObject({
    status: 409,
    body: { message: 'there is already a version of "arena" named "1.0"' },
  })
  // A name conflict is answered by 400, because the document declares no 409 for the change.
  expect(await call('PATCH', `${versions}/2.0`, { name: '1.0', is_active: false })).toMatchObject({ status: 400 })
  expect((await call('GET', `${versions}/2.0`)).body).toMatchObject({ is_active: true })
  await call('POST', '/v1/app', { name: 'other' })
  expect((await call('POST', '/v1/app/other/version', version)).status).toBe(200)
})

test('a version update changes the named fields, and null resets a command', async () => {
  await call('POST', versions, { ...version, command: 'run', max_duration: 60 })
  expect((await call('PATCH', `${versions}/1.0`, { command: null, is_active: false, name: '1.1' })).body).toMatchObject(
    {
      success: true,
      version: { name: '1.1', command: null, is_active: false, max_duration: 60 },
    },
  )
  expect(await call('PATCH', `${versions}/1.1`, { req_cpu: 2048 })).toMatchObject({
    status: 400,
    body: { message: 'req_cpu: is not a field of the body' },
  })
})

describe('verify_image', () => {
  const own = { ...version, docker_repository: 'registry.emulator.invalid', verify_image: true }

  test("verify_image requires that an image of the service's own registry exists", async () => {
    expect((await call('POST', versions, own)).status).toBe(200)
    expect(await call('POST', versions, { ...own, name: '2.0', docker_tag: 'v2' })).toMatchObject({
      status: 424,
      body: { message: 'the image registry.emulator.invalid/studio/server:v2 cannot be pulled' },
    })
    expect((await call('GET', `${versions}/2.0`)).status).toBe(404)
    expect((await call('POST', versions, { ...own, name: '2.0', docker_tag: 'v2', verify_image: false })).status).toBe(
      200,
    )
  })

  test('verify_image contacts other registries only if an option allows that', async () => {
    expect((await call('POST', versions, { ...version, verify_image: true })).status).toBe(200)
    expect((await call('PATCH', `${versions}/1.0`, { docker_tag: 'gone' })).status).toBe(424)
    expect((await call('GET', `${versions}/1.0`)).body).toMatchObject({ docker_tag: 'v1' })
  })
})

test('the endpoint storage of a version must exist, can be renamed, and is unlinked when deleted', async () => {
  expect(await call('POST', versions, { ...version, endpoint_storage: 'logs' })).toMatchObject({
    status: 404,
    body: { message: 'there is no endpoint storage named "logs"' },
  })
  await call('POST', '/v1/storage/endpoint', {
    name: 'logs',
    access_key_id: 'k',
    secret_access_key: 's',
    endpoint: 'https://s3.example.com',
    bucket: 'b',
  })
  await call('POST', versions, { ...version, endpoint_storage: 'logs' })
  await call('PATCH', '/v1/storage/endpoint/logs', { name: 'renamed' })
  expect((await call('GET', `${versions}/1.0`)).body).toMatchObject({ endpoint_storage: 'renamed' })
  await call('DELETE', '/v1/storage/endpoint/renamed')
  expect((await call('GET', `${versions}/1.0`)).body).not.toHaveProperty('endpoint_storage')
})
