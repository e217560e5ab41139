import { afterEach, beforeEach, expect, test } from 'vitest'
import { describeRedis, eventually, openRedis, type RedisUnderTest } from '../redis.fixture.js'
import { createRedisEventStore, type RedisEventStore } from './event-store.js'

describeRedis('an event store in Redis', () => {
  let it: RedisUnderTest
  let stores: RedisEventStore[]
  beforeEach(async () => {
    it = await openRedis({ appendOnly: 'always' })
    stores = []
  })
  afterEach(async () => {
    for (const store of stores) await store.close()
    await it.close()
  })

  /** Opens the store of another process, and records what it has read. */
  const open = (options: { readonly keepMs?: number; readonly mostBytes?: number } = {}) => {
    const store = createRedisEventStore({ redis: it.redis, ...options })
    stores.push(store)
    const seen: string[] = []
    const followed = store.follow((texts) => void seen.push(...texts))
    return { store, seen, followed }
  }

  test('an event store delivers all events of all processes to a process, even events before its start', async () => {
    const one = open()
    await one.followed
    await one.store.append(['a', 'b'])
    const other = open()
    await other.followed
    expect(other.seen).toEqual(['a', 'b'])
    await other.store.append(['c'])
    for (const { seen } of [one, other]) await eventually(() => seen).toEqual(['a', 'b', 'c'])
  })

  test('an event store keeps events when its connections are killed, and continues', async () => {
    const { store, seen } = open()
    await store.append(['a'])
    await eventually(() => seen).toEqual(['a'])
    await it.server.ask('CLIENT KILL TYPE normal')
    await eventually(() =>
      store.append(['b']).then(
        () => true,
        () => false,
      ),
    ).toBe(true)
    await eventually(() => seen.filter((text) => text === 'b').length).toBeGreaterThan(0)
    expect(seen[0]).toBe('a')
  })

  test('an event store continues after Redis has lost its data and its clock was set back by a day', async () => {
    const key = it.redis.keys('events.main')('stream')
    await it.server.ask(`XADD ${key} ${Date.now() + 86_400_000}-0 e before`)
    const { store, seen } = open()
    await eventually(() => seen).toEqual(['before'])
    await it.server.ask('FLUSHALL')
    await store.append(['a'])
    await eventually(() => seen).toEqual(['before', 'a'])
    await store.append(['b'])
    await eventually(() => seen).toEqual(['before', 'a', 'b'])
    const late = open()
    await late.followed
    expect(late.seen).toEqual(['a', 'b'])
  })

  test('an event store keeps the newest events, up to mostBytes', async () => {
    const { store, seen } = open({ mostBytes: 100_000 })
    const text = (index: number) => `${index}`.padStart(1000, '.')
    for (let index = 0; index < 1000; index += 10) {
      await store.append(Array.from({ length: 10 }, (_, more) => text(index + more)))
      if (index % 100 === 0) await eventually(() => seen.length).toBe(index + 10)
    }
    await eventually(() => seen.length).toBe(1000)
    await store.append([text(1000)])
    const late = open()
    await late.followed
    expect(late.seen.at(-1)).toBe(text(1000))
    expect(late.seen.length).toBeGreaterThan(20)
    // Each append trims by the length before it, and Redis trims whole nodes only.
    expect(late.seen.length).toBeLessThan(130)
  })

  test('an event store keeps no event longer than its maximum age', async () => {
    const { store, seen } = open({ keepMs: 1000 })
    await store.append(['x'.repeat(5000)])
    await eventually(() => seen.length).toBe(1)
    await new Promise((resolve) => setTimeout(resolve, 1200))
    await store.append(['y'.repeat(5000)])
    await eventually(() => seen.length).toBe(2)
    await store.append(['z'.repeat(5000)])
    const late = open()
    await late.followed
    expect(late.seen.map(([letter]) => letter)).toEqual(['y', 'z'])
  })

  test('an event store resolves its waiters when it is closed', async () => {
    const { store, followed } = open()
    await store.close()
    await expect(followed).resolves.toBeUndefined()
    await expect(store.close()).resolves.toBeUndefined()
  })

  test.each([
    [{ mostBytes: 1 }, /mostBytes/],
    [{ keepMs: 0 }, /keepMs/],
  ])('the event store refuses %j by name', (options, field) => {
    expect(() => createRedisEventStore({ redis: it.redis, ...options })).toThrow(field)
  })
})
