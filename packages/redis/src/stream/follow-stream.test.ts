import { afterEach, beforeEach, expect, test } from 'vitest'
import type { RedisConnection, RedisProblem } from '../connection/connection.js'
import { openGate } from '../gate.fixture.js'
import { describeRedis, eventually, openRedis, type RedisUnderTest } from '../redis.fixture.js'
import { type Entries, followStream, type StreamFollower } from './follow-stream.js'

describeRedis('a follower of a stream', () => {
  let it: RedisUnderTest
  let key: string
  let followers: StreamFollower[]
  beforeEach(async () => {
    it = await openRedis({ appendOnly: 'always' })
    key = it.redis.keys('test')('stream')
    followers = []
  })
  afterEach(async () => {
    for (const follower of followers) follower.close()
    await it.close()
  })

  const add = (...values: readonly string[]) =>
    Promise.all(values.map((value) => it.redis.command(key, ['XADD', key, '*', 'value', value])))
  const cut = () => it.server.ask('CLIENT KILL TYPE normal')
  /** Follows the stream from its beginning. */
  const follow = async (redis: RedisConnection = it.redis) => {
    const seen: string[] = []
    const problems: RedisProblem[] = []
    let gaps = 0
    redis.events.on('problem', (problem) => problem.during === 'stream' && problems.push(problem))
    const onEntries = (entries: Entries) => void seen.push(...entries.map(([, value]) => value))
    followers.push(followStream({ redis, key, onEntries, onGap: () => (gaps += 1) }))
    await eventually(() => gaps).toBe(1)
    return { seen, problems, gaps: () => gaps }
  }

  test.each([2, 3] as const)('a stream follower gets new entries in order, by RESP %d', async (RESP) => {
    await add('before')
    const { seen, gaps } = await follow(await it.connect({ client: { url: it.server.url, RESP } }))
    await add('a', 'b')
    await add('c')
    await eventually(() => seen).toEqual(['a', 'b', 'c'])
    expect(gaps()).toBe(1)
  })

  test('a stream follower continues after a reconnect without losing or repeating entries', async () => {
    const { seen, gaps, problems } = await follow()
    await add('a')
    await eventually(() => seen).toEqual(['a'])
    await cut()
    await eventually(() =>
      add('b', 'c').then(
        () => true,
        () => false,
      ),
    ).toBe(true)
    await eventually(() => seen).toEqual(['a', 'b', 'c'])
    expect(gaps()).toBe(1)
    expect(problems).toHaveLength(1)
  })

  test('a stream follower continues after Redis was killed and has its data again', async () => {
    const { seen, gaps } = await follow()
    await add('a')
    await eventually(() => seen).toEqual(['a'])
    await it.server.kill()
    await it.server.restart()
    await eventually(() =>
      add('b').then(
        () => true,
        () => false,
      ),
    ).toBe(true)
    await eventually(() => seen).toEqual(['a', 'b'])
    expect(gaps()).toBe(1)
  })

  test('a stream follower reports a gap only if the stream was trimmed while it was disconnected', async () => {
    const gate = await openGate(it.server.port)
    const client = { url: gate.url, socket: { reconnectStrategy: 20 } }
    const { seen, gaps } = await follow(await it.connect({ client }))
    await add('a')
    await eventually(() => seen).toEqual(['a'])
    gate.shut()
    await add('b', 'c')
    gate.open()
    await eventually(() => seen).toEqual(['a', 'b', 'c'])
    expect(gaps()).toBe(1)
    gate.shut()
    await add('d', 'e')
    await it.redis.command(key, ['XTRIM', key, 'MAXLEN', 1])
    gate.open()
    await eventually(gaps).toBe(2)
    await add('f')
    await eventually(() => seen).toEqual(['a', 'b', 'c', 'f'])
    await gate.close()
  })

  test('a stream follower reports a gap if Redis was restarted empty, even if it had no entry before', async () => {
    await it.close()
    it = await openRedis()
    const { seen, gaps } = await follow()
    // A reader that has not started yet misses nothing.
    await eventually(() => it.redis.command(key, ['INFO', 'clients'])).toMatch('blocked_clients:1')
    await it.server.kill()
    await it.server.restart()
    await eventually(gaps).toBe(2)
    await add('a')
    await eventually(() => seen.length).toBe(1)
    expect(seen).toEqual(['a'])
  })

  test('a stream follower reports a gap if Redis has lost entries, and follows later entries', async () => {
    const { seen, gaps } = await follow()
    await it.redis.command(key, ['XADD', key, '99999999999999-0', 'value', 'late'])
    await eventually(() => seen).toEqual(['late'])
    await it.redis.command(key, ['DEL', key])
    await eventually(gaps).toBe(2)
    await add('a')
    await eventually(() => seen.length).toBe(2)
    expect(seen).toEqual(['late', 'a'])
  })

  test('a stream follower reports a key of another type once, and follows again when the key is gone', async () => {
    await it.redis.command(key, ['SET', key, 'x'])
    const problems: RedisProblem[] = []
    it.redis.events.on('problem', (problem) => problems.push(problem))
    let gaps = 0
    followers.push(followStream({ redis: it.redis, key, onEntries: () => {}, onGap: () => (gaps += 1) }))
    await eventually(() => problems).toHaveLength(1)
    expect(problems[0]).toMatchObject({ during: 'stream', error: { name: 'RedisWrongType' } })
    await it.redis.command(key, ['DEL', key])
    await eventually(() => gaps).toBe(1)
    expect(problems).toHaveLength(1)
  })

  test('a closed stream follower calls nothing', async () => {
    const { seen, gaps, problems } = await follow()
    followers[0]?.close()
    await add('a')
    await cut()
    await eventually(() =>
      add('b').then(
        () => true,
        () => false,
      ),
    ).toBe(true)
    expect({ seen, gaps: gaps(), problems }).toEqual({ seen: [], gaps: 1, problems: [] })
  })
})
