import { systemClock } from '@muster/core/clock'
import { startRedisServer } from '@muster/redis-server'
import { describe, expect, test } from 'vitest'
import { RedisDisconnected, RedisFull, RedisTimedOut, RedisWrongType } from '../../connection/connection-errors.js'
import { describeRedis, openRedis, type RedisUnderTest } from '../../redis.fixture.js'
import { LeaseLost } from '../partition-errors.js'
import { createRedisStore } from './redis-store.js'
import type { PartitionStore } from './store.js'
import {
  answer,
  aTicket,
  assign,
  assigned,
  cancelled,
  create,
  DONE,
  headerIn,
  matched,
  someIds,
  tokenOf,
} from './suite/stores.fixture.js'

type ServerOptions = Parameters<typeof openRedis>[0]

/** A separate Redis, which the tests break. */
const broken =
  (options: ServerOptions, check: (redis: RedisUnderTest, store: PartitionStore) => Promise<void>) => async () => {
    const redis = await openRedis(options)
    const store = createRedisStore({ redis: redis.redis, name: 'ranked' })
    try {
      await check(redis, store)
    } finally {
      await store.close()
      await redis.close()
    }
  }

/** Repeats a call while there is no connection. Resolves with the first result. */
async function connected<T>(call: () => Promise<T>): Promise<T> {
  for (let tries = 0; ; tries += 1) {
    try {
      return await call()
    } catch (error) {
      if (!(error instanceof RedisDisconnected) || tries === 500) throw error
      await systemClock.sleep(20)
    }
  }
}

const NEWS = { blockMs: 0 }

