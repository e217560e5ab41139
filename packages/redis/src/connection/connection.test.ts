import { systemClock } from '@muster/core/clock'
import { type RedisServer, startRedisServer } from '@muster/redis-server'
import { ClientClosedError, createClient, createClientPool, createCluster } from '@redis/client'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { openGate } from '../gate.fixture.js'
import { describeRedis, eventually, openRedis, type RedisUnderTest } from '../redis.fixture.js'
import type { RedisClient } from './client.js'
import { connectRedis } from './connect.js'
import {
  RedisCrossSlot,
  RedisDisconnected,
  RedisError,
  RedisFull,
  RedisNotPermitted,
  RedisReadOnly,
  RedisTimedOut,
  RedisTooOld,
  RedisWrongType,
} from './connection-errors.js'
import { openFakeRedis } from './fake-redis.fixture.js'
import { defineScript } from './script.js'

const put = defineScript({
  name: 'test.put',
  lua: `redis.call('SET', KEYS[1], ARGV[1]) return redis.call('STRLEN', KEYS[1])`,
  read: Number,
})
const size = defineScript({
  name: 'test.size',
  lua: `return redis.call('STRLEN', KEYS[1])`,
  kind: 'read',
  read: Number,
})
const move = defineScript({
  name: 'test.move',
  lua: `redis.call('SET', KEYS[1], redis.call('GET', KEYS[2]) or '') return 1`,
  read: Number,
})
const refuse = defineScript({ name: 'test.refuse', lua: `return redis.error_reply('FENCED by another')`, read: Number })

/** Resolves with the port at which other nodes of a cluster reach this one. */
const busPortOf = async ({ ask }: Pick<RedisServer, 'ask'>) => /@(\d+)/.exec(await ask('CLUSTER NODES'))?.[1] ?? ''

/** Resolves with the error of a command. */
const failure = (command: Promise<unknown>): Promise<Error> =>
  command.then(
    () => {
      throw new Error('it did not fail')
    },
    (error: Error) => error,
  )

