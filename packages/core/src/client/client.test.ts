import { getEventListeners } from 'node:events'
import { inspect } from 'node:util'
import { describe, expect, test } from 'vitest'
import { operations } from '../api/api.js'
import { catalogue } from './client.js'
import { answer, deployment } from './server.fixture.js'
import { overNetwork, inVirtualTime, ready } from './client.fixture.js'

test('the client has a function for each operation, and `all` for each operation with pages', () => {
  const { client } = inVirtualTime(async () => ready())
  expect(
    Object.entries(catalogue)
      .flatMap(([group, names]) => Object.keys(names).map((name) => `${group}.${name}`))
      .toSorted(),
  ).toEqual(operations.map(([id]) => id).toSorted())
  expect(operations).toHaveLength(58)
  for (const [id, { items }] of operations) {
    const [group, name] = id.split('.') as [keyof typeof client, never]
    expect([id, typeof client[group][name]]).toEqual([id, 'function'])
    expect([id, 'all' in client[group][name]]).toEqual([id, items !== undefined])
  }
})

describe('a call', () => {
  test('a call is sent as the API description says, and resolves to the body of the answer', async () => {
    const { server, client } = await overNetwork((_, response) =>
      answer(response, 202, { request_id: 'abc', extra: [1] }),
    )
    const input = {
      application: 'arena',
      version: '1',
      users: [{ user_type: 'geo_coordinates', user_data: { latitude: 1, longitude: 2 } }],
    } as const
    expect(await client.deployments.create(input)).toEqual({ request_id: 'abc', extra: [1] })
    expect(server.requests).toMatchObject([
      {
        method: 'POST',
        url: '/deployments',
        body: JSON.stringify(input),
        headers: {
          authorization: 'token account-secret',
          accept: 'application/json',
          'content-type': 'application/json',
          'user-agent': 'muster',
        },
      },
    ])
    await client.close()
  })

  test('a token function is evaluated for every attempt of a call', async () => {
    let asked = 0
    const token = async () => `secret-${(asked += 1)}`
    const { server, client } = await overNetwork(
      (_, response, nth) => answer(response, nth === 1 ? 500 : 200, deployment('abc')),
      { token, random: () => 0 },
    )
    await client.deployments.get({ request_id: 'abc' })
    expect(server.requests.map(({ headers }) => headers.authorization)).toEqual(['token secret-1', 'token secret-2'])
    await client.close()
  })

  test('a call with invalid input or options fails before anything is sent', async () => {
    const { client, times } = inVirtualTime(async () => ready())
    await expect(client.deployments.get({ request_id: '' })).rejects.toMatchObject({
      name: 'InvalidInput',
      field: 'request_id',
    })
    await expect(client.deployments.get({ request_id: '..' })).rejects.toMatchObject({
      name: 'InvalidInput',
      field: 'request_id',
    })
    await expect(client.fleets.list({}, { timeoutMs: -1 })).rejects.toMatchObject({
      field: 'timeoutMs',
      message: 'fleets.list: option timeoutMs must be a positive number of milliseconds, got -1',
    })
    await expect(client.fleets.list({}, { priority: 0.5 })).rejects.toMatchObject({ field: 'priority' })
    await expect(client.fleets.list({}, { signal: {} as AbortSignal })).rejects.toMatchObject({ field: 'signal' })
    expect(times).toEqual([])
  })

  test('a call whose signal is already aborted is not sent', async () => {
    const { client, times } = inVirtualTime(async () => ready())
    await expect(client.deployments.get({ request_id: 'abc' }, { signal: AbortSignal.abort('enough') })).rejects.toBe(
      'enough',
    )
    expect(times).toEqual([])
  })
})

test('`all` yields the items of all pages of a list', async () => {
  const { client, times } = inVirtualTime(async ({ url }) => {
    const page = Number(new URL(url).searchParams.get('page'))
    return Response.json({
      fleets: [{ name: `f${page}` }],
      pagination: { has_next: page < 3, next_page_number: page + 1 },
    })
  })
  const names: string[] = []
  for await (const { name } of client.fleets.list.all()) names.push(name)
  expect(names).toEqual(['f1', 'f2', 'f3'])
  expect(times).toHaveLength(3)
})

test('waitUntilReady reads the status until it is READY', async () => {
  const { clock, client, times } = inVirtualTime(async (_, nth) =>
    Response.json(deployment('abc', nth < 4 ? 'DEPLOYING' : 'READY')),
  )
  expect(await clock.until(client.deployments.waitUntilReady('abc'))).toMatchObject(deployment('abc'))
  expect(times).toHaveLength(4)
})

test('input and options of a call that are not objects are refused with the name of the operation', async () => {
  const { client } = await overNetwork((_, response) => answer(response, 200, deployment('abc')))
  type Loose = ((...given: readonly unknown[]) => Promise<unknown>) & {
    readonly all: (...given: readonly unknown[]) => AsyncGenerator
  }
  const { get, list } = client.deployments as unknown as Readonly<Record<string, Loose>>
  await expect(get?.(null)).rejects.toMatchObject({
    name: 'InvalidInput',
    operation: 'deployments.get',
    message: 'deployments.get: input: must be an object, got null',
  })
  await expect(get?.({ request_id: 'a' }, null)).rejects.toMatchObject({
    name: 'InvalidInput',
    operation: 'deployments.get',
  })
  await expect(get?.({ request_id: '..' })).rejects.toMatchObject({
    name: 'InvalidInput',
    operation: 'deployments.get',
    field: 'request_id',
  })
  await expect(list?.all(null).next()).rejects.toMatchObject({ name: 'InvalidInput', operation: 'deployments.list' })
  await expect(list?.all('x').next()).rejects.toMatchObject({ name: 'InvalidInput', operation: 'deployments.list' })
  await expect(list?.all({}, 5).next()).rejects.toMatchObject({ name: 'InvalidInput', operation: 'deployments.list' })
})

test('calls that share an AbortSignal add one listener to it, and remove it', async () => {
  const { signal } = new AbortController()
  const listening: number[] = []
  const { client } = await overNetwork((_, response) => {
    listening.push(getEventListeners(signal, 'abort').length)
    answer(response, 200, deployment('abc'))
  })
  await Promise.all(
    Array.from({ length: 20 }, (_, index) => client.deployments.stop({ request_id: `r${index}` }, { signal })),
  )
  expect(listening).toEqual(Array(20).fill(1))
  expect(getEventListeners(signal, 'abort')).toEqual([])
})

test('a client with listeners shows no secret as JSON or in util.inspect', async () => {
  const { client, server } = await overNetwork((_, response) => answer(response, 200, deployment('abc')))
  client.events.on('response', () => {})
  expect(JSON.parse(JSON.stringify({ client }))).toEqual({
    client: { service: server.url, queues: JSON.parse(JSON.stringify(client.queues())) },
  })
  expect(inspect(client, { depth: 12, showHidden: true, getters: true })).not.toContain('account-secret')
})