describeRedis('a partition when Redis fails', () => {
  describe('a partition in a full Redis', () => {
    test(
      'in a full Redis a partition refuses tickets and long RPC requests, but matches the tickets that it has',
      broken({}, async (redis, store) => {
        const ids = someIds(6)
        await create(store, ...ids)
        const token = await tokenOf(store)
        await redis.server.ask('CONFIG SET maxmemory 1')
        await expect(store.create([aTicket('new')])).rejects.toThrow(RedisFull)
        await expect(store.ask('x'.repeat(5000))).rejects.toThrow(RedisFull)
        // These calls must work when Redis is full, because they free memory: players leave, and a new leader begins.
        await store.ask('players have left')
        await store.setInForce(token, 'queues')
        expect(await store.read(['new'])).toEqual([undefined])
        expect(await store.playerTickets(['player of new'])).toEqual([[]])

        expect(await store.renew(token, 60_000)).toBe(true)
        expect(await store.setInForce(token, 'queues')).toMatchObject({ text: 'queues' })
        await store.fence(token)
        await answer(store, token, 'a', ['answer'])
        await assign(store, token, 'm1', ['t0', 't1'])
        const ends = [{ ticketId: 't0', players: ['player of t0'] }]
        expect(await store.commit(token, { hosting: [[{ key: 'm:m1', ends }]] })).toEqual(DONE)
        expect(await store.cancel('t2', ['player of t2'])).toMatchObject({ kind: 'cancelled' })
        expect(await store.commit(token, { headers: [{ ticketId: 't3', header: cancelled(2) }] })).toEqual(DONE)
        expect(await store.sweep(token, 0, 10)).toBe(3)
        await store.release(token)
        await tokenOf(store, 'b')
        expect((await store.loadTickets(undefined)).items).toHaveLength(3)

        await redis.server.ask('CONFIG SET maxmemory 0')
        await create(store, 'new')
      }),
    )
  })

  describe('a partition with a key of another type', () => {
    const KEYS = ['b', 's', 'p', 'in'] as const
    for (const key of KEYS) {
      test(
        `a partition reports a ${key} of another type, and creates nothing in part`,
        broken({}, async (redis, store) => {
          const name = redis.redis.keys('ranked')(key)
          await redis.redis.command(name, ['SETRANGE', name, 0, 'another'])
          const error = await store.create([aTicket('t1')]).catch((error: unknown) => error)
          if (key === 's') return void expect(error).toMatchObject([{ kind: 'created' }])
          expect(error).toBeInstanceOf(RedisWrongType)
          expect((error as Error).message).toMatch(/^partition\.create: a key holds another type: another program/)
          await redis.redis.command(name, ['DEL', name])
          expect(await store.read(['t1'])).toEqual([undefined])
          expect(await store.playerTickets(['player of t1'])).toEqual([[]])
        }),
      )
    }

    test(
      'a Redis key of another type is reported to the leader',
      broken({}, async (redis, store) => {
        await create(store, 't1')
        const token = await tokenOf(store)
        const name = redis.redis.keys('ranked')('s')
        await redis.redis.command(name, ['SETRANGE', name, 0, 'another'])
        const headers = [{ ticketId: 't1', header: matched(2, 'm1') }]
        await expect(store.commit(token, { headers, hosting: [[{ key: 'm:m1', text: 'intent' }]] })).rejects.toThrow(
          RedisWrongType,
        )
        expect((await store.loadHosting(undefined)).items).toEqual([])
        await expect(store.cancel('t1', ['player of t1'])).rejects.toThrow(RedisWrongType)
        await expect(store.read(['t1'])).rejects.toThrow(RedisWrongType)
        expect(await store.playerTickets(['player of t1'])).toEqual([['t1']])
      }),
    )
  })

  describe('a partition whose Redis is killed', () => {
    test(
      'after a kill of Redis a partition has every acknowledged change, if Redis syncs each write to the disk',
      broken({ appendOnly: 'always' }, async (redis, store) => {
        await create(store, 't1', 't2', 't3')
        const token = await tokenOf(store)
        await assign(store, token, 'm1', ['t1', 't2'])
        const inbox = await store.inbox(undefined, NEWS)
        const changes = await store.changes(undefined, 'a', NEWS)
        const { length } = (await store.loadTickets(undefined)).items
        await redis.server.restart()
        expect(await connected(() => store.loadTickets(undefined))).toMatchObject({ items: { length } })
        // The leader continues, because nobody else has taken over.
        const headers = [{ ticketId: 't3', header: matched(2, 'm2') }]
        expect(await store.commit(token, { headers })).toEqual(DONE)
        await create(store, 't4')
        expect(await headerIn(store, 't1')).toBe(assigned(3, 'm1'))
        expect(await connected(() => store.inbox(inbox.cursor, NEWS))).toMatchObject({
          gap: false,
          entries: [{ ticketIds: ['t4'] }],
        })
        expect(await connected(() => store.changes(changes.cursor, 'a', NEWS))).toMatchObject({
          gap: false,
          tickets: [{ ticketId: 't3' }],
        })
      }),
    )

    test(
      'a leader loses its lease if Redis was killed and keeps nothing',
      broken({}, async (redis, store) => {
        await create(store, 't1')
        const token = await tokenOf(store)
        const { cursor: begin } = await store.inbox(undefined, NEWS)
        const { cursor } = await store.inbox(begin, NEWS)
        const waiting = store.inbox(cursor, { blockMs: 20_000 })
        const failed = expect(waiting).rejects.toThrow(RedisDisconnected)
        await redis.server.restart()
        await failed
        const headers = [{ ticketId: 't1', header: matched(2, 'm1') }]
        await expect(connected(() => store.commit(token, { headers }))).rejects.toThrow(LeaseLost)
        expect(await connected(() => store.inbox(cursor, NEWS))).toMatchObject({ gap: true })
        expect(await store.read(['t1'])).toEqual([undefined])
      }),
    )

    test(
      'a request in flight at a kill of Redis fails with an unknown outcome, and a later one fails as "not done"',
      broken({}, async (redis, store) => {
        await create(store, 't1')
        redis.server.pause()
        const cancel = store.cancel('t1', ['player of t1'])
        const unknown = expect(cancel).rejects.toMatchObject({ outcome: 'unknown' })
        await redis.server.kill()
        await unknown
        await expect(store.cancel('t1', ['player of t1'])).rejects.toMatchObject({ outcome: 'not-done' })
      }),
    )
  })

  test(
    'a sweep of a partition removes most old RPC requests, and readers at the end miss nothing',
    broken({}, async ({ redis }, store) => {
      const inbox = redis.keys('ranked')('in')
      for (let number = 1; number <= 20; number += 1) {
        await redis.command(inbox, ['XADD', inbox, `${number}-1`, '?', `old ${number}`])
      }
      const token = await tokenOf(store)
      const { cursor } = await store.inbox(undefined, NEWS)
      await store.sweep(token, 0, 10)
      expect(await redis.command(inbox, ['XLEN', inbox])).toBe(4)
      await store.ask('new')
      await store.sweep(token, 0, 10)
      expect(await redis.command(inbox, ['XLEN', inbox])).toBe(4)
      expect(await store.inbox(cursor, NEWS)).toMatchObject({ gap: false, entries: [{ text: 'new' }] })
      for (const lost of ['5-1', '0-0']) expect(await store.inbox(lost, NEWS)).toMatchObject({ gap: true })
    }),
  )

  test(
    'a call to a partition times out when Redis stalls, and succeeds when Redis continues',
    broken({}, async ({ server, connect }, store) => {
      await create(store, 't1')
      const impatient = await connect({ timeoutMs: 50 })
      const own = createRedisStore({ redis: impatient, name: 'ranked' })
      server.pause()
      await expect(own.cancel('t1', ['player of t1'])).rejects.toThrow(RedisTimedOut)
      server.resume()
      // The command had taken effect although its reply was lost. Repeating it changes nothing.
      expect(await store.cancel('t1', ['player of t1'])).toMatchObject({ kind: 'cancelled' })
      expect(await own.cancel('t1', ['player of t1'])).toMatchObject({ kind: 'cancelled' })
      expect((await store.inbox('0-0', NEWS)).entries.filter(({ kind }) => kind === 'cancelled')).toHaveLength(1)
    }),
  )

  test(
    'a partition keeps fewer long RPC answers than short answers for a process that does not read its answers',
    broken({}, async ({ redis }, store) => {
      const token = await tokenOf(store)
      const key = redis.keys('ranked')('r:a')
      for (let number = 0; number < 30; number += 1) await answer(store, token, 'a', ['x'.repeat(2_000_000)])
      expect(await redis.command(key, ['XLEN', key])).toBeLessThanOrEqual(8)
      const { cursor } = await store.changes(undefined, 'a', NEWS)
      await answer(
        store,
        token,
        'a',
        Array.from({ length: 20 }, (_, number) => `${number}`.padEnd(1_000_000)),
      )
      expect((await store.changes(cursor, 'a', NEWS)).replies).toHaveLength(20)
    }),
  )

  test(
    'a partition loads its scripts again when Redis has forgotten them',
    broken({}, async ({ server }, store) => {
      const ids = someIds(600)
      await create(store, ...ids)
      const token = await tokenOf(store)
      await store.commit(token, { headers: [{ ticketId: 't0', header: matched(2, 'm1') }] })
      await server.ask('SCRIPT FLUSH')
      const headers = ids.map((ticketId) => ({ ticketId, header: matched(3, 'm1') }))
      const hosting = [[{ key: 'm:m1', text: 'intent', requires: ids }]]
      expect(await store.commit(token, { headers, hosting })).toEqual(DONE)
    }),
  )
})

