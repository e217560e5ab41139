import { getEventListeners } from 'node:events'
import { inspect } from 'node:util'
import { describe, expect, test } from 'vitest'
import { operations } from '../api/api.js'
import { createManualClock } from '../manual-clock.js'
import { seededRandom } from '../random.js'
import { catalogue } from './catalogue.js'
import { createClient } from './client.js'
import type { RequestEvent, ResponseEvent, RetryEvent, ThrottledEvent } from './events.js'
import { inProcess } from './in-process.js'
import type { ClientOptions } from './options.js'
import { answer, deployment, serve, type SeenRequest } from './server.fixture.js'

/** A client of a real server on loopback. */
async function overNetwork(handler: Parameters<typeof serve>[0], options: Partial<ClientOptions> = {}) {
  const server = await serve(handler)
  return {
    server,
    client: createClient({ baseUrl: server.url, token: 'account-secret', random: seededRandom(1), ...options }),
  }
}

/** A client in virtual time, of a function. */
function inVirtualTime(
  handle: (request: Request, nth: number) => Promise<Response>,
  options: Partial<ClientOptions> = {},
) {
  const clock = createManualClock({ start: 0 })
  const times: number[] = []
  const dispatcher = inProcess((request) => {
    times.push(clock.now())
    return handle(request, times.length)
  })
  const client = createClient({
    baseUrl: 'http://service.invalid',
    token: 'account-secret',
    clock,
    random: seededRandom(1),
    dispatcher,
    ...options,
  })
  return { clock, client, times }
}

const ready = (id = 'abc') => Response.json(deployment(id))
const later = (seconds: number | string = '') =>
  new Response('', { status: 429, headers: seconds === '' ? {} : { 'retry-after': `${seconds}` } })

