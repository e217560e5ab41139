import { createManualClock, systemClock } from '@muster/core/clock'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { describeRedis, eventually, openRedis, type RedisUnderTest } from '../redis.fixture.js'
import { ClockDiffers, PartitionNewer } from './partition-errors.js'
import type { Partition } from './partition.js'
import { createRedisPartition, type RedisPartitionOptions } from './redis-partition.js'
import { partitionKeys } from './store/index.js'
import { duel, FakeService } from './world.fixture.js'

const deployments = new FakeService(createManualClock())
const redis = { run: () => {} } as never

test.each([
  [{ redis: undefined }, 'redis', 'createRedisPartition: option redis must be a connection made by connectRedis'],
  [{ name: 'e u' }, 'name', 'createRedisPartition: option name must be 1 to 32 of'],
  [{ leaseMs: 5 }, 'leaseMs', 'createRedisPartition: option leaseMs'],
  [{ store: {} }, 'store', 'must not be given: tickets and servers are in Redis'],
  [{ queues: [] }, 'queues', 'queues: must be a list of at least one queue'],
  [{ tickMs: 0 }, 'tickMs', 'tickMs'],
  [{ tikMs: 5 }, 'tikMs', 'did you mean tickMs?'],
])('createRedisPartition refuses %j', (changes, field, message) => {
  const options = { redis, name: 'eu', queues: [duel], deployments, ...changes } as unknown as RedisPartitionOptions
  expect(() => createRedisPartition(options)).toThrow(expect.objectContaining({ name: 'InvalidInput', field }))
  expect(() => createRedisPartition(options)).toThrow(message)
})

describeRedis('a partition in Redis', () => {
  let server: RedisUnderTest
  beforeAll(async () => {
    server = await openRedis()
  })
  afterAll(() => server.close())

  test('a partition matches tickets of several processes, and continues when its leader leaves', async () => {
    const service = new FakeService(systemClock, 0)
    const join = async () => {
      const partition = createRedisPartition({
        redis: await server.connect(),
        name: 'eu',
        queues: [duel],
        deployments: service,
        tickMs: 20,
      })
      partition.on('problem', ({ error }) => problems.push(error))
      partition.start()
      return partition
    }
    const problems: unknown[] = []
    const [first, second] = [await join(), await join()]
    const ticket = (id: string) => ({ id, queue: 'duel', players: [{ id, ip: '192.0.2.1' }] })
    const assigned = async (partition: Partition, id: string) => {
      let found = await partition.getTicket(id)
      while (found !== undefined && found.status !== 'HOST_ASSIGNED')
        found = await partition.waitForChange(id, { version: found.version })
      return found?.assignment?.fqdn
    }
    await first.createTicket(ticket('ann'))
    await second.createTicket(ticket('bob'))
    expect(await Promise.all([first, second].map((each) => assigned(each, 'ann')))).toEqual([
      'r1.example.com',
      'r1.example.com',
    ])
    const [leader, other] = first.leads() ? [first, second] : [second, first]
    await leader.close()
    await other.createTicket(ticket('eve'))
    await other.createTicket(ticket('joe'))
    expect(await assigned(other, 'eve')).toBe('r2.example.com')
    expect(service.running()).toHaveLength(2)
    expect(problems).toEqual([])
    await other.close()
  })

  test('after a changed name, a problem names the former partition while it has servers and no leader', async () => {
    const connection = await server.connect()
    const { hosting, lease } = partitionKeys(connection.keys('partition.former'))
    const started = async (name: string) => {
      const clock = createManualClock()
      const problems: string[] = []
      const partition = createRedisPartition({ redis: connection, name, queues: [duel], deployments, clock })
      partition.on('problem', ({ error }) => {
        if (!(error instanceof ClockDiffers)) problems.push(String(error))
      })
      partition.start()
      await eventually(partition.leads).toBe(true)
      await clock.advance(30_000)
      return { partition, problems }
    }
    const about = `MusterError: Partition "former" in the same Redis still has servers or matches`
    const former = await started('former')
    await former.partition.close()
    await connection.command(hosting, ['HSET', hosting, 's:a', '{}'])

    const renamed = await started('renamed')
    await eventually(() => renamed.problems).toEqual([expect.stringContaining(about)])
    expect(renamed.problems[0]).toContain('nothing stops the servers with the tag mm-former')
    await renamed.partition.close()

    // Another program leads it, so it is not abandoned.
    await connection.command(lease, ['SET', lease, '1'])
    const other = await started('renamed')
    await other.partition.close()
    expect(other.problems).toEqual([])
  })

  test('a partition of a later format version is left untouched, even if it is upgraded meanwhile', async () => {
    const problems: unknown[] = []
    const join = async () => {
      const connection = await server.connect()
      const partition = createRedisPartition({ redis: connection, name: 'later', queues: [duel], deployments })
      partition.on('problem', ({ error }) => problems.push(error))
      partition.start()
      const key = connection.keys('partition.later')('q')
      return { partition, hash: (name: string, ...words: string[]) => connection.command(key, [name, key, ...words]) }
    }
    const hasRefused = () => problems.some((error) => error instanceof PartitionNewer)

    const leader = await join()
    await eventually(leader.partition.leads).toBe(true)
    expect(await leader.hash('HGET', 'format')).toBe('2')
    const follower = await join()
    await leader.hash('HSET', 'format', '3')
    await leader.partition.close()
    await eventually(hasRefused).toBe(true)
    expect(follower.partition.leads()).toBe(false)
    await expect(follower.partition.queuesInForce()).rejects.toThrow('has format 3, of a later version of Muster')

    problems.length = 0
    const late = await join()
    await eventually(hasRefused).toBe(true)
    expect(late.partition.leads()).toBe(false)
    expect(await leader.hash('HGET', 'format')).toBe('3')
    await Promise.all([follower.partition.close(), late.partition.close()])
  })
})
