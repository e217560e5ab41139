import { createClient, InvalidInput, TimedOut } from '@muster/core'
import { systemClock } from '@muster/core/clock'
import { expect, onTestFinished, test } from 'vitest'
import { describeRedis, openRedis, type RedisUnderTest } from '../redis.fixture.js'
import { LimitsUnavailable } from './shared-limiter.js'
import { createRedisLimits, type RedisLimitsOptions } from './limits.js'

const limit = { name: 'status', limit: 3, windowMs: 60_000 }
const OUT = 'mu:{limit.account.status}:out'

/** Creates a client whose service is unreachable, for calls that are not sent. */
async function clientOf(under: RedisUnderTest, options: Partial<RedisLimitsOptions> = {}) {
  const limits = createRedisLimits({ redis: await under.connect({ timeoutMs: 200 }), ...options })
  const client = createClient({ baseUrl: 'http://127.0.0.1:9', token: 't', limiter: limits.limiter })
  onTestFinished(async () => {
    await client.close({ timeoutMs: 0 })
    await limits.close()
  })
  const get = (timeoutMs: number) =>
    client.deployments.get({ request_id: 'x' }, { timeoutMs }).then(
      () => expect.unreachable('nobody answers'),
      (error: unknown) => error,
    )
  return { limits, client, get }
}

test.each([
  [{ redis: undefined }, 'redis'],
  [{ name: 'two words' }, 'name'],
  [{ naem: 'x' }, 'naem'],
  [{ fallbackShare: 0 }, 'fallbackShare'],
])('the Redis limits refuse the options %o by name', (wrong, field) => {
  const redis = { run: async () => {} }
  const create = () => createRedisLimits({ redis, ...wrong } as never)
  expect(create).toThrow(InvalidInput)
  expect(create).toThrow(field)
})

test('Redis limits with a fallback share of less than one request of a limit are refused', () => {
  const redis = { run: async () => {}, keys: () => () => '' } as never
  const { limiter } = createRedisLimits({ redis, fallbackShare: 0.25 })
  expect(() => limiter(limit)).toThrow(InvalidInput)
  expect(() => limiter(limit)).toThrow("fallbackShare, limit 'status'")
})

describeRedis('limits in Redis', () => {
  const open = async () => {
    const under = await openRedis()
    onTestFinished(() => under.close())
    const reserve = async (name?: string) => {
      const limiter = createRedisLimits({ redis: await under.connect(), name }).limiter(limit)
      return () => limiter.reserve(0)
    }
    /** Makes all tokens free, as if no request was in flight. */
    const warmUp = async (name = 'account') => {
      await (
        await reserve(name)
      )()
      await under.server.ask(`ZREMRANGEBYSCORE mu:{limit.${name}.status}:out (0 +inf`)
    }
    return { under, reserve, warmUp }
  }

  test('Redis limits are shared by all processes per name, and separate for different names', async () => {
    const { reserve, warmUp } = await open()
    await warmUp()
    await warmUp('other')
    const [one, two, other] = await Promise.all([reserve(), reserve(), reserve('other')])
    const permits = [await one(), await two(), await one()]
    expect(permits.map((permit) => typeof permit)).toEqual(['object', 'object', 'object'])
    expect(typeof (await two())).toBe('number')
    expect(typeof (await other())).toBe('object')
  })

  test('a 429 for one process pauses all processes, and lowers the rate of all', async () => {
    const { under, warmUp } = await open()
    await warmUp()
    const many = { name: 'status', limit: 10, windowMs: 60_000 }
    const limiterOf = async () => createRedisLimits({ redis: await under.connect() }).limiter(many)
    const [one, other] = await Promise.all([limiterOf(), limiterOf()])
    one.throttled(1000, 31_000)
    const refusal = 'mu:{limit.account.status}:refused'
    await expect.poll(() => under.redis.command(refusal, ['EXISTS', refusal])).toBe(1)
    const until = await other.reserve(0)
    expect(Number(until) - systemClock.now()).toBeGreaterThan(20_000)
    expect(other.inspect(0)).toEqual({ tokens: 0, rate: 7 })
  })

  test('Redis limits show the free tokens, and why there are no permits', async () => {
    const { under, warmUp } = await open()
    await warmUp()
    const limiter = createRedisLimits({ redis: await under.connect({ timeoutMs: 200 }) }).limiter(limit)
    await limiter.reserve(0)
    expect(limiter.inspect(0)).toEqual({ tokens: 2, rate: 3 })
    expect(limiter.obstacle?.()).toBeUndefined()
    under.server.pause()
    const at = await limiter.reserve(0)
    under.server.resume()
    expect(typeof at).toBe('number')
    expect(limiter.obstacle?.()).toMatchObject({
      name: 'LimitsUnavailable',
      limit: 'status',
      message: expect.stringContaining("The shared limit 'status' allows no requests now: "),
      cause: { name: 'RedisTimedOut' },
    })
  })

  test('rate-limited calls wait while Redis is down, and time out unsent because of LimitsUnavailable', async () => {
    const { under } = await open()
    const { get, client } = await clientOf(under)
    const requests: string[] = []
    client.events.on('request', ({ operation }) => requests.push(operation))
    await under.server.kill()
    const error = await get(600)
    expect(error).toBeInstanceOf(TimedOut)
    expect(error).toMatchObject({ sent: false, cause: { name: 'LimitsUnavailable' } })
    expect((error as TimedOut).cause).toBeInstanceOf(LimitsUnavailable)
    expect(requests).toEqual([])
    await under.server.restart()
    await get(600)
    expect(client.queues()['status']).toMatchObject({ rate: 20 })
  })

  test('calls use the fallback share of a limit while Redis is down, and the whole limit afterwards', async () => {
    const { under } = await open()
    const limits = createRedisLimits({ redis: await under.connect({ timeoutMs: 200 }), fallbackShare: 0.5 })
    const limiter = limits.limiter({ name: 'status', limit: 40, windowMs: 50 })
    const given = async () => {
      const answer = await limiter.reserve(0)
      return typeof answer !== 'number'
    }
    await given()
    await under.server.kill()
    await expect.poll(given).toBe(true)
    expect([limiter.inspect(0).rate, limiter.obstacle?.()]).toEqual([20, undefined])
    await under.server.restart()
    await expect.poll(async () => (await given()) && limiter.inspect(0).rate).toBe(40)
    await limits.close()
  })

  test('a permit of a Redis limit that no call uses is returned to the limit', async () => {
    const { under, reserve, warmUp } = await open()
    await warmUp()
    const permit = await (await reserve())()
    if (typeof permit === 'number') return expect.unreachable('nothing is out')
    expect(permit.mayWrite?.()).toBe(true)
    permit.release(0)
    permit.release(0)
    permit.answered(0)
    const soon = (Date.now() + 10_000) * 1000
    await expect.poll(() => under.redis.command(OUT, ['ZCOUNT', OUT, '(0', soon])).toBe(1)
  })
})
