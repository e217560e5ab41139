import { expect, test } from 'vitest'
import { started } from '../emulator.fixture.js'

const tags = '/v1/container-registry/images/studio%2Fserver/tags'
const images = [
  { image: 'studio/server', tag: 'v1', hash: 'sha256:one', sizeMb: 120.5 },
  { image: 'studio/server', tag: 'latest', hash: 'sha256:one', sizeMb: 120.5 },
  { image: 'studio/server', tag: 'v0' },
]

test('a registry image lists its tags, each with the tags that share its artifact', async () => {
  const { call } = started({ images })
  expect((await call('GET', tags)).body).toEqual({
    data: [
      ...['v1', 'latest'].map((tag) => ({
        tag,
        last_push_at: '2026-01-01T00:00:00.000Z',
        artifact: {
          artifact_deleted: false,
          remaining_tags: ['v1', 'latest'],
          image_hash: 'sha256:one',
          size_mb: 120.5,
        },
      })),
      {
        tag: 'v0',
        last_push_at: '2026-01-01T00:00:00.000Z',
        artifact: {
          artifact_deleted: false,
          remaining_tags: ['v0'],
          image_hash: expect.stringMatching(/^sha256:[0-9a-f]{64}$/),
          size_mb: 250,
        },
      },
    ],
  })
})

test('a registry artifact is deleted with the last of its tags', async () => {
  const { call } = started({ images })
  expect(await call('DELETE', `${tags}/v1`)).toMatchObject({
    status: 200,
    body: {
      deleted_tag: 'v1',
      artifact: { artifact_deleted: false, remaining_tags: ['latest'], image_hash: 'sha256:one', size_mb: 120.5 },
    },
  })
  expect((await call('DELETE', `${tags}/latest`)).body).toMatchObject({
    artifact: { artifact_deleted: true, remaining_tags: [] },
  })
  expect(await call('DELETE', `${tags}/latest`)).toMatchObject({
    status: 404,
    body: { message: 'there is no tag of "studio/server" named "latest"' },
  })
  expect((await call('GET', tags)).body).toMatchObject({ data: [{ tag: 'v0' }] })
  await call('DELETE', `${tags}/v0`)
  expect((await call('GET', tags)).body).toEqual({ data: [] })
})