describeRedis('a partition in a Redis with replicas', () => {
  test(
    'a partition waits for replicas on a separate connection, so that a lease is renewed meanwhile',
    broken({}, async ({ redis }) => {
      const store = createRedisStore({ redis, name: 'ranked', replicas: { atLeast: 1, timeoutMs: 1000 } })
      const token = await tokenOf(store)
      const committing = store
        .commit(token, { hosting: [[{ key: 'm:m1', text: 'intent' }]], durable: true })
        .catch((error: unknown) => (error as { readonly code: string }).code)
      while ((await store.loadHosting(undefined)).items.length === 0) await systemClock.sleep(5)
      expect(await Promise.race([store.renew(token, 60_000), committing])).toBe(true)
      expect(await committing).toBe('NOREPLICAS')
      await store.close()
    }),
  )

  test(
    'a durable commit is acknowledged once replicas have it, and not without replicas',
    broken({ settings: ['--repl-diskless-sync-delay', '0'] }, async (redis) => {
      const storeOf = (timeoutMs: number) =>
        createRedisStore({ redis: redis.redis, name: 'ranked', replicas: { atLeast: 1, timeoutMs } })
      const store = storeOf(20)
      await create(store, 't1')
      const token = await tokenOf(store)
      const commit = { headers: [{ ticketId: 't1', header: matched(2, 'm1') }], durable: true }
      await expect(store.commit(token, commit)).rejects.toMatchObject({ code: 'NOREPLICAS', outcome: 'unknown' })
      expect(await headerIn(store, 't1')).toBe(matched(2, 'm1'))
      const server = await startRedisServer({ replicaOf: redis.server.port })
      try {
        while (!(await redis.server.ask('INFO replication')).includes('state=online')) await systemClock.sleep(20)
        expect(await storeOf(4000).commit(token, commit)).toEqual(DONE)
        expect(await server.ask('HLEN mu:{ranked}:s')).toContain(':1')
      } finally {
        await server.close()
      }
    }),
  )
})
