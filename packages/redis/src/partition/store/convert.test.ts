/** Records of format 1, as a leader of the previous version has left them. */
import { expect, test } from 'vitest'
import { describeRedis, openRedis } from '../../redis.fixture.js'
import { LeaseLost } from '../partition-errors.js'
import { partitionKeys } from './partition-keys.js'
import { createRedisStore } from './redis-store.js'
import { assign, tokenOf } from './suite/stores.fixture.js'
import { all } from './suite/loading.fixture.js'

const MATCHES = 1200

describeRedis('a partition of format 1', () => {
  test('a partition of format 1 is readable, and is converted by the leader once', async () => {
    const redis = await openRedis({})
    const keys = partitionKeys(redis.redis.keys('ranked'))
    const store = createRedisStore({ redis: redis.redis, name: 'ranked' })
    const leave = async (from: number, to: number) => {
      for (let nth = from; nth < to; nth += 1) {
        const record = { matchId: `m${nth}`, queue: 'duel', tag: `match-m${nth}`, ticketIds: [], at: nth, sentAt: 1 }
        await redis.redis.command(keys.records1, ['HSET', keys.records1, `m${nth}`, JSON.stringify(record)])
      }
    }
    const loaded = async () => new Map((await all(store.loadHosting)).items.map(({ key, text }) => [key, text]))
    try {
      await leave(0, MATCHES)
      const token = await tokenOf(store)
      const before = await loaded()
      expect(before.size).toBe(2 * MATCHES)
      expect(JSON.parse(before.get('s:m7') ?? '')).toMatchObject({ serverId: 'm7', bornFor: 'm7', sentAt: 1 })
      expect(JSON.parse(before.get('m:m7') ?? '')).toMatchObject({ matchId: 'm7', serverId: 'm7' })

      await store.convert(token)
      expect(await redis.redis.command(keys.records1, ['EXISTS', keys.records1])).toBe(0)
      expect(await loaded()).toEqual(before)
      // Repeating the conversion does not overwrite later changes.
      await store.commit(token, { hosting: [[{ key: 's:m7', text: 'changed' }], [{ key: 'm:m8' }]] })
      await store.convert(token)
      const after = await loaded()
      expect([after.get('s:m7'), after.has('m:m8'), after.size]).toEqual(['changed', false, 2 * MATCHES - 1])

      // A partly finished conversion is continued. A deposed leader converts nothing.
      await leave(MATCHES, MATCHES + 2)
      await store.release(token)
      const next = await tokenOf(store, 'b')
      await expect(store.convert(token)).rejects.toBeInstanceOf(LeaseLost)
      expect(await redis.redis.command(keys.records1, ['HLEN', keys.records1])).toBe(2)
      await store.convert(next)
      expect((await loaded()).size).toBe(2 * MATCHES + 3)
      await assign(store, next, 'm1', [])

      await redis.redis.command(keys.records1, ['HSET', keys.records1, 'm1', '{'])
      await expect(store.convert(next)).rejects.toThrow('a stored record is damaged: it is not JSON')
    } finally {
      await store.close()
      await redis.close()
    }
  })
})
