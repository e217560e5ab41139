import { beforeAll, describe, expect, test } from 'vitest'
import { createManualClock } from '../time.js'
import type { Client } from './client-types.js'
import { clientOf } from './client.fixture.js'
import { loadDescription } from './call.js'
import type { PacedEvent } from './call-events.js'
import { inProcess } from './transport.js'
import type { ClientOptions } from './config.js'

beforeAll(loadDescription)

/**
 * A client, and the times and paths of the requests that arrived. `delay` is the network time of the nth request in
 * milliseconds.
 */
function setUp(options: Partial<ClientOptions> = {}, delay = (_nth: number) => 0) {
  const clock = createManualClock()
  const began = clock.now()
  const arrivals: { readonly at: number; readonly path: string }[] = []
  let sent = 0
  const dispatcher = inProcess(async ({ url }) => {
    const way = delay(sent++)
    if (way > 0) await clock.sleep(way)
    const path = url.slice('http://service.invalid'.length)
    arrivals.push({ at: clock.now() - began, path })
    if (path === '/v1/status/refused' && arrivals.filter((one) => one.path === path).length === 1) {
      return Response.json({}, { status: 429, headers: { 'retry-after': '5' } })
    }
    return Response.json({
      request_id: 'abc',
      current_status: 'Status.READY',
      data: [],
      applications: [],
      locations: [],
      name: 'game',
    })
  })
  const client = clientOf({ clock, dispatcher, ...options })
  const times = (path = '') => arrivals.filter((one) => one.path.startsWith(path)).map((one) => one.at)
  return { client, clock, arrivals, times }
}

const users = [{ user_type: 'geo_coordinates', user_data: { latitude: 1, longitude: 2 } }] as const
const create = (client: Client) => client.deployments.create({ application: 'game', version: '1', users })
const repeat = <T>(count: number, call: (nth: number) => Promise<T>) =>
  Array.from({ length: count }, (_, nth) => call(nth))

/** The largest number of arrivals in any second. */
function busiest(times: readonly number[]): number {
  const sorted = times.toSorted((a, b) => a - b)
  return Math.max(0, ...sorted.map((from) => sorted.filter((at) => at >= from && at < from + 1000).length))
}

const limited = [
  ['createDeployment', '/deployments', 40, create],
  ['status', '/v1/status/', 20, (client, nth) => client.deployments.get({ request_id: `id${nth}` })],
  ['listDeployments', '/v1/deployments', 10, (client, nth) => client.deployments.list({ page: nth + 1 })],
  [
    'legacyDeploy',
    '/v1/deploy',
    40,
    (client) => client.deployments.deployLegacy({ app_name: 'game', ip_list: ['203.0.113.9'] }),
  ],
] as const satisfies readonly (readonly [string, string, number, (client: Client, nth: number) => Promise<unknown>])[]
const isAt = (path: string) => (one: { readonly path: string }) =>
  path.endsWith('/') ? one.path.startsWith(path) : one.path.split('?')[0] === path

