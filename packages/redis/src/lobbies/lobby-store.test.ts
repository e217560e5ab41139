import { testLobbyStore } from '@muster/relay/store-suite'
import { afterAll, beforeAll } from 'vitest'
import { describeRedis, openRedis, type RedisUnderTest } from '../redis.fixture.js'
import { createRedisLobbyStore } from './lobby-store.js'

describeRedis('with Redis', () => {
  let it: RedisUnderTest
  let stores = 0
  beforeAll(async () => {
    it = await openRedis()
  })
  afterAll(() => it.close())

  testLobbyStore('the store in Redis', async () => {
    stores += 1
    const name = `${stores}`
    const [store, other] = [
      createRedisLobbyStore({ redis: it.redis, name }),
      createRedisLobbyStore({ redis: await it.connect(), name }),
    ]
    return {
      store,
      other,
      close: async () => {
        store.close()
        other.close()
      },
    }
  })
})
