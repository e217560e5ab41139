import { beforeEach, expect, test } from 'vitest'
import { studio } from '../deployments/studio.fixture.js'

let made: Awaited<ReturnType<typeof studio>>
let id: string
let tags: string

beforeEach(async () => {
  made = await studio()
  id = await made.deploy({ tags: ['red'] })
  tags = `/v1/deployments/${id}/tags`
})

test('deployment tags are added, read, renamed and removed', async () => {
  const { call, clock } = made
  await clock.advance(1000)
  const created = await call('POST', tags, { name: 'blue/1' })
  expect(created).toMatchObject({
    status: 200,
    body: { name: 'blue/1', create_time: '2026-01-01 00:00:01.000000', last_updated: '2026-01-01 00:00:01.000000' },
  })
  expect((await call('GET', `${tags}/blue%2F1`)).body).toEqual(created.body)
  await clock.advance(1000)
  expect(await call('PATCH', `${tags}/blue%2F1`, { name: 'green' })).toMatchObject({
    status: 200,
    body: { name: 'green', create_time: '2026-01-01 00:00:01.000000', last_updated: '2026-01-01 00:00:02.000000' },
  })
  expect((await call('GET', tags)).body).toMatchObject({
    tags: [{ name: 'red', create_time: '2026-01-01 00:00:00.000000' }, { name: 'green' }],
    count: 2,
    pagination: { number: 1, has_next: false, paginator: { num_pages: 1 } },
  })
  expect((await call('DELETE', `${tags}/red`)).status).toBe(204)
  expect((await call('GET', `${tags}/red`)).status).toBe(404)
})

test('deployment tags are shown in the status and the list, but not in the running container', async () => {
  const { call, emulator, listedIds, status } = made
  await call('POST', tags, { name: 'blue' })
  await call('DELETE', `${tags}/red`)
  expect(await status(id)).toMatchObject({ tags: ['blue'] })
  const tagged = (value: string) => listedIds({ filters: [{ field: 'tags', operator: 'eq', value }] })
  expect([await tagged('blue'), await tagged('red')]).toEqual([[id], []])
  expect(emulator.environment(id)).toMatchObject({ SERVICE_DEPLOYMENT_TAGS: 'red' })
})

test('tag names are unique in a deployment', async () => {
  const { call, deploy } = made
  expect(await call('POST', tags, { name: 'red' })).toMatchObject({
    status: 409,
    body: { message: 'the deployment is already tagged "red"' },
  })
  await call('POST', tags, { name: 'blue' })
  expect((await call('PATCH', `${tags}/blue`, { name: 'red' })).status).toBe(409)
  expect((await call('PATCH', `${tags}/blue`, { name: 'blue' })).status).toBe(200)
  expect((await call('POST', `/v1/deployments/${await deploy()}/tags`, { name: 'red' })).status).toBe(200)
})

test('a deployment without tags has an empty tag list', async () => {
  const { call } = made
  await call('DELETE', `${tags}/red`)
  expect((await call('GET', tags)).body).toMatchObject({
    tags: [],
    count: 0,
    pagination: { paginator: { num_pages: 1 } },
  })
})