describeRedis('a connection to Redis', () => {
  let it: RedisUnderTest
  let key: string
  beforeAll(async () => {
    it = await openRedis()
    key = it.redis.keys('test')('key')
  })
  afterAll(() => it.close())

  test('a Redis connection runs scripts, even after Redis has forgotten them', async () => {
    expect(key).toBe('mu:{test}:key')
    expect(await it.redis.run(put, [key], ['abc'])).toBe(3)
    await it.server.ask('SCRIPT FLUSH')
    expect(await Promise.all([it.redis.run(put, [key], [12345]), it.redis.run(size, [key], [])])).toEqual([5, 5])
    expect(await it.redis.command(key, ['GET', key])).toBe('12345')
    expect(await it.redis.command(key, ['GET', `${key}-none`])).toBeNull()
    expect(it.redis.version).toMatch(/^\d+\.\d+/)
  })

  test('a Redis connection fails with the error code that a script returns', async () => {
    const error = await failure(it.redis.run(refuse, [key], []))
    expect(error).toBeInstanceOf(RedisError)
    expect(error).toMatchObject({ code: 'FENCED', outcome: 'not-done' })
  })

  test('errors of a Redis connection show no key and no value', async () => {
    await it.redis.command(key, ['DEL', key])
    await it.redis.command(key, ['RPUSH', key, 'x'])
    const wrong = await failure(it.redis.run(size, [key], ['s3cret']))
    expect(wrong).toBeInstanceOf(RedisWrongType)
    const unknown = await failure(it.redis.command(key, ['NO-SUCH', 's3cret', "a'quote", 's3cret']))
    expect(unknown).toMatchObject({ code: 'ERR', outcome: 'not-done' })
    for (const error of [wrong, unknown])
      expect(JSON.stringify([error, error.message, String(error.cause)])).not.toMatch(/s3cret|quote|mu:/)
    await it.redis.command(key, ['DEL', key])
  })

  test('after a long pause of Redis, one connection remains, and each command gets its own reply', async () => {
    const { server, connect, close } = await openRedis()
    const redis = await connect({ timeoutMs: 100 })
    const problems: unknown[] = []
    redis.events.on('problem', ({ error }) => problems.push(error))
    const echo = (text: string) => redis.command(key, ['ECHO', text]).catch(() => undefined)
    const connections = async () => Number(/connected_clients:(\d+)/.exec(await server.ask('INFO clients'))?.[1])
    const before = await connections()
    await server.ask('CLIENT PAUSE 1500 ALL')
    expect(await echo('silence')).toBeUndefined()
    await eventually(() => echo('again')).toBe('again')
    const texts = Array.from({ length: 100 }, (_, index) => `${index}`)
    expect(await Promise.all(texts.map(echo))).toEqual(texts)
    await eventually(connections).toBe(before)
    expect(problems.filter((error) => error instanceof TypeError)).toEqual([])
    await close()
  })

  test('a connection that is closed while it looks for the new primary stops at once', async () => {
    const { server, close } = await openRedis()
    const gate = await openGate(server.port)
    const client = { url: gate.url, socket: { reconnectStrategy: 20 } }
    const redis = await connectRedis({ client })
    const problems: unknown[] = []
    redis.events.on('problem', (problem) => problems.push(problem))
    await server.ask('REPLICAOF 127.0.0.1 1')
    gate.turnTo(1)
    expect(await failure(redis.command(key, ['SET', key, 'x']))).toBeInstanceOf(RedisReadOnly)
    await eventually(() => problems.length).toBeGreaterThan(1)
    expect(await redis.command(key, ['ECHO', 'reads continue'])).toBe('reads continue')
    await redis.close()
    const before = problems.length
    await systemClock.sleep(200)
    expect(problems).toHaveLength(before)
    await gate.close()
    await close()
  })

  test('the duplicate of a version 5 client, whose destroy may throw, continues after a failed reconnect', async () => {
    const { server, close } = await openRedis()
    const gate = await openGate(server.port)
    let destroyed = 0
    const asVersion5 = (one: RedisClient): RedisClient => {
      const [destroy, duplicate] = [one.destroy.bind(one), one.duplicate.bind(one)]
      return Object.assign(one, {
        duplicate: () => asVersion5(duplicate()),
        destroy: () => {
          destroyed += 1
          if (!one.isOpen) throw new ClientClosedError()
          return destroy()
        },
      })
    }
    const client = createClient({ url: gate.url, socket: { reconnectStrategy: false } })
    await client.connect()
    const redis = await connectRedis({ client: asVersion5(client as unknown as RedisClient) as typeof client })
    const copy = await redis.duplicate()
    await server.ask('REPLICAOF 127.0.0.1 1')
    gate.turnTo(1)
    expect(await failure(copy.command(key, ['SET', key, 'x']))).toBeInstanceOf(RedisReadOnly)
    await eventually(() => destroyed).toBe(1)
    expect(await copy.command(key, ['ECHO', 'reads continue'])).toBe('reads continue')
    await copy.close()
    copy.destroy()
    await redis.close()
    await client.close()
    await gate.close()
    await close()
  })

  test('closing a Redis connection leaves a given client open that was open before', async () => {
    const client = createClient({ url: it.server.url })
    await client.connect()
    const redis = await it.connect({ client, prefix: 'other' })
    expect(redis.keys('test')('key')).toBe('other:{test}:key')
    expect(await redis.run(put, [redis.keys('test')('key')], ['x'])).toBe(1)
    await redis.close()
    expect(await client.get('other:{test}:key')).toBe('x')
    await client.close()
  })

  test('a Redis connection can be duplicated for blocking commands', async () => {
    const copy = await it.redis.duplicate()
    const blocked = copy.command(key, ['BLPOP', `${key}-list`, 0], 60_000)
    expect(await it.redis.run(put, [key], ['x'])).toBe(1)
    await it.redis.command(key, ['RPUSH', `${key}-list`, 'y'])
    expect(await blocked).toEqual([`${key}-list`, 'y'])
    await copy.close()
  })

  test('connectRedis refuses wrong options, naming them', async () => {
    for (const [wrong, message] of [
      [{ prefix: 'a{b' }, /prefix/],
      [{ timeoutMs: 0 }, /timeoutMs/],
      [{ client: 'redis://127.0.0.1' }, /client/],
      [{ url: 'redis://:s3cret@127.0.0.1' }, /url/],
      [{ client: { url: 'redis://:s3cret@host:port' } }, /client: url is not a valid URL/],
      [{ client: { url: 'http://:s3cret@host' } }, /client: .*http:.*redis: or rediss:/],
      [{ client: createClientPool({ url: 'redis://:s3cret@127.0.0.1' }) }, /client must be options of createClient/],
    ] as const) {
      const error = await failure(connectRedis({ client: {}, ...wrong } as never))
      expect(error.message).toMatch(message)
      expect(error.message).not.toContain('s3cret')
    }
  })
})