test('has a function for each operation, and one for all pages where there are pages', () => {
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
  test('is sent as the description says, and its answer is the body', async () => {
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

  test('asks a token function for every attempt', async () => {
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

  test('with a signal that is aborted already is not sent', async () => {
    const { client, times } = inVirtualTime(async () => ready())
    await expect(client.deployments.get({ request_id: 'abc' }, { signal: AbortSignal.abort('enough') })).rejects.toBe(
      'enough',
    )
    expect(times).toEqual([])
  })

  test('does not follow a redirect, with the token or without', async () => {
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

describe('rate limits', () => {
  test('are kept by waiting: 45 creates take more than a second, 45 reads of fleets none', async () => {
    const { clock, client, times } = inVirtualTime(async ({ url }) =>
      url.includes('status') ? ready() : Response.json({ fleets: [] }),
    )
    const reads = Array.from({ length: 45 }, (_, index) => client.deployments.get({ request_id: `r${index}` }))
    await clock.until(Promise.all(reads))
    for (const at of times)
      expect(times.filter((other) => other > at - 1000 && other <= at).length).toBeLessThanOrEqual(20)
    const began = clock.now()
    await clock.until(Promise.all(Array.from({ length: 45 }, (_, page) => client.fleets.list({ page: page + 1 }))))
    expect(clock.now() - began).toBeLessThan(100)
  })

  test('a share takes its part of them, and one that leaves nothing is refused', async () => {
    const { clock, client, times } = inVirtualTime(async () => ready(), { share: 0.25 })
    await clock.until(
      Promise.all(Array.from({ length: 11 }, (_, index) => client.deployments.get({ request_id: `r${index}` }))),
    )
    expect(times[10]).toBeGreaterThanOrEqual(2000)
    expect(() => inVirtualTime(async () => ready(), { share: 0.05 })).toThrow(
      expect.objectContaining({ name: 'InvalidInput', message: expect.stringContaining('share') }),
    )
  })

  test('a higher priority that comes late is served first', async () => {
    const { clock, client } = inVirtualTime(async () => ready())
    const order: string[] = []
    const get = (id: string, priority: number) =>
      client.deployments.get({ request_id: id }, { priority }).then(() => order.push(id))
    const all = Array.from({ length: 25 }, (_, index) => get(`low${index}`, 0))
    await clock.advance(100)
    all.push(get('high', 5))
    await clock.until(Promise.all(all))
    expect(order.indexOf('high')).toBe(20)
  })

  test('a limiter may be injected', async () => {
    const names: string[] = []
    const limiter = ({ name }: { readonly name: string }) => {
      names.push(name)
      return {
        reserve: () => ({ written: () => {}, answered: () => {}, release: () => {} }),
        throttled: () => {},
        inspect: () => ({ tokens: 1, rate: 1 }),
      }
    }
    const { clock, client } = inVirtualTime(async () => ready(), { limiter })
    await clock.until(client.deployments.get({ request_id: 'abc' }))
    expect(names.toSorted()).toEqual(['createDeployment', 'legacyDeploy', 'listDeployments', 'status'])
    expect(Object.keys(client.queues()).toSorted()).toEqual([...names, 'other', 'other changes'].toSorted())
  })
})

describe('429', () => {
  test.each([
    ['2', 2000],
    ['', 1000],
  ])('pauses the whole queue (Retry-After %j), loses no call, and counts for no retry', async (seconds, pause) => {
    const { clock, client, times } = inVirtualTime(async (_, nth) => (nth <= 3 ? later(seconds) : ready()), {
      retry: { attempts: 1 },
    })
    const throttled: ThrottledEvent[] = []
    client.events.on('throttled', (event) => throttled.push(event))
    const calls = [
      client.deployments.get({ request_id: 'a' }),
      client.deployments.get({ request_id: 'b' }),
      client.deployments.get({ request_id: 'c' }),
    ]
    expect(await clock.until(Promise.all(calls))).toHaveLength(3)
    expect(throttled).toHaveLength(3)
    expect(throttled[0]).toMatchObject({
      operation: 'deployments.get',
      requestId: 'a',
      limit: 'status',
      pauseMs: pause,
      attempt: 1,
    })
    expect(times.slice(3).every((at) => at >= pause)).toBe(true)
  })

  test('does not pause other queues', async () => {
    const { clock, client } = inVirtualTime(async ({ url }) =>
      url.includes('status') ? later('5') : Response.json({ fleets: [] }),
    )
    client.deployments.get({ request_id: 'a' }).catch(() => {})
    await clock.advance(10)
    await clock.until(client.fleets.list())
    expect(clock.now()).toBeLessThan(1000)
  })

  test('that outlasts the deadline is told at once', async () => {
    const { clock, client } = inVirtualTime(async () => later('3600'))
    await expect(clock.until(client.deployments.get({ request_id: 'a' }, { timeoutMs: 5000 }))).rejects.toMatchObject({
      name: 'RateLimited',
      retryAfterMs: 3_600_000,
    })
    expect(clock.now()).toBeLessThan(100)
  })

  test('that never ends, ends with the deadline', async () => {
    const { clock, client, times } = inVirtualTime(async () => later('0'))
    const error: unknown = await clock
      .until(client.fleets.get({ fleet_name: 'f' }, { timeoutMs: 20_000 }))
      .catch((reason: unknown) => reason)
    expect(error).toMatchObject({ name: expect.stringMatching(/^(TimedOut|RateLimited)$/), operation: 'fleets.get' })
    expect(clock.now()).toBeLessThanOrEqual(20_000)
    expect(times.length).toBeLessThan(100)
  })
})

describe('deadlines', () => {
  test('cover the queue', async () => {
    const { clock, client } = inVirtualTime(async () => ready())
    const calls = Array.from({ length: 60 }, (_, index) =>
      client.deployments.get({ request_id: `r${index}` }, { timeoutMs: 1500 }),
    )
    const results = await clock.until(Promise.allSettled(calls))
    const late = results.flatMap((result) => (result.status === 'rejected' ? [result.reason as unknown] : []))
    expect(late).toHaveLength(20)
    expect(late[0]).toMatchObject({
      name: 'TimedOut',
      sent: false,
      queuedMs: 1500,
      inFlightMs: 0,
      retryWaitMs: 0,
      timeoutMs: 1500,
    })
    expect(client.queues()['status']?.queued).toBe(0)
  })

  test('cover the wait for an answer, and say that it was sent', async () => {
    const { clock, client } = inVirtualTime(() => new Promise(() => {}))
    const call = client.fleets.create({ name: 'f' }, { timeoutMs: 700 })
    await expect(clock.until(call)).rejects.toMatchObject({
      name: 'TimedOut',
      sent: true,
      inFlightMs: 700,
      queuedMs: 0,
    })
    expect(client.queues()['other']?.inFlight).toBe(0)
  })

  test('cover a token function that hangs, and nothing was sent', async () => {
    const { clock, client, times } = inVirtualTime(async () => ready(), { token: () => new Promise(() => {}) })
    await expect(clock.until(client.deployments.get({ request_id: 'a' }, { timeoutMs: 700 }))).rejects.toMatchObject({
      name: 'TimedOut',
      sent: false,
    })
    expect(client.queues()['status']?.inFlight).toBe(0)
    expect(times).toEqual([])
  })

  test('an abort ends the call at once in every wait, with its reason, and frees its place', async () => {
    for (const hang of [later('30'), new Response('', { status: 503, headers: { 'retry-after': '20' } }), undefined]) {
      const { clock, client } = inVirtualTime(async () => hang?.clone() ?? (await new Promise<Response>(() => {})))
      const controller = new AbortController()
      const call = client.deployments.get({ request_id: 'a' }, { signal: controller.signal, timeoutMs: 60_000 })
      call.catch(() => {})
      await clock.advance(100)
      controller.abort('enough')
      await expect(call).rejects.toBe('enough')
      await clock.advance(0)
      expect(client.queues()['status']).toMatchObject({ queued: 0, inFlight: 0 })
    }
  })
})

describe('answers that are kept', () => {
  const locations = (request: Request) =>
    Response.json({ locations: [{ city: new URL(request.url).search, host: '192.0.2.1', location: {} }], count: 1 })

  test('locations and beacons are asked for once in five minutes, for each question', async () => {
    const { clock, client, times } = inVirtualTime(async (request) => locations(request))
    const first = await client.locations.list({ tags: true })
    expect(await client.locations.list({ tags: true })).toBe(first)
    expect(Object.isFrozen(first.locations[0])).toBe(true)
    await client.locations.list()
    await client.locations.beacons()
    await client.locations.beacons()
    expect(times).toHaveLength(3)
    await clock.advance(300_001)
    expect(await client.locations.list({ tags: true })).toEqual(first)
    expect(times).toHaveLength(4)
  })

  test('those chosen by capacity are not kept, nor any if so wished, nor failures', async () => {
    const { client, times } = inVirtualTime(async (request) => locations(request))
    for (let time = 0; time < 2; time += 1) await client.locations.list({ app: 'a', version: 'v' })
    expect(times).toHaveLength(2)
    const forgetful = inVirtualTime(async (request) => locations(request), { cacheTtlMs: 0 })
    for (let time = 0; time < 2; time += 1) await forgetful.client.locations.list()
    expect(forgetful.times).toHaveLength(2)
    const failing = inVirtualTime(async (request, nth) =>
      nth === 1 ? new Response('', { status: 400 }) : locations(request),
    )
    await expect(failing.client.locations.list()).rejects.toThrow()
    await failing.client.locations.list()
  })
})

test('all pages come one by one', async () => {
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

test('waitUntilReady reads until it is', async () => {
  const { clock, client, times } = inVirtualTime(async (_, nth) =>
    Response.json(deployment('abc', nth < 4 ? 'DEPLOYING' : 'READY')),
  )
  expect(await clock.until(client.deployments.waitUntilReady('abc'))).toMatchObject(deployment('abc'))
  expect(times).toHaveLength(4)
})

describe('events', () => {
  test('tell of requests, answers and retries, without anything secret', async () => {
    const seen: [name: string, event: RequestEvent | ResponseEvent | RetryEvent][] = []
    const { clock, client } = inVirtualTime(async (_, nth) => {
      if (nth === 1) throw new Error('reset')
      await clock.sleep(40)
      return nth === 2 ? new Response('', { status: 500 }) : Response.json({ request_id: 'abc', message: 'ok' })
    })
    for (const name of ['request', 'response', 'retry'] as const)
      client.events.on(name, (event: RequestEvent | ResponseEvent | RetryEvent) => seen.push([name, event]))
    await clock.until(
      client.deployments.selfStop({ request_id: 'abc', access_point_id: '42', authorization: 'delete-secret' }),
    )
    expect(seen.map(([name]) => name)).toEqual([
      'request',
      'response',
      'retry',
      'request',
      'response',
      'retry',
      'request',
      'response',
    ])
    const [call] = new Set(seen.map(([, event]) => event.call))
    const about = { operation: 'deployments.selfStop', call, requestId: 'abc' }
    const route = { method: 'DELETE', path: '/v1/self/stop/{request_id}/{access_point_id}' }
    expect(seen[0]?.[1]).toEqual({ ...about, ...route, attempt: 1, priority: 0, queuedMs: 0 })
    expect(seen[1]?.[1]).toEqual({
      ...about,
      ...route,
      attempt: 1,
      status: undefined,
      error: 'ConnectionLost',
      durationMs: 0,
      bytes: 0,
    })
    expect(seen[2]?.[1]).toEqual({ ...about, attempt: 1, delayMs: expect.any(Number), error: 'ConnectionLost' })
    expect(seen[4]?.[1]).toMatchObject({ attempt: 2, status: 500, durationMs: 40 })
    expect(seen[7]?.[1]).toMatchObject({ attempt: 3, status: 200, durationMs: 40, bytes: 35 })
    expect(JSON.stringify(seen)).not.toMatch(/secret|"42"|stop\/abc/)
  })

  test('a listener that throws breaks nothing', async () => {
    const warned = new Promise<Error>((resolve) => {
      process.once('warning', resolve)
    })
    const { client } = inVirtualTime(async () => ready())
    client.events.on('request', () => {
      throw new Error('listener')
    })
    client.events.on('response', () => {
      throw new Error('listener')
    })
    for (let time = 0; time < 3; time += 1)
      expect(await client.deployments.get({ request_id: 'abc' })).toEqual(deployment('abc'))
    expect(await warned).toMatchObject({
      name: 'MusterWarning',
      message: "a listener of the event 'request' threw: Error: listener",
    })
  })

  test('calls of different clients in a process are told apart', async () => {
    const calls = new Set<string>()
    for (const seed of [1, 2]) {
      const { client } = inVirtualTime(async () => ready(), { random: seededRandom(seed) })
      client.events.on('request', ({ call }) => calls.add(call))
      await client.deployments.get({ request_id: 'a' })
      await client.deployments.get({ request_id: 'b' })
    }
    expect(calls.size).toBe(4)
  })
})

describe('close', () => {
  test('finishes what was asked, refuses what comes after, and ends the connections', async () => {
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

  test('finishes what waits in a queue, too', async () => {
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

  test('is what `await using` does', async () => {
    const { client } = await overNetwork((_, response) => answer(response, 200, deployment('abc')))
    await client.deployments.get({ request_id: 'abc' })
    await client[Symbol.asyncDispose]()
    await expect(client.deployments.get({ request_id: 'abc' })).rejects.toMatchObject({ name: 'ClientClosed' })
  })
})

test('what is no input and what are no options are refused by name', async () => {
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

test('many calls may share a signal: it gets one listener, and none is left', async () => {
  const { signal } = new AbortController()
  const { client } = await overNetwork((_, response) => answer(response, 200, deployment('abc')))
  const calls = Array.from({ length: 20 }, (_, index) =>
    client.deployments.stop({ request_id: `r${index}` }, { signal }),
  )
  expect(getEventListeners(signal, 'abort').length).toBeLessThanOrEqual(1)
  await Promise.all(calls)
  expect(getEventListeners(signal, 'abort')).toEqual([])
})

test('a client that others listen to is shown as JSON without secrets', async () => {
  const { client, server } = await overNetwork((_, response) => answer(response, 200, deployment('abc')))
  client.events.on('response', () => {})
  expect(JSON.parse(JSON.stringify({ client }))).toEqual({
    client: { service: server.url, queues: JSON.parse(JSON.stringify(client.queues())) },
  })
})

test('the token is in no error, however it is looked at', async () => {
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
