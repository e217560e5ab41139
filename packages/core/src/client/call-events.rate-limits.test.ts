import { describe, expect, test } from 'vitest'
import type { ThrottledEvent } from './call-events.js'
import { inVirtualTime, ready, later } from './client.fixture.js'

describe('rate limits', () => {
  test('hold back calls beyond 20 status reads per second, and none of the unlimited reads of fleets', async () => {
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

  test('a share takes its part of a limit, and a share that leaves less than one request is refused', async () => {
    const { clock, client, times } = inVirtualTime(async () => ready(), { share: 0.25 })
    await clock.until(
      Promise.all(Array.from({ length: 11 }, (_, index) => client.deployments.get({ request_id: `r${index}` }))),
    )
    expect(times[10]).toBeGreaterThanOrEqual(2000)
    expect(() => inVirtualTime(async () => ready(), { share: 0.05 })).toThrow(
      expect.objectContaining({ name: 'InvalidInput', message: expect.stringContaining('share') }),
    )
  })

  test('a later call of higher priority is sent first', async () => {
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

describe('a 429', () => {
  test.each([
    ['2', 2000],
    ['', 1000],
  ])(
    'pauses the whole queue (Retry-After %j), loses no call, and is not counted as a retry',
    async (seconds, pause) => {
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
    },
  )

  test('does not pause other queues', async () => {
    const { clock, client } = inVirtualTime(async ({ url }) =>
      url.includes('status') ? later('5') : Response.json({ fleets: [] }),
    )
    client.deployments.get({ request_id: 'a' }).catch(() => {})
    await clock.advance(10)
    await clock.until(client.fleets.list())
    expect(clock.now()).toBeLessThan(1000)
  })

  test('whose pause outlasts the deadline fails the call at once', async () => {
    const { clock, client } = inVirtualTime(async () => later('3600'))
    await expect(clock.until(client.deployments.get({ request_id: 'a' }, { timeoutMs: 5000 }))).rejects.toMatchObject({
      name: 'RateLimited',
      retryAfterMs: 3_600_000,
    })
    expect(clock.now()).toBeLessThan(100)
  })

  test('that is repeated for ever fails the call at its deadline', async () => {
    const { clock, client, times } = inVirtualTime(async () => later('0'))
    const error: unknown = await clock
      .until(client.fleets.get({ fleet_name: 'f' }, { timeoutMs: 20_000 }))
      .catch((reason: unknown) => reason)
    expect(error).toMatchObject({ name: expect.stringMatching(/^(TimedOut|RateLimited)$/), operation: 'fleets.get' })
    expect(clock.now()).toBeLessThanOrEqual(20_000)
    expect(times.length).toBeLessThan(100)
  })
})