describeRedis('a connection to a failing Redis', () => {
  test('a full Redis stores nothing but can still be read', async () => {
    const it = await openRedis({ maxMemory: '1' })
    const key = it.redis.keys('test')('key')
    expect(await failure(it.redis.run(put, [key], ['x']))).toBeInstanceOf(RedisFull)
    expect(await it.redis.run(size, [key], [])).toBe(0)
    await it.close()
  })

  test('connecting to a Redis replica, and every write to it, fails with RedisReadOnly', async () => {
    const it = await openRedis()
    const key = it.redis.keys('test')('key')
    await it.server.ask(`REPLICAOF 127.0.0.1 ${it.server.port}`)
    expect(await failure(it.redis.run(put, [key], ['x']))).toBeInstanceOf(RedisReadOnly)
    expect(await failure(it.connect())).toBeInstanceOf(RedisReadOnly)
    await it.close()
  })

  test('if Redis refuses the user, connecting fails with an error that does not show the password', async () => {
    const it = await openRedis({ settings: ['--user', 'muster', 'on', '>right', '~mu:*', '+@all', '-@dangerous'] })
    const url = it.server.url.replace('//', '//muster:wr0ng@')
    const error = await failure(it.connect({ client: { url } }))
    expect(error).toBeInstanceOf(RedisNotPermitted)
    expect(JSON.stringify([error, error.message, String(error.cause)])).not.toContain('wr0ng')
    const redis = await it.connect({ client: { url: url.replace('wr0ng', 'right') } })
    expect(await redis.run(put, [redis.keys('test')('key')], ['x'])).toBe(1)
    expect(await failure(redis.run(put, ['elsewhere'], ['x']))).toBeInstanceOf(RedisNotPermitted)
    await it.close()
  })

  test('a command in flight at a kill of Redis has an unknown outcome, and a later one waits for Redis', async () => {
    const it = await openRedis({ appendOnly: 'always' })
    const key = it.redis.keys('test')('key')
    await it.redis.run(put, [key], ['before'])
    it.server.pause()
    const open = failure(it.redis.run(put, [key], ['during']))
    await new Promise((resolve) => setImmediate(() => setImmediate(resolve)))
    await it.server.kill()
    expect(await open).toMatchObject({ name: 'RedisDisconnected', outcome: 'unknown' })
    const later = await failure(it.redis.run(put, [key], ['later']))
    expect(later).toBeInstanceOf(RedisDisconnected)
    expect(later).toMatchObject({ outcome: 'not-done' })
    await it.server.restart()
    await eventually(() => it.redis.run(size, [key], []).catch(() => undefined)).toBe(6)
    await it.close()
  })

  test('a Redis command without an answer in time has an unknown outcome', async () => {
    const it = await openRedis()
    const redis = await it.connect({ timeoutMs: 100 })
    await redis.run(put, [redis.keys('test')('key')], ['x'])
    it.server.pause()
    expect(await failure(redis.run(put, [redis.keys('test')('key')], ['in the end']))).toBeInstanceOf(RedisTimedOut)
    expect(await failure(it.connect({ connectTimeoutMs: 100 }))).toBeInstanceOf(RedisDisconnected)
    it.server.resume()
    const sizeNow = () => redis.run(size, [redis.keys('test')('key')], []).catch(() => 0)
    await eventually(sizeNow).toBeGreaterThan(0)
    expect([1, 10]).toContain(await sizeNow())
    await it.close()
  })

  test.each(['a single Redis', 'a Redis cluster'])('a connection to %s that froze is opened again', async (kind) => {
    const cluster = kind === 'a Redis cluster'
    const it = await openRedis({ cluster })
    const gate = await openGate(it.server.port)
    const nodeAddressMap = () => ({ host: '127.0.0.1', port: Number(new URL(gate.url).port) })
    const client = cluster ? createCluster({ rootNodes: [{ url: gate.url }], nodeAddressMap }) : { url: gate.url }
    const redis = await it.connect({ client, timeoutMs: 200 })
    const key = redis.keys('test')('key')
    expect(await redis.run(put, [key], ['abc'])).toBe(3)
    gate.freeze()
    expect(await failure(redis.run(size, [key], []))).toMatchObject({ code: 'TIMEOUT', outcome: 'unknown' })
    await eventually(() => redis.run(size, [key], []).catch(() => undefined)).toBe(3)
    await redis.close()
    await gate.close()
    await it.close()
  })

  test('connecting to a Redis that does not exist fails with the reason', async () => {
    const it = await openRedis()
    await it.server.kill()
    const error = await failure(connectRedis({ client: { url: it.server.url }, connectTimeoutMs: 100 }))
    expect(error).toBeInstanceOf(RedisDisconnected)
    expect(error.message).toMatch(/ECONNREFUSED/)
    await it.close()
  })

  test('a connection by the URL of a cluster node reaches the keys of all nodes', async () => {
    const [one, two] = await Promise.all([startRedisServer({ cluster: true }), startRedisServer({ cluster: true })])
    // The second node takes over the upper half of the slots.
    await two.ask('CLUSTER FLUSHSLOTS')
    await one.ask(`CLUSTER MEET 127.0.0.1 ${two.port} ${await busPortOf(two)}`)
    await one.ask('CLUSTER DELSLOTSRANGE 8192 16383')
    await two.ask('CLUSTER ADDSLOTSRANGE 8192 16383')
    for (const { ask } of [one, two])
      await expect.poll(() => ask('CLUSTER INFO'), { interval: 20, timeout: 15_000 }).toMatch(/state:ok[^]*_ok:16384/)
    const redis = await connectRedis({ client: { url: one.url } })
    const copy = await redis.duplicate()
    for (const tag of ['a', 'b', 'c', 'd', 'e', 'f']) {
      const at = redis.keys(tag)('key')
      expect(await redis.run(put, [at], [tag])).toBe(1)
      expect(await copy.command(at, ['GET', at])).toBe(tag)
    }
    const sizes = await Promise.all([one, two].map(async ({ ask }) => Number((await ask('DBSIZE')).slice(1))))
    expect(sizes.every((found) => found > 0)).toBe(true)
    await copy.close()
    await redis.close()
    await Promise.all([one.close(), two.close()])
  })

  test('a Redis cluster of one node refuses scripts with keys in two slots', async () => {
    const it = await openRedis({ cluster: true })
    const { redis } = it
    const [one, two] = [redis.keys('one')('key'), redis.keys('two')('key')]
    expect(await redis.run(put, [one], ['abc'])).toBe(3)
    expect(await redis.run(move, [redis.keys('one')('copy'), one], [])).toBe(1)
    expect(await failure(redis.run(move, [two, one], []))).toBeInstanceOf(RedisCrossSlot)
    const copy = await redis.duplicate()
    expect(await copy.command(one, ['GET', redis.keys('one')('copy')])).toBe('abc')
    await copy.close()
    await it.close()
  })
})

describe('a Redis that is too old', () => {
  test.each([
    [
      '6.2.14',
      (words: readonly string[]) =>
        words[0] === 'EVAL' ? '*4\r\n$6\r\n6.2.14\r\n$6\r\nmaster\r\n$1\r\n0\r\n$10\r\nnoeviction\r\n' : '+OK\r\n',
    ],
    [
      'before 6.0',
      (words: readonly string[]) =>
        words[0] === 'HELLO' ? '-ERR unknown command `HELLO`, with args beginning with: `3`, \r\n' : '+OK\r\n',
    ],
  ])('connectRedis refuses a Redis that is too old, naming its version: %s', async (version, answer) => {
    const fake = await openFakeRedis((words) =>
      words[0] === 'HELLO' && version !== 'before 6.0' ? '%1\r\n+proto\r\n:3\r\n' : answer(words),
    )
    const error = await failure(connectRedis({ client: { url: fake.url } }))
    await fake.close()
    expect(error).toBeInstanceOf(RedisTooOld)
    expect(error.message).toBe(`connectRedis: Redis 7.0 or later is required, got ${version}.`)
  })
})
