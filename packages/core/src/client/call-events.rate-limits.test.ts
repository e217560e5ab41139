import { describe, expect, test } from 'vitest'
import { inVirtualTime, ready, later } from './client.fixture.js'

describe('rate limits', () => {
  test('an injected limiter is called for each documented rate limit, by its name', async () => {
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
  test('a 429 whose pause outlasts the deadline fails the call at once', async () => {
    const { clock, client } = inVirtualTime(async () => later('3600'))
    await expect(clock.until(client.deployments.get({ request_id: 'a' }, { timeoutMs: 5000 }))).rejects.toMatchObject({
      name: 'RateLimited',
      retryAfterMs: 3_600_000,
    })
    expect(clock.now()).toBeLessThan(100)
  })

  test('a 429 that repeats endlessly fails the call at its deadline', async () => {
    const { clock, client, times } = inVirtualTime(async () => later('0'))
    const error: unknown = await clock
      .until(client.fleets.get({ fleet_name: 'f' }, { timeoutMs: 20_000 }))
      .catch((reason: unknown) => reason)
    expect(error).toMatchObject({ name: expect.stringMatching(/^(TimedOut|RateLimited)$/), operation: 'fleets.get' })
    expect(clock.now()).toBeLessThanOrEqual(20_000)
    expect(times.length).toBeLessThan(100)
  })
})
