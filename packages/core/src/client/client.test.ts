import { getEventListeners } from 'node:events'
import { inspect } from 'node:util'
import { describe, expect, test } from 'vitest'
import { operations } from '../api/api.js'
import { catalogue, createClient } from './client.js'
import { answer, deployment, serve, type SeenRequest } from './server.fixture.js'
import { overNetwork, inVirtualTime, ready } from './client.fixture.js'

test('the client has a function for each operation, and `all` where the operation has pages', () => {
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
  test('is sent as the API description says, and resolves to the body of the answer', async () => {
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

  test('follows the settings and the path of the base URL', async () => {
    const server = await serve((_, response) => answer(response, 202, { request_id: 'abc' }))
    const client = createClient({
      baseUrl: `${server.url}/api/`,
      token: 't',
      settings: { createDeploymentPath: '/v2/deployments' },
    })
    await client.deployments.create({
      application: 'a',
      version: '1',
      users: [{ user_type: 'geo_coordinates', user_data: { latitude: 1, longitude: 2 } }],
    })
    expect(server.requests[0]?.url).toBe('/api/v2/deployments')
    await client.close()
  })

  test('of selfStop carries the delete token, and never the account’s', async () => {
    const { server, client } = await overNetwork((_, response) => answer(response, 200, {}))
    await client.deployments.selfStop({ request_id: 'abc', access_point_id: '42', authorization: 'delete-secret' })
    expect(server.requests).toMatchObject([
      { url: '/v1/self/stop/abc/42', headers: { authorization: 'delete-secret' } },
    ])
    expect(JSON.stringify(server.requests)).not.toContain('account-secret')
    await client.close()
  })

  test('calls a token function for every attempt', async () => {
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

  test('with wrong input or options is not sent', async () => {
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

  test('with an aborted signal is not sent', async () => {
    const { client, times } = inVirtualTime(async () => ready())
    await expect(client.deployments.get({ request_id: 'abc' }, { signal: AbortSignal.abort('enough') })).rejects.toBe(
      'enough',
    )
    expect(times).toEqual([])
  })

  test('does not follow a redirect', async () => {
    const elsewhere = await serve((_, response) => answer(response, 200, deployment('abc')))
    const { client } = await overNetwork((_, response) =>
      answer(response, 307, undefined, { location: `${elsewhere.url}/v1/status/abc` }),
    )
    await expect(client.deployments.get({ request_id: 'abc' })).rejects.toMatchObject({
      name: 'UnexpectedResponse',
      status: 307,
      message: expect.stringContaining(elsewhere.url),
    })
    expect(elsewhere.requests).toEqual([])
    await client.close()
  })
})

test('`all` yields the items of all pages', async () => {
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

describe('close', () => {
  test('lets open calls finish, refuses new ones, and ends the connections', async () => {
    const held: (() => void)[] = []
    const { client, server } = await overNetwork((_, response) =>
      held.push(() => answer(response, 200, deployment('abc'))),
    )
    const call = client.deployments.get({ request_id: 'abc' })
    let closed = false
    const closing = client.close().then(() => {
      closed = true
    })
    const refused = await client.deployments.get({ request_id: 'other' }).catch((error: unknown) => error)
    expect(refused).toMatchObject({ name: 'ClientClosed', message: 'deployments.get: the client is closed' })
    await expect(client.locations.list()).rejects.toMatchObject({ name: 'ClientClosed' })
    while (held.length === 0) await new Promise((resolve) => setImmediate(resolve))
    expect(closed).toBe(false)
    held[0]?.()
    expect(await call).toEqual(deployment('abc'))
    await closing
    await client.close()
    expect(server.requests).toHaveLength(1)
  })

  test('lets queued calls finish', async () => {
    const { clock, client, times } = inVirtualTime(async () => ready())
    const calls = Promise.all(
      Array.from({ length: 30 }, (_, index) => client.deployments.get({ request_id: `r${index}` })),
    )
    const closing = client.close()
    await clock.until(calls)
    await closing
    expect(times).toHaveLength(30)
    expect(clock.sleepers).toBe(0)
  })

  test('is what `await using` calls', async () => {
    const { client } = await overNetwork((_, response) => answer(response, 200, deployment('abc')))
    await client.deployments.get({ request_id: 'abc' })
    await client[Symbol.asyncDispose]()
    await expect(client.deployments.get({ request_id: 'abc' })).rejects.toMatchObject({ name: 'ClientClosed' })
  })
})

test('input and options that are not objects are refused with the name of the operation', async () => {
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

test('calls that share a signal add one listener to it, and leave none', async () => {
  const { signal } = new AbortController()
  const { client } = await overNetwork((_, response) => answer(response, 200, deployment('abc')))
  const calls = Array.from({ length: 20 }, (_, index) =>
    client.deployments.stop({ request_id: `r${index}` }, { signal }),
  )
  expect(getEventListeners(signal, 'abort').length).toBeLessThanOrEqual(1)
  await Promise.all(calls)
  expect(getEventListeners(signal, 'abort')).toEqual([])
})

test('a client with listeners is shown as JSON without secrets', async () => {
  const { client, server } = await overNetwork((_, response) => answer(response, 200, deployment('abc')))
  client.events.on('response', () => {})
  expect(JSON.parse(JSON.stringify({ client }))).toEqual({
    client: { service: server.url, queues: JSON.parse(JSON.stringify(client.queues())) },
  })
})

test('no error shows the token, however it is printed', async () => {
  const repeat = ({ headers }: SeenRequest) => ({ message: `rejected ${headers.authorization}`, request_id: 'abc' })
  for (const status of [400, 401, 403, 404, 409, 410, 418, 422, 424, 500, 200]) {
    const { client } = await overNetwork((request, response) => answer(response, status, repeat(request)), {
      retry: { attempts: 1 },
    })
    const error: unknown = await client.deployments.get({ request_id: 'abc' }).catch((reason: unknown) => reason)
    expect(error).toMatchObject({ operation: 'deployments.get', requestId: 'abc', status })
    expect(inspect([error, client], { depth: 12, showHidden: true, getters: true })).not.toContain('account-secret')
    expect(JSON.stringify([error, client])).not.toContain('account-secret')
    await client.close()
  }
})
