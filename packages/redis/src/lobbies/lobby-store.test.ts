import { testLobbyStore } from '@muster/relay/store-suite'
import { afterEach, describe, expect, test } from 'vitest'
import { describeEachRedis, describeRedis, openRedis, type RedisUnderTest } from '../redis.fixture.js'
import { createRedisLobbyStore } from './lobby-store.js'
import { lobbyOf } from './lobby.fixture.js'

describeEachRedis((where, it) => {
  let stores = 0

  testLobbyStore(`the store in ${where}`, async () => {
    stores += 1
    const name = `${stores}`
    const [store, other] = [
      createRedisLobbyStore({ redis: await it().connect(), name }),
      createRedisLobbyStore({ redis: await it().connect(), name }),
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

describeRedis('a lobby store', () => {
  let it: RedisUnderTest
  afterEach(() => it.close())

  test('the Redis lobby store stores nothing of a lobby if one of its keys belongs to another program', async () => {
    it = await openRedis()
    const store = createRedisLobbyStore({ redis: it.redis })
    const key = it.redis.keys('lobbies.main')
    for (const taken of ['h', 'b', 'c', 'due', 'm', 'p', 'l', 't', 'n']) {
      await it.redis.command('', ['RPUSH', key(taken), 'x'])
      await expect(store.create(lobbyOf('a', ['ann']), 1)).rejects.toMatchObject({ name: 'RedisWrongType' })
      expect(await it.redis.command('', ['KEYS', '*'])).toEqual([key(taken)])
      await it.redis.command('', ['DEL', key(taken)])
    }
    expect(await store.create(lobbyOf('a', ['ann']), 1)).toBe(true)
  })

  test('the Redis lobby store stores only keys that expire, and extends them while they are in use', async () => {
    it = await openRedis()
    const store = createRedisLobbyStore({ redis: it.redis, keepDays: 1 })
    await store.create(lobbyOf('a', ['ann'], { data: { map: 'ice' } }), 1)
    await store.replace(lobbyOf('a', ['ann', 'ben'], { data: { map: 'ice' } }), 1, 1)
    const ttls = async () => {
      const keys = (await it.redis.command('', ['KEYS', '*'])) as readonly string[]
      return Promise.all(keys.map((key) => it.redis.command('', ['PTTL', key])))
    }
    const day = 86_400_000
    expect(await ttls()).toHaveLength(10)
    expect((await ttls()).every((ms) => Number(ms) > 0 && Number(ms) <= day)).toBe(true)
    for (const key of (await it.redis.command('', ['KEYS', '*'])) as readonly string[]) {
      await it.redis.command('', ['PEXPIRE', key, 60_000])
    }
    await store.due(0, 10)
    expect((await ttls()).every((ms) => Number(ms) > 60_000)).toBe(true)
  })

  test('the Redis lobby store finds nothing of lobbies whose keys Redis has deleted, and continues', async () => {
    it = await openRedis()
    const store = createRedisLobbyStore({ redis: it.redis })
    const key = it.redis.keys('lobbies.main')
    const query = { data: {}, minFree: 0, limit: 10, after: undefined }
    for (const lost of ['h', 'b', 'c', 'due', 'm', 'p', 'l', 't', 'n']) {
      await store.create(lobbyOf(lost, ['ann']), 1)
      await it.redis.command('', ['DEL', key(lost)])
      await store.get(lost)
      await store.getByCode(`code-${lost}`)
      await store.listPublic(query)
      await store.due(1, 10)
      await store.idsOf('ann')
      await it.redis.command('', ['DEL', ...['h', 'b', 'c', 'due', 'm', 'p', 'l', 't', 'n'].map(key)])
    }
    expect(await store.create(lobbyOf('again', ['ann']), 1)).toBe(true)
    expect((await store.listPublic(query)).lobbies).toHaveLength(1)
  })

  test('the Redis lobby store leaves nothing behind when the last lobby is deleted', async () => {
    it = await openRedis()
    const store = createRedisLobbyStore({ redis: it.redis })
    for (const id of ['a', 'b']) await store.create(lobbyOf(id, ['ann'], { data: { map: 'ice' } }), 1)
    for (const id of ['a', 'b']) await store.delete(id, 1)
    const key = it.redis.keys('lobbies.main')
    expect(((await it.redis.command('', ['KEYS', '*'])) as readonly string[]).toSorted()).toEqual([key('ev'), key('n')])
  })

  test('the Redis lobby store waits for a slow Redis, up to the timeout of the connection', async () => {
    it = await openRedis()
    const store = createRedisLobbyStore({ redis: it.redis })
    const hasty = createRedisLobbyStore({ redis: await it.connect({ timeoutMs: 50 }) })
    await store.create(lobbyOf('a', ['ann']), 1)
    await hasty.get('a')
    await it.server.ask('CLIENT PAUSE 600 ALL')
    const [slow, late] = await Promise.allSettled([store.get('a'), hasty.get('a')])
    expect(slow).toMatchObject({ status: 'fulfilled', value: { version: 1 } })
    expect(late).toMatchObject({ status: 'rejected', reason: { name: 'RedisTimedOut', outcome: 'unknown' } })
  })
})

describe('the options of a lobby store', () => {
  test.each([
    [{ name: 'a b' }, /name/],
    [{ keepDays: 0 }, /keepDays.*got 0/],
    [{ keepDays: Number.NaN }, /keepDays.*got NaN/],
    [{ keepDay: 1 }, /did you mean keepDays/],
    [{ redis: {} }, /redis must be a connection made by connectRedis/],
  ])('the error for the invalid options %o of a Redis lobby store names the option', (options, message) => {
    const redis = { run: async () => {} } as never
    expect(() => createRedisLobbyStore({ redis, ...(options as object) })).toThrow(message)
  })
})
