import { systemClock } from '@muster/core/clock'
import type { RedisConnection } from '../../connection/connection.js'
import { describeEachRedis } from '../../redis.fixture.js'
import { createRedisStore } from './redis-store.js'
import { testPartitionStore } from './store-suite.fixture.js'
import type { PartitionStore } from './store.js'

describeEachRedis((where, redis) => {
  /** All tests share one connection, because connecting takes longer than most of them. */
  let connected: Promise<readonly [RedisConnection, RedisConnection]> | undefined
  testPartitionStore(`a partition in ${where}`, async (bounds) => {
    connected ??= Promise.all([redis().connect(), redis().connect()])
    const connections = await connected
    await redis().server.ask('FLUSHALL')
    const [store, other] = connections.map((connection) =>
      createRedisStore({ redis: connection, name: 'ranked', bounds }),
    ) as [PartitionStore, PartitionStore]
    return {
      store,
      other,
      pass: (ms) => systemClock.sleep(ms),
      wipe: async () => void (await redis().server.ask('FLUSHALL')),
      close: async () => void (await Promise.all([store.close(), other.close()])),
    }
  })
})
