import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { RedisNotPermitted, RedisWrongType } from '../connection/connection-errors.js'
import { describeRedis, openRedis, type RedisUnderTest } from '../redis.fixture.js'
import { createRedisTokens } from './redis-tokens.js'
import { testTokenStore, times } from './token-store-suite.fixture.js'

const OUT = 'mu:{limit.test}:out'

describeRedis('the tokens in Redis', () => {
  let under: RedisUnderTest
  beforeAll(async () => {
    under = await openRedis({ appendOnly: 'always' })
  })
  afterAll(() => under.close())
  beforeEach(async () => void (await under.server.ask('FLUSHALL')))

  const tokens = (limit: number) => createRedisTokens(under.redis, 'limit.test', limit, times)
  /** Makes all tokens free that a new limit treats as used. */
  const warmUp = async () => void (await under.server.ask(`ZREMRANGEBYSCORE ${OUT} (0 +inf`))
  const warm = async (limit: number) => {
    const store = tokens(limit)
    await store.take('first')
    await warmUp()
    return store
  }
  const size = () => under.redis.command(OUT, ['ZCARD', OUT])

  testTokenStore(async (limit) => ({
    store: tokens(limit),
    warmUp,
    wipe: async () => void (await under.server.ask('FLUSHALL')),
  }))

  test('the Redis rate-limit tokens ignore data that Redis had before its last restart', async () => {
    const store = await warm(3)
    expect(await store.take('a')).toMatchObject({ granted: true })
    await under.server.restart()
    await expect.poll(() => store.take('b').catch(() => undefined)).toMatchObject({ granted: false })
    expect(await size()).toBe(4)
  })

  test('the Redis rate-limit tokens start over if the stored times are an hour ahead of Redis’ clock', async () => {
    const store = await warm(2)
    const inAnHour = (Date.now() + 3_600_000) * 1000
    await under.redis.command(OUT, ['ZADD', OUT, inAnHour, 'a', inAnHour, 'b'])
    await store.take('c')
    expect(await under.redis.command(OUT, ['ZCOUNT', OUT, inAnHour, '+inf'])).toBe(0)
    expect(await size()).toBe(3)
  })

  test('a pause after a 429 lasts no longer if Redis’ clock is set back by an hour', async () => {
    const refused = 'mu:{limit.test}:refused'
    const store = await warm(10)
    await store.refused(30_000)
    for (const time of (await under.redis.command(refused, ['HKEYS', refused])) as string[])
      if (time !== 'lowest') await under.redis.command(refused, ['HINCRBY', refused, time, 3_600_000_000])
    const { granted, waitMs } = await store.take('a')
    expect(granted).toBe(false)
    expect(waitMs).toBeGreaterThan(28_000)
    expect(waitMs).toBeLessThanOrEqual(30_000)
    await store.refused(60_000)
    expect((await store.take('a')).waitMs).toBeLessThanOrEqual(60_000)
  })

  test('the Redis rate-limit tokens store at most one entry more than the limit, for any requests', async () => {
    const store = await warm(5)
    for (let n = 0; n < 40; n++) {
      await store.take(`t${n}`)
      await store.unused(`t${n}`, n % 3 === 0 ? 400 : 0)
    }
    expect(await size()).toBeLessThanOrEqual(6)
  })

  test('the Redis rate-limit tokens apply the lower of two limits if processes disagree', async () => {
    const high = await warm(5)
    const low = tokens(2)
    for (const id of ['a', 'b', 'c']) expect(await high.take(id)).toMatchObject({ granted: true })
    expect(await low.take('d')).toMatchObject({ granted: false })
    for (const id of ['a', 'b', 'c']) await high.unused(id, 500)
    const promised = await low.take('d')
    expect(promised.granted).toBe(true)
    expect(promised.waitMs).toBeGreaterThan(0)
    expect(await low.take('e')).toMatchObject({ granted: true })
    expect(await low.take('f')).toMatchObject({ granted: false })
  })

  test('the Redis rate-limit tokens store only keys that expire', async () => {
    const store = await warm(2)
    await store.take('a')
    await store.refused(5000)
    const keys = (await under.redis.command('x', ['KEYS', '*'])) as string[]
    expect(keys.toSorted()).toEqual([OUT, 'mu:{limit.test}:refused'])
    for (const key of keys) expect(await under.redis.command(key, ['PTTL', key])).toBeGreaterThan(0)
    await under.server.ask('FLUSHALL')
    await store.keep(['b'])
    expect(await under.redis.command(OUT, ['PTTL', OUT])).toBeGreaterThan(0)
  })

  test('the Redis rate-limit tokens fail by name for a key of a wrong type or without INFO permission', async () => {
    const store = tokens(2)
    await under.server.ask(`SET ${OUT} x`)
    await expect(store.take('a')).rejects.toThrow(RedisWrongType)
    await under.server.ask(`DEL ${OUT}`)
    await under.server.ask('ACL SETUSER narrow on >pw ~mu:* +@all -info')
    const client = { url: under.server.url.replace('//', '//narrow:pw@') }
    const narrow = createRedisTokens(await under.connect({ client }), 'limit.test', 2, times)
    await expect(narrow.take('a')).rejects.toThrow(RedisNotPermitted)
    await under.server.ask('ACL SETUSER narrow resetkeys ~mu:* nocommands +@all -@dangerous +info')
    expect(await narrow.take('a')).toMatchObject({ granted: false })
  })
})
