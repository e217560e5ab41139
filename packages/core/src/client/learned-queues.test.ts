import { beforeAll, describe, expect, test } from 'vitest'
import { createManualClock, seededRandom } from '../time.js'
import { clientOf } from './client.fixture.js'
import { loadDescription } from './call.js'
import { inProcess } from './transport.js'
import type { ClientOptions } from './config.js'

beforeAll(loadDescription)

const WAY_MS = 10

/** Starts a service with an undocumented limit: a number of stops per second in a sliding window. */
function setUp(allowed: (now: number) => number, retryAfter?: string, options: Partial<ClientOptions> = {}) {
  const clock = createManualClock()
  const began = clock.now()
  const passed: number[] = []
  const refused: number[] = []
  const reads: number[] = []
  const dispatcher = inProcess(async ({ method }) => {
    await clock.sleep(WAY_MS)
    const now = clock.now() - began
    const respond = (status: number, headers = {}) =>
      clock.sleep(WAY_MS).then(() => Response.json({ message: 'so', name: 'blue' }, { status, headers }))
    if (method === 'GET') {
      reads.push(now)
      return respond(200)
    }
    if (passed.filter((at) => at > now - 1000).length < allowed(now)) {
      passed.push(now)
      return respond(200)
    }
    refused.push(now)
    return respond(429, retryAfter === undefined ? {} : { 'retry-after': retryAfter })
  })
  const client = clientOf({ clock, dispatcher, ...options })
  const stop = (nth: number) => client.deployments.stop({ request_id: `id${nth}` })
  const stops = (count: number) => Promise.allSettled(Array.from({ length: count }, (_, nth) => stop(nth)))
  const failed = (outcomes: readonly PromiseSettledResult<unknown>[]) =>
    outcomes.filter(({ status }) => status === 'rejected').length
  const now = () => clock.now() - began
  return { client, clock, stop, stops, failed, passed, refused, reads, now }
}

describe('an undocumented limit', () => {
  test.each([undefined, '1'])(
    'an undocumented limit is learned: 400 stops at 20 per second succeed with few 429s (Retry-After %j)',
    async (retryAfter) => {
      const { clock, stops, failed, refused, passed } = setUp(() => 20, retryAfter)
      expect(failed(await clock.until(stops(200), 20))).toBe(0)
      expect(refused.filter((at) => at > 1000).length).toBeLessThanOrEqual(0.03 * 200)
      expect(Math.max(...passed)).toBeLessThan(14_000)
    },
  )

  test.each([1, 60])('an undocumented limit of %i per second is learned', async (limit) => {
    const { clock, stops, failed, refused, passed } = setUp(() => limit, undefined, { timeoutMs: 120_000 })
    expect(failed(await clock.until(stops(20 * limit), 20))).toBe(0)
    expect(refused.filter((at) => at > 1000).length).toBeLessThanOrEqual(Math.max(3, 0.05 * 20 * limit))
    expect(Math.max(...passed)).toBeLessThan(35_000)
  })

  test('a learned limit follows the service when its limit falls or rises', async () => {
    const { clock, stops, failed, passed } = setUp((now) => (now < 20_000 ? 20 : now < 60_000 ? 10 : 40), undefined, {
      timeoutMs: 600_000,
    })
    expect(failed(await clock.until(stops(4000), 20))).toBe(0)
    const within = (from: number, until: number) =>
      passed.filter((at) => at >= from && at < until).length / ((until - from) / 1000)
    expect(within(30_000, 55_000)).toBeGreaterThan(7)
    expect(within(130_000, 140_000)).toBeGreaterThan(20)
  })

  test('an undocumented limit pauses only its own operation', async () => {
    const { client, clock, stop, reads, now } = setUp(() => 0, '5')
    const stopped = stop(1).catch(() => {})
    await clock.advance(1000)
    const from = now()
    await clock.until(client.tags.get({ request_id: 'abc', tag_name: 'blue' }), 1)
    expect(reads.map((at) => at - from)).toEqual([WAY_MS])
    await clock.until(stopped)
  })

  test('queues() shows a learned limit by the name of its operation, with its 429s', async () => {
    const { client, clock, stops } = setUp(() => 5, '1')
    const limits = new Set<string>()
    client.events.on('throttled', ({ limit }) => limits.add(limit))
    await clock.until(stops(20), 20)
    expect([...limits]).toEqual(['deployments.stop'])
    expect(client.queues()['deployments.stop']).toMatchObject({ queued: 0, inFlight: 0, rate: expect.any(Number) })
  })
})