describe('documented limits', () => {
  test.each(limited)(
    'the documented limit %s on %s is never exceeded and is fully used',
    async (_, path, limit, call) => {
      const { client, clock, arrivals } = setUp()
      await clock.until(Promise.all(repeat<unknown>(Math.ceil(2.5 * limit), (nth) => call(client, nth))))
      const times = arrivals.filter(isAt(path)).map((one) => one.at)
      expect(times).toHaveLength(Math.ceil(2.5 * limit))
      expect(busiest(times)).toBe(limit)
      expect(Math.max(...times)).toBeGreaterThanOrEqual(1500)
      expect(Math.max(...times)).toBeLessThan(2500)
    },
  )

  test.each(limited)(
    'the documented limit %s on %s is never exceeded on a network that takes 5 to 50 ms',
    async (_, path, limit, call) => {
      const { client, clock, arrivals } = setUp({}, (nth) => 5 + ((nth * 17) % 46))
      await clock.until(Promise.all(repeat<unknown>(4 * limit, (nth) => call(client, nth))))
      expect(busiest(arrivals.filter(isAt(path)).map((one) => one.at))).toBeLessThanOrEqual(limit)
      expect(arrivals).toHaveLength(4 * limit)
    },
  )

  test('each documented limit has its own queue, so calls of other operations do not wait', async () => {
    const { client, clock, arrivals } = setUp()
    const calls = [
      ...limited.flatMap(([, , limit, call]) => repeat<unknown>(limit + 5, (nth) => call(client, nth))),
      ...repeat(200, (nth) => client.applications.get({ app_name: `app${nth}` })),
    ]
    await clock.advance(0)
    const atOnce = (path: string) => arrivals.filter(isAt(path)).filter((one) => one.at === 0).length
    expect(limited.map(([, path]) => atOnce(path))).toEqual([40, 20, 10, 40])
    expect(atOnce('/v1/app/')).toBe(200)
    const waiting = Object.entries(client.queues()).map(([name, { queued }]) => [name, queued])
    expect(Object.fromEntries(waiting)).toEqual({
      createDeployment: 5,
      status: 5,
      listDeployments: 5,
      legacyDeploy: 5,
      other: 0,
      'other changes': 0,
    })
    await clock.until(Promise.all(calls))
  })

  test('documented limits are almost fully used once answers are known to be slow', async () => {
    const clock = createManualClock()
    const began = clock.now()
    const arrivals: number[] = []
    const dispatcher = inProcess(async () => {
      arrivals.push(clock.now() - began)
      await clock.sleep(1000)
      return Response.json({ request_id: 'abc' })
    })
    const client = clientOf({ timeoutMs: 120_000, clock, dispatcher })
    const paced: PacedEvent[] = []
    client.events.on('paced', (event) => paced.push(event))
    expect(client.queues()['createDeployment']?.countedWithinMs).toBe(Number.POSITIVE_INFINITY)
    await clock.until(Promise.all(repeat(1600, () => create(client))), 5)
    expect(busiest(arrivals)).toBe(40)
    expect(arrivals.filter((at) => at < 6000).length).toBeLessThanOrEqual(120)
    expect(arrivals.filter((at) => at >= 37_000 && at < 47_000).length).toBeGreaterThanOrEqual(360)
    const limit = 'createDeployment'
    expect(paced).toEqual([
      { limit, countedWithinMs: 250, because: 'slow answers' },
      { limit, countedWithinMs: 125, because: 'steady' },
      { limit, countedWithinMs: 62.5, because: 'steady' },
      { limit, countedWithinMs: 50, because: 'steady' },
    ])
    expect(client.queues()['createDeployment']?.countedWithinMs).toBe(50)
  })

  test('slow reads without a rate limit delay neither writes nor rate-limited calls', async () => {
    const clock = createManualClock()
    const dispatcher = inProcess(async ({ method, url }) => {
      if (method === 'GET' && url.includes('container-logs')) await clock.sleep(5000)
      return Response.json({ request_id: 'abc', logs: '' })
    })
    const client = clientOf({ clock, dispatcher })
    const began = clock.now()
    const slow = repeat(600, (nth) => client.deployments.logs({ request_id: `id${nth}` }))
    await clock.advance(1)
    await clock.until(
      Promise.all([create(client), client.deployments.stop({ request_id: 'abc' }, { priority: 10 })]),
      1,
    )
    expect(clock.now() - began).toBeLessThan(100)
    expect(client.queues()['other']?.inFlight).toBe(256)
    await clock.until(Promise.all(slow))
  })

  test('a 429 pauses all calls under its rate limit, and no other calls', async () => {
    const { client, clock, times } = setUp()
    const refused = client.deployments.get({ request_id: 'refused' })
    await clock.advance(1)
    const calls = [refused, client.deployments.get({ request_id: 'other' }), create(client)]
    await clock.until(Promise.all(calls))
    expect(times('/deployments')).toEqual([1])
    expect(times('/v1/status/other')[0]).toBeGreaterThanOrEqual(5000)
    expect(times('/v1/status/refused')).toEqual([0, expect.any(Number)])
    expect(times('/v1/status/refused')[1]).toBeGreaterThanOrEqual(5000)
  })
})

describe('options of the queues', () => {
  const firstSecond = async (options: Partial<ClientOptions>) => {
    const { client, clock, times } = setUp(options)
    await clock.until(Promise.all(repeat(100, () => create(client))))
    return { atOnce: times().filter((at) => at === 0).length, busiest: busiest(times()) }
  }

  test.each([
    ['share', { share: 0.5 }, 20, 20],
    ['share with a fractional number of requests', { share: 0.33 }, 13, 13],
    ['limits: null', { limits: { createDeployment: null } }, 100, 100],
    ['limits', { limits: { createDeployment: { limit: 7 } } }, 7, 7],
    ['limits with a window', { limits: { createDeployment: { limit: 30, windowMs: 500 } } }, 30, 60],
    ['limits and share', { limits: { createDeployment: { limit: 60 } }, share: 0.5 }, 30, 30],
    ['limits of another operation', { limits: { legacyDeploy: null } }, 40, 40],
    ['maxInFlight with an unlimited service', { maxInFlight: 1, limits: { createDeployment: null } }, 100, 100],
  ])('the option %s bounds how many calls start together and per second', async (_, options, atOnce, most) => {
    expect(await firstSecond(options)).toEqual({ atOnce, busiest: most })
  })

  test('the option share divides a rate limit between two processes', async () => {
    const { client, clock, arrivals } = setUp({ share: 0.5 })
    const other = clientOf({
      clock,
      share: 0.5,
      dispatcher: inProcess(async () => {
        arrivals.push({ at: clock.now() - began, path: '/deployments' })
        return Response.json({ request_id: 'abc' })
      }),
    })
    const began = clock.now()
    await clock.until(Promise.all([...repeat(60, () => create(client)), ...repeat(60, () => create(other))]))
    expect(busiest(arrivals.map((one) => one.at))).toBe(40)
  })

  test('the client refuses a share of less than one request per window', () => {
    const refusal = { name: 'InvalidInput', message: expect.stringContaining('share') }
    expect(() => setUp({ share: 0.05 })).toThrow(expect.objectContaining(refusal))
  })

  test('the option limits.other limits all operations without a documented limit together', async () => {
    const { client, clock, times } = setUp({ limits: { other: { limit: 3 } } })
    await clock.until(Promise.all(repeat(9, (nth) => client.applications.get({ app_name: `app${nth}` }))))
    expect(busiest(times())).toBe(3)
  })

  test('the option burst spreads the starts of calls over the window', async () => {
    const { atOnce, busiest: most } = await firstSecond({ burst: 5 })
    expect(atOnce).toBe(5)
    expect(most).toBeLessThanOrEqual(40)
  })
})

