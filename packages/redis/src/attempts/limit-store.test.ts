import { createManualClock } from '@muster/core/clock'
import { createAttempts, type Attempts } from '@muster/core/internal'
import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { RedisProblem } from '../connection/connection.js'
import { describeRedis, eventually, openRedis, type RedisUnderTest } from '../redis.fixture.js'
import { createRedisLimitStore } from './limit-store.js'

const minute = { limit: 3, windowMs: 60_000 }
/** A long timeout, because a process that does not reach Redis in time counts by itself. */
const timeoutMs = 10_000
const results = (all: readonly (number | Promise<number>)[]) => Promise.all(all)

describeRedis('the limit store in Redis', () => {
  let it: RedisUnderTest
  let names = 0
  /** One limit, as counted by two processes. */
  let one: Attempts
  let other: Attempts
  beforeAll(async () => {
    it = await openRedis()
  })
  afterAll(() => it.close())
  const open = async (limit = minute) => {
    names += 1
    const name = `${names}`
    one = createRedisLimitStore({ redis: it.redis, name, timeoutMs }).attempts('perCaller', limit)
    other = createRedisLimitStore({ redis: await it.connect(), name, timeoutMs }).attempts('perCaller', limit)
  }

  test('the Redis limit store counts a player once over all processes', async () => {
    await open()
    expect(await results([one.take('ann'), one.take('ann'), other.take('ann')])).toEqual([0, 0, 0])
    const [here, there] = await results([one.take('ann'), other.take('ann')])
    expect(here).toBeGreaterThan(19_000)
    expect(here).toBeLessThanOrEqual(20_000)
    expect(there).toBeGreaterThan(19_000)
    expect(await one.take('ben')).toBe(0)
  })

  test('the Redis limit store admits no more of many concurrent requests than the limit', async () => {
    await open({ limit: 20, windowMs: 60_000 })
    const taken = await results(Array.from({ length: 200 }, (_, index) => (index % 2 === 0 ? one : other).take('ann')))
    expect(taken.filter((ms) => ms === 0)).toHaveLength(20)
  })

  test('an attempt that one process gives back or charges counts in every process of a Redis limit store', async () => {
    await open({ limit: 1, windowMs: 60_000 })
    expect(await one.take('ann')).toBe(0)
    expect(await other.wait('ann')).toBeGreaterThan(0)
    one.giveBack('ann')
    await eventually(() => other.wait('ann')).toBe(0)
    one.charge('ann')
    one.charge('ann')
    await eventually(() => other.wait('ann')).toBeGreaterThan(60_000)
    expect(await other.wait('ann')).toBeLessThanOrEqual(120_000)
  })

  test('the Redis limit store refuses a caller over the limit without another request to Redis', async () => {
    await open({ limit: 1, windowMs: 60_000 })
    expect(await one.take('ann')).toBe(0)
    expect(await other.take('ann')).toBeGreaterThan(0)
    expect(other.take('ann')).toBeTypeOf('number')
  })

  test('the Redis limit store counts limits with different names separately', async () => {
    const store = createRedisLimitStore({ redis: it.redis, name: 'names', timeoutMs })
    const [perCaller, perAddress] = [store.attempts('a', { limit: 1, windowMs: 60_000 }), store.attempts('b', minute)]
    expect(await results([perCaller.take('x'), perAddress.take('x'), perAddress.take('x')])).toEqual([0, 0, 0])
  })

  test('the Redis limit store uses keys that expire, and in which no id or address can be read', async () => {
    await open({ limit: 5, windowMs: 2000 })
    for (let charges = 0; charges < 20; charges += 1) one.charge('ann of 203.0.113.7')
    await one.wait('someone else')
    const keys = (await it.redis.command('', ['KEYS', `mu:{limits.${names}}:*`])) as readonly string[]
    expect(keys).toHaveLength(1)
    expect(keys.join()).not.toMatch(/ann|203/)
    const ttl = Number(await it.redis.command('', ['PTTL', keys[0] as string]))
    expect(ttl).toBeGreaterThan(0)
    expect(ttl).toBeLessThanOrEqual(4000)
  })

  test('the Redis limit store refuses exactly the requests that a count in memory would refuse', async () => {
    const deed = fc.constantFrom('take', 'wait', 'charge', 'take and give back')
    const windowMs = fc.integer({ min: 3_600_000, max: 7_200_000 })
    const limit = fc.record({ limit: fc.integer({ min: 1, max: 5 }), windowMs })
    const perform = async (attempts: Attempts, name: string): Promise<number> => {
      if (name === 'charge') attempts.charge('ann')
      if (name === 'charge' || name === 'wait') return attempts.wait('ann')
      const waitMs = await attempts.take('ann')
      if (name !== 'take' && waitMs === 0) attempts.giveBack('ann')
      return waitMs
    }
    await fc.assert(
      fc.asyncProperty(limit, fc.array(fc.tuple(deed, fc.boolean()), { maxLength: 30 }), async (each, deeds) => {
        await open(each)
        const memory = createAttempts({ ...each, clock: createManualClock() })
        for (const [index, [name, isHere]] of deeds.entries()) {
          const [shared, wanted] = [await perform(isHere ? one : other, name), await perform(memory, name)]
          expect(shared > 0, `${name} ${index}`).toBe(wanted > 0)
          // A process that refuses by its own count returns the minimum wait. It is rounded up.
          expect(shared - wanted, `${name} ${index}`).toBeLessThanOrEqual(1)
          // Another wait ensures that earlier attempts, for which nobody waits, were sent to the store.
          await (isHere ? one : other).wait('somebody else')
        }
      }),
      { numRuns: 30 },
    )
  })
})