test.each(['stop', 'create'] as const)(
  'while every %s gets a 429 without Retry-After, one call is sent after 1, 2, 4, then every 8 s',
  async (name) => {
    const { client, clock, refused, stop } = setUp(() => 0, undefined, { timeoutMs: 60_000 })
    const users = [{ user_type: 'geo_coordinates', user_data: { latitude: 1, longitude: 2 } }] as const
    const call = { stop, create: () => client.deployments.create({ application: 'game', version: '1', users }) }[name]
    await clock.until(Promise.allSettled(Array.from({ length: 60 }, (_, nth) => call(nth))), 20)
    const later = refused.filter((at) => at > WAY_MS)
    const gaps = later.map((at, n) => Math.round((at - (later[n - 1] ?? WAY_MS)) / 1000))
    // After the first pause, as many calls start as the learned rate allows. After the second pause, one call probes.
    const single = gaps.filter((gap) => gap > 0)
    expect(single.slice(0, 5)).toEqual([1, 2, 4, 8, 8])
    expect(gaps.lastIndexOf(0)).toBeLessThan(30)
  },
)

describe('stray refusals', () => {
  /** Starts a service that refuses a random part of all requests, for a limited time and at any rate. */
  function strays(share: number, untilMs: number, retryAfter?: string) {
    const random = seededRandom(7)
    return setUp((now) => (now < untilMs && random() < share ? 0 : Infinity), retryAfter)
  }

  test.each([undefined, '1'])(
    'stray 429s in 3 of 100 calls leave the rate of an operation unchanged (Retry-After %j)',
    async (retryAfter) => {
      const { client, clock, stop, failed, refused, now } = strays(0.03, 60_000, retryAfter)
      const delays: number[] = []
      const all: Promise<unknown>[] = []
      for (let nth = 0; nth < 1200; nth += 1) {
        const from = now()
        all.push(stop(nth).then(() => delays.push(now() - from)))
        await clock.advance(50)
      }
      expect(failed(await clock.until(Promise.allSettled(all), 20))).toBe(0)
      expect(refused.length).toBeGreaterThan(20)
      delays.sort((one, other) => one - other)
      expect(delays[600]).toBe(2 * WAY_MS)
      expect(delays.at(-1)).toBeLessThan(5000)
      expect(client.queues()['deployments.stop']).toBeUndefined()
    },
  )

  test('stray 429s before a burst of 300 stops do not delay the burst, which finishes within 5 s', async () => {
    const { clock, stop, stops, failed, passed, now } = strays(0.03, 60_000)
    for (let nth = 0; nth < 600; nth += 1) {
      void stop(nth)
      await clock.advance(100)
    }
    const from = now()
    expect(failed(await clock.until(stops(300), 20))).toBe(0)
    expect(Math.max(...passed) - from).toBeLessThan(5000)
  })

  test('single stray 429s delay only the refused call, by the Retry-After of the service', async () => {
    let first = true
    const { clock, stop, passed, now } = setUp(() => {
      const allowed = first ? 0 : Infinity
      first = false
      return allowed
    }, '3')
    const both = Promise.all([stop(1), stop(2)])
    await clock.until(both, 20)
    expect(passed).toEqual([WAY_MS, 3000 + 3 * WAY_MS])
    expect(now()).toBeGreaterThan(3000)
  })
})
