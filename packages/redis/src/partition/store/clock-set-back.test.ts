/** The clock of Redis is wrong for some time: first ahead, and then set back. */
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { describeRedis, openRedis, type RedisUnderTest } from '../../redis.fixture.js'
import { createRedisStore } from './redis-store.js'
import type { PartitionStore } from './store.js'
import { answer, create, tokenOf } from './suite/stores.fixture.js'

const SOON = { blockMs: 0 }
const DAY_MS = 86_400_000

describeRedis('a partition in a Redis whose clock is set back by a day', () => {
  let under: RedisUnderTest
  let store: PartitionStore
  beforeAll(async () => {
    under = await openRedis()
  })
  beforeEach(async () => {
    await under.server.ask('FLUSHALL')
    store = createRedisStore({ redis: under.redis, name: 'ranked' })
  })
  afterAll(() => under.close())

  test('a follower gets replies again after its earlier ones have expired', async () => {
    const token = await tokenOf(store)
    const { cursor } = await store.changes(undefined, 'b', SOON)
    await under.server.ask(`XADD mu:{ranked}:r:b ${Date.now() + DAY_MS}-0 a before`)
    const before = await store.changes(cursor, 'b', SOON)
    expect(before.replies).toEqual(['before'])
    await under.server.ask('DEL mu:{ranked}:r:b')
    await answer(store, token, 'b', ['after'])
    const first = await store.changes(before.cursor, 'b', SOON)
    const second = await store.changes(first.cursor, 'b', SOON)
    expect([...first.replies, ...second.replies]).toEqual(['after'])
    expect(await store.changes(second.cursor, 'b', SOON)).toMatchObject({ replies: [], gap: false })
    await store.close()
  })

  test('a leader deletes ended tickets on time, even if they ended before the clock was set back', async () => {
    const token = await tokenOf(store)
    await create(store, 't1', 't2', 't3')
    const list = 'mu:{ranked}:e'
    for (const id of ['t1', 't2']) {
      await store.cancel(id, [`player of ${id}`])
      await under.server.ask(`LSET ${list} -1 "${Date.now() + DAY_MS} ${id}"`)
    }
    await store.cancel('t3', ['player of t3'])
    expect(await store.sweep(token, 60_000, 10)).toBe(0)
    await new Promise((resolve) => setTimeout(resolve, 20))
    expect(await store.sweep(token, 10, 10)).toBe(3)
    expect(await store.read(['t1', 't2', 't3'])).toEqual([undefined, undefined, undefined])
    await store.close()
  })
})
