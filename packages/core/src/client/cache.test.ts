import { beforeAll, describe, expect, test } from 'vitest'
import { createManualClock } from '../manual-clock.js'
import { createAnswerCache, mayKeep } from './cache.js'
import { createClient } from './client.js'
import { loadDescription } from './description.js'
import { ClientClosed, ServerError, TimedOut } from './errors.js'
import { inProcess } from './in-process.js'
import type { ClientOptions } from './options.js'

beforeAll(loadDescription)

const body = (nth: number) => ({
  locations: [{ host: '192.0.2.1', location: { city: `City ${nth}` }, city: `City ${nth}`, tags: [{ key: 'a', value: 'b' }] }],
  total_count: nth,
  count: nth,
})

function setUp(options: Partial<ClientOptions> = {}, handle: (nth: number) => Promise<Response> = async (nth) => Response.json(body(nth))) {
  const clock = createManualClock()
  const asked: string[] = []
  const dispatcher = inProcess((request) => handle(asked.push(request.url.replace('http://service.invalid/v1', ''))))
  const client = createClient({
    baseUrl: 'http://service.invalid', token: 'secret', clock, random: () => 0, retry: { attempts: 1 }, dispatcher, ...options,
  })
  return { client, clock, asked }
}

describe('locations and beacons are kept', () => {
  test.each([
    ['5 minutes by default', 300_000, {}],
    ['as long as is said', 1000, { cacheTtlMs: 1000 }],
  ])('%s, and no longer', async (_, ttlMs, options) => {
    const { client, clock, asked } = setUp(options)
    for (const call of [client.locations.list, client.locations.beacons] as const) {
      asked.length = 0
      const first = await call()
      await clock.advance(ttlMs - 1)
      expect(await call()).toBe(first)
      expect(asked).toHaveLength(1)
      await clock.advance(2)
      expect(await call()).not.toEqual(first)
      expect(asked).toHaveLength(2)
    }
  })

  test('reading does not prolong it', async () => {
    const { client, clock, asked } = setUp({ cacheTtlMs: 1000 })
    for (let read = 0; read < 4; read += 1) {
      await client.locations.list()
      await clock.advance(400)
    }
    expect(asked).toHaveLength(2)
  })

  test('nobody can change what is kept, not even who asked first', async () => {
    const { client } = setUp()
    const first = await client.locations.list()
    expect(Object.isFrozen(first)).toBe(true)
    expect(Object.isFrozen(first.locations)).toBe(true)
    expect(() => Object.assign(first.locations[0] as object, { city: 'Elsewhere' })).toThrow(TypeError)
    expect(Object.isFrozen(first.locations[0]?.tags?.[0])).toBe(true)
    expect((await client.locations.list()).locations[0]?.city).toBe('City 1')
  })

  test('each page and filter by itself', async () => {
    const { client, asked } = setUp()
    for (const input of [{}, { page: 2 }, { limit: 5 }, { tags: true }, { type: 'standard' }, { page: 2 }, {}]) await client.locations.list(input)
    await client.locations.beacons()
    expect(asked).toEqual([
      '/locations', '/locations?page=2', '/locations?limit=5', '/locations?tags=true', '/locations?type=standard', '/locations/beacons',
    ])
  })

  test('the iterators read through the cache', async () => {
    const { client, asked } = setUp({}, async () => Response.json({ ...body(1), pagination: { has_next: false } }))
    for (let round = 0; round < 2; round += 1) {
      for await (const { city } of client.locations.list.all()) expect(city).toBe('City 1')
    }
    expect(asked).toEqual(['/locations?page=1&limit=100'])
  })

  test('also on a clock that begins at 0', async () => {
    const clock = createManualClock({ start: 0 })
    const cache = createAnswerCache(1000, clock)
    const answer = {}
    cache.set('a', answer)
    await clock.advance(999)
    expect(cache.get('a')).toBe(answer)
    await clock.advance(2)
    expect(cache.get('a')).toBeUndefined()
  })
})

describe('not kept', () => {
  test('locations for an application, which depend on present capacity', async () => {
    const { client, asked } = setUp()
    for (let read = 0; read < 2; read += 1) await client.locations.list({ app: 'game', version: '1' })
    expect(asked).toHaveLength(2)
    expect(mayKeep('locations.list', { app: 'game' })).toBe(false)
    expect(mayKeep('locations.list', { version: '1' })).toBe(false)
    expect(mayKeep('deployments.get', {})).toBe(false)
  })

  test('anything, with a time of 0', async () => {
    const { client, asked } = setUp({ cacheTtlMs: 0 })
    for (let read = 0; read < 2; read += 1) await client.locations.list()
    expect(asked).toHaveLength(2)
  })

  test('a failure', async () => {
    const { client, asked } = setUp({}, async (nth) => Response.json(body(nth), { status: nth === 1 ? 500 : 200 }))
    await expect(client.locations.list()).rejects.toBeInstanceOf(ServerError)
    await expect(client.locations.list()).resolves.toMatchObject({ total_count: 2 })
    expect(asked).toHaveLength(2)
  })

  test('for another client', async () => {
    const one = setUp()
    const other = setUp()
    await one.client.locations.list()
    await other.client.locations.list()
    expect([one.asked.length, other.asked.length]).toEqual([1, 1])
  })
})

test('what is kept does not outlive an abort or the client', async () => {
  const { client } = setUp()
  await client.locations.list()
  await expect(client.locations.list({}, { signal: AbortSignal.abort('enough') })).rejects.toBe('enough')
  await client.close()
  await expect(client.locations.list()).rejects.toBeInstanceOf(ClientClosed)
})

test('equal reads in flight are one request, of which each leaves in its own time, and the rest is kept', async () => {
  let answer: (response: Response) => void = () => {}
  const { client, clock, asked } = setUp({}, () => new Promise((resolve) => (answer = resolve)))
  const abort = new AbortController()
  const leaves = client.locations.list({}, { signal: abort.signal }).catch((reason: unknown) => reason)
  const late = client.locations.list({}, { timeoutMs: 500 }).catch((error: unknown) => error)
  const stays = client.locations.list()
  await clock.advance(100)
  abort.abort('enough')
  expect(await leaves).toBe('enough')
  await clock.advance(400)
  expect(await late).toBeInstanceOf(TimedOut)
  answer(Response.json(body(1)))
  expect(await client.locations.list()).toBe(await stays)
  expect(asked).toHaveLength(1)
})
