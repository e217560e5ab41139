import { systemClock } from '@muster/core/clock'
import { afterAll, beforeAll } from 'vitest'
import { describeRedis, openRedis, type RedisUnderTest } from '../../redis.fixture.js'
import { createRedisStore } from './redis-store.js'
import { testPartitionStore } from './store-suite.fixture.js'

describeRedis('Redis', () => {
  let redis: RedisUnderTest
  beforeAll(async () => {
    redis = await openRedis()
  })
  afterAll(() => redis.close())

  testPartitionStore('a partition in Redis', async (bounds) => {
    await redis.server.ask('FLUSHALL')
    const connections = [await redis.connect(), await redis.connect()] as const
    const [store, other] = connections.map((each) => createRedisStore({ redis: each, name: 'ranked', bounds })) as [
      ReturnType<typeof createRedisStore>,
      ReturnType<typeof createRedisStore>,
    ]
    return {
      store,
      other,
      pass: (ms) => systemClock.sleep(ms),
      wipe: async () => void (await redis.server.ask('FLUSHALL')),
      close: async () => {
        await Promise.all([store.close(), other.close()])
        await Promise.all(connections.map((each) => each.close()))
      },
    }
  })
})