describeRedis('the limit store without Redis', () => {
  const open = async () => {
    const it = await openRedis()
    const problems: RedisProblem[] = []
    it.redis.events.on('problem', (problem) => {
      if (problem.during === 'limits') problems.push(problem)
    })
    const clock = createManualClock()
    const attempts = createRedisLimitStore({ redis: it.redis, timeoutMs, clock }).attempts('perCaller', minute)
    return { it, problems, clock, attempts }
  }

  test('each process counts limits itself while Redis is down, reports it once, then counts in Redis', async () => {
    const { it, problems, clock, attempts } = await open()
    expect(await attempts.take('ann')).toBe(0)
    await it.server.kill()
    expect(await results([attempts.take('ann'), attempts.take('ann')])).toEqual([0, 0])
    expect(await attempts.take('ann')).toBeGreaterThan(0)
    attempts.giveBack('ann')
    expect(await attempts.take('ann')).toBe(0)
    expect(problems).toHaveLength(1)
    await clock.advance(2000)
    expect(await attempts.take('ben')).toBe(0)
    expect(problems).toHaveLength(1)
    await it.server.restart()
    await eventually(async () => {
      await clock.advance(2000)
      await attempts.take(`${clock.now()}`)
      return Number.parseInt((await it.server.ask('DBSIZE')).slice(1), 10)
    }).toBeGreaterThan(0)
    await it.close()
  })

  test.each([
    ['full', 'CONFIG SET maxmemory 1'],
    ['a replica', 'REPLICAOF 127.0.0.1 1'],
  ])('each process counts limits itself while Redis is %s', async (_, command) => {
    const { it, problems, attempts } = await open()
    await it.server.ask(command)
    expect(await results(Array.from({ length: 3 }, () => attempts.take('ann')))).toEqual([0, 0, 0])
    expect(await attempts.take('ann')).toBeGreaterThan(0)
    expect(problems).toHaveLength(1)
    await it.close()
  })

  test('the Redis limit store waits once, up to timeoutMs, for a Redis that does not answer', async () => {
    const { it, problems, clock, attempts } = await open()
    await attempts.take('warm')
    it.server.pause()
    const slow = attempts.take('ann')
    await new Promise((resolve) => setImmediate(() => setImmediate(resolve)))
    await clock.advance(timeoutMs)
    expect(await slow).toBe(0)
    expect(await attempts.take('ann')).toBe(0)
    expect(problems).toEqual([{ during: 'limits', error: expect.objectContaining({ name: 'RedisTimedOut' }) }])
    it.server.resume()
    await it.close()
  })
})

describe('the options of the limit store', () => {
  test.each([
    [{ name: '' }, /name/],
    [{ timeoutMs: 0 }, /timeoutMs.*got 0/],
    [{ timeout: 5 }, /did you mean timeoutMs/],
    [{ redis: {} }, /redis must be a connection made by connectRedis/],
  ])('the Redis limit store refuses the options %o with an error that names the wrong option', (options, message) => {
    const redis = { run: async () => {} } as never
    expect(() => createRedisLimitStore({ redis, ...(options as object) })).toThrow(message)
  })
})
