import { systemClock } from '@muster/core/clock'
import { describeEachRedis } from '../../redis.fixture.js'
import { createRedisStore } from './redis-store.js'
import { testPartitionStore } from './store-suite.fixture.js'

describeEachRedis((where, redis) => {
  testPartitionStore(`a partition in ${where}`, async (bounds) => {
    await redis().server.ask('FLUSHALL')
    const open = async () => {
      const connection = await redis().connect()
      const store = createRedisStore({ redis: connection, name: 'ranked', bounds })
      return { connection, store }
    }
    const [mine, others] = await Promise.all([open(), open()])
    return {
      store: mine.store,
      other: others.store,
      pass: (ms) => systemClock.sleep(ms),
      wipe: async () => void (await redis().server.ask('FLUSHALL')),
      close: async () => {
        await Promise.all([mine.store.close(), others.store.close()])
        await Promise.all([mine.connection.close(), others.connection.close()])
      },
    }
  })
})