describe('the order of a queue', () => {
  test('a queue starts a later call of higher priority first, and otherwise keeps the order of arrival', async () => {
    const { client, clock, arrivals } = setUp({ limits: { status: { limit: 1 } } })
    const get = (request_id: string, priority = 0) => client.deployments.get({ request_id }, { priority })
    const calls = ['a', 'b', 'c'].map((id) => get(id))
    await clock.advance(1500)
    calls.push(get('d'), get('low', -1), get('high', 2), get('middle', 1), get('high-too', 2))
    await clock.until(Promise.all(calls))
    const order = arrivals.map((one) => one.path.slice('/v1/status/'.length))
    expect(order).toEqual(['a', 'b', 'high', 'high-too', 'middle', 'c', 'd', 'low'])
  })

  test('a queue of calls gives the place of an aborted call to the next call', async () => {
    const { client, clock, arrivals } = setUp({ limits: { status: { limit: 1 } } })
    const abort = new AbortController()
    const get = (request_id: string, signal?: AbortSignal) => client.deployments.get({ request_id }, { signal })
    const calls = [get('a'), get('b', abort.signal), get('c')]
    await clock.advance(1)
    abort.abort(new Error('enough'))
    await expect(calls[1]).rejects.toThrow('enough')
    await clock.until(Promise.all([calls[0], calls[2]]), 10)
    expect(arrivals.map((one) => one.path)).toEqual(['/v1/status/a', '/v1/status/c'])
    expect(arrivals[1]?.at).toBeLessThan(1100)
  })
})

describe('settings for points that the specification leaves open', () => {
  test('createDeploymentPath changes the path of create, also in events, but not its rate-limit queue', async () => {
    const { client, clock, arrivals, times } = setUp({ settings: { createDeploymentPath: '/v2/deployments' } })
    const paths = new Set<string>()
    client.events.on('request', ({ path }) => paths.add(path))
    await clock.until(Promise.all(repeat(50, () => create(client))))
    expect(new Set(arrivals.map((one) => one.path))).toEqual(new Set(['/v2/deployments']))
    expect(busiest(times())).toBe(40)
    expect([...paths]).toEqual(['/v2/deployments'])
  })

  const stop = (client: Client) => client.deployments.stop({ request_id: 'abc', container_log_storage: 'logs' })
  const selfStop = (client: Client) =>
    client.deployments.selfStop({
      request_id: 'abc',
      access_point_id: 'def',
      authorization: 'x',
      container_log_storage: true,
    })
  const list = (client: Client) => client.deployments.list({ query: { order_by: [{ field: 'a', order: 'asc' }] } })
  const locations = (client: Client) => client.locations.list({ type: 'metal', tags: true })
  const query = encodeURIComponent('{"order_by":[{"field":"a","order":"asc"}]}')

  test.each<[ClientOptions['settings'], string, (client: Client) => Promise<unknown>]>([
    [{}, '/deployments', create],
    [{}, '/v1/stop/abc?container_log_storage=logs', stop],
    [{ containerLogStorageParameter: 'where' }, '/v1/stop/abc?where=logs', stop],
    [{ containerLogStorageParameter: 'where' }, '/v1/self/stop/abc/def?where=true', selfStop],
    [{}, `/v1/deployments?query=${query}`, list],
    [{ deploymentQueryParameter: 'q' }, `/v1/deployments?q=${query}`, list],
    [{}, '/v1/locations?type=metal&tags=true', locations],
    [
      { locationTypeParameter: 'kind', locationTagsParameter: 'with_tags' },
      '/v1/locations?kind=metal&with_tags=true',
      locations,
    ],
  ])('with the settings %j a request is sent to %s', async (settings, expected, call) => {
    const { client, clock, arrivals } = setUp({ settings })
    await clock.until(call(client))
    expect(arrivals.map((one) => one.path)).toEqual([expected])
  })
})
