import { systemClock } from '@muster/core/clock'
import { type RedisServer, startRedisServer } from '@muster/redis-server'
import { expect, test } from 'vitest'
import { openGate } from '../gate.fixture.js'
import { describeRedis, eventually, openRedis } from '../redis.fixture.js'
import type { RedisOptions } from '../connection/connect.js'
import { RedisWrongType } from '../connection/connection-errors.js'
import { defineScript } from '../connection/script.js'
import { PartitionUnavailable, RecordsVanished } from './partition-errors.js'
import type { Partition } from './partition.js'
import { createRedisPartition, type RedisPartitionOptions } from './redis-partition.js'
import { duel, FakeService } from './world.fixture.js'

type Given = Parameters<typeof openRedis>[0]

/** Runs a test with its own Redis and with processes of one partition, which are closed at its end. */
const using = (given: Given, check: (use: Awaited<ReturnType<typeof begin>>) => Promise<void>) => async () => {
  const use = await begin(given)
  try {
    await check(use)
  } finally {
    await use.close()
  }
}

async function begin(given: Given) {
  const redis = await openRedis(given)
  const service = new FakeService(systemClock, 50)
  const processes: Partition[] = []
  const problems: unknown[] = []
  const join = async (client: Partial<RedisOptions> = {}, options: Partial<RedisPartitionOptions> = {}) => {
    const own = { name: 'eu', queues: [duel], deployments: service, tickMs: 20, leaseMs: 400, ...options }
    const partition = createRedisPartition({ redis: await redis.connect(client), ...own })
    partition.on('problem', ({ error }) => problems.push(error))
    partition.start()
    processes.push(partition)
    return partition
  }
  const status = async (partition: Partition, id: string) => {
    const ticket = await partition.getTicket(id).catch(() => undefined)
    return ticket?.status
  }
  const expectStatus = async (partition: Partition, id: string, wanted: string | undefined) => {
    await expect.poll(() => status(partition, id), { interval: 20 }).toBe(wanted)
  }
  const ticket = (id: string) => ({ id, queue: 'duel', players: [{ id, ip: '192.0.2.1' }] })
  const close = async () => {
    await Promise.all(processes.map((one) => one.close()))
    await redis.close()
  }
  return { redis, service, problems, join, status, expectStatus, ticket, close }
}

interface Replicated extends Awaited<ReturnType<typeof begin>> {
  readonly replica: RedisServer
  /** The address by which the process reaches Redis. */
  readonly gate: Awaited<ReturnType<typeof openGate>>
  readonly only: Partition
}

/** Runs a test with a replica, and with one process that has sent ann and bob to a server, as the replica knows. */
const withReplica = (check: (use: Replicated) => Promise<void>) =>
  using({ settings: ['--repl-diskless-sync-delay', '0'] }, async (use) => {
    const { server } = use.redis
    const replica = await startRedisServer({ replicaOf: server.port })
    const gate = await openGate(server.port)
    try {
      while (!(await server.ask('INFO replication')).includes('state=online')) await systemClock.sleep(20)
      const client = { client: { url: gate.url, socket: { reconnectStrategy: 20 } } }
      const only = await use.join(client, { replicas: { atLeast: 1, timeoutMs: 2000 } })
      await eventually(() => only.leads()).toBe(true)
      for (const id of ['ann', 'bob']) await only.createTicket(use.ticket(id))
      await use.expectStatus(only, 'bob', 'HOST_ASSIGNED')
      await check({ ...use, replica, gate, only })
    } finally {
      await gate.close()
      await replica.close()
    }
  })

describeRedis('a partition', () => {
  test.each(['one client', 'a cluster client'])(
    'in a Redis cluster of one node, by %s, a partition matches tickets, answers RPC requests and is taken over',
    async (kind) =>
      using({ cluster: true }, async ({ redis, service, join, expectStatus, ticket }) => {
        const client = () => (kind === 'one client' ? { client: { url: redis.server.url } } : {})
        const [first, second] = [await join(client()), await join(client())]
        await eventually(() => first.leads() || second.leads()).toBe(true)
        const [leader, other] = first.leads() ? [first, second] : [second, first]
        for (const id of ['ann', 'bob']) await other.createTicket(ticket(id))
        await expectStatus(other, 'bob', 'HOST_ASSIGNED')
        await other.createTicket(ticket('eve'))
        await eventually(() => other.explain('eve').catch(() => undefined)).toMatchObject({ ticketId: 'eve' })
        await other.cancelTicket('eve')
        const { matchId = '' } = (await other.getTicket('ann')) ?? {}
        await other.stopMatch(matchId)
        expect(service.running()).toEqual([])
        await leader.close()
        for (const id of ['joe', 'kim']) await other.createTicket(ticket(id))
        await expectStatus(other, 'kim', 'HOST_ASSIGNED')
      })(),
  )

  test(
    'a partition matches queued tickets and stops matches in a full Redis, even under a new leader',
    using({}, async ({ redis, service, join, expectStatus, ticket }) => {
      const leader = await join()
      await eventually(() => leader.leads()).toBe(true)
      const other = await join()
      for (const id of ['ann', 'bob']) await other.createTicket(ticket(id))
      await expectStatus(other, 'bob', 'HOST_ASSIGNED')
      for (const id of ['eve', 'joe']) await other.createTicket(ticket(id))
      await redis.server.ask('CONFIG SET maxmemory 1')
      const full = other.createTicket(ticket('kim'))
      await expect(full).rejects.toThrow(PartitionUnavailable)
      await expect(full).rejects.toMatchObject({ cause: { name: 'RedisFull' } })
      await leader.close()
      await expectStatus(other, 'joe', 'HOST_ASSIGNED')
      expect(other.leads()).toBe(true)
      const { matchId = '' } = (await other.getTicket('joe')) ?? {}
      await other.stopMatch(matchId)
      expect(service.running()).toHaveLength(1)
      await redis.server.ask('CONFIG SET maxmemory 0')
      await other.createTicket(ticket('kim'))
    }),
  )

  test(
    'a batch of which Redis takes no ticket rejects as a whole, so that its caller repeats it',
    using({}, async ({ redis, join, ticket }) => {
      const only = await join()
      await eventually(() => only.leads()).toBe(true)
      await redis.server.ask('CONFIG SET maxmemory 1')
      await expect(only.createTickets([ticket('ann'), ticket('bob')])).rejects.toThrow(PartitionUnavailable)
      await redis.server.ask('CONFIG SET maxmemory 0')
      const results = await only.createTickets([ticket('ann'), ticket('bob')])
      expect(results.map(({ error }) => error)).toEqual([undefined, undefined])
    }),
  )

  test(
    'a partition continues once a Redis key of a wrong type is removed, and loses no server',
    using({}, async ({ redis, service, problems, join, expectStatus, ticket }) => {
      const only = await join()
      await eventually(() => only.leads()).toBe(true)
      await only.createTicket(ticket('ann'))
      const key = redis.redis.keys('partition.eu')('h')
      await redis.redis.command(key, ['SET', key, 'another'])
      await only.createTicket(ticket('bob'))
      await eventually(() => problems.some((one) => one instanceof RedisWrongType)).toBe(true)
      expect(service.servers).toEqual([])
      await redis.redis.command(key, ['DEL', key])
      await expectStatus(only, 'bob', 'HOST_ASSIGNED')
      expect(service.running()).toHaveLength(1)
    }),
  )

  test(
    'after Redis has gone back to an older snapshot, players get their server again and each process reports the loss',
    using({}, async ({ redis, service, problems, join, expectStatus, ticket }) => {
      const leader = await join()
      await eventually(() => leader.leads()).toBe(true)
      const other = await join()
      service.travelMs = () => 500
      for (const id of ['ann', 'bob']) await other.createTicket(ticket(id))
      await eventually(() => service.servers.length).toBe(1)
      await redis.server.ask('SAVE')
      await expectStatus(other, 'bob', 'HOST_ASSIGNED')
      const before = await other.getTicket('bob')
      await redis.server.restart()
      await eventually(() => [leader, other].map((one) => one.timesVanished())).toEqual([1, 1])
      await expectStatus(other, 'bob', 'HOST_ASSIGNED')
      expect((await other.getTicket('bob'))?.assignment).toEqual(before?.assignment)
      expect(service.servers).toHaveLength(1)
      expect(problems.filter((one) => one instanceof RecordsVanished)).toHaveLength(2)
    }),
    30_000,
  )

  test(
    'after Redis has lost that a create was sent, the leader finds the server and creates no second one',
    using({}, async ({ redis, service, problems, join, expectStatus, ticket }) => {
      const only = await join()
      await eventually(() => only.leads()).toBe(true)
      service.travelMs = () => 500
      for (const id of ['ann', 'bob']) await only.createTicket(ticket(id))
      await eventually(() => service.servers.length).toBe(1)
      const key = redis.redis.keys('partition.eu')
      const [hosting, inForce] = [key('h'), key('q')]
      const names = (await redis.redis.command(hosting, ['HKEYS', hosting])) as readonly string[]
      const server = names.find((name) => name.startsWith('s:')) ?? ''
      const record = (await redis.redis.command(hosting, ['HGET', hosting, server])) as string
      const { sentAt, ...unsent } = JSON.parse(record) as Record<string, unknown>
      expect(sentAt).toBeTypeOf('number')
      const done = (await redis.redis.command(inForce, ['HGET', inForce, 'done'])) as string
      // In one step, as a failover to a replica without the last writes.
      const lose = defineScript({
        name: 'test.lose',
        lua: `redis.call('HSET', KEYS[1], ARGV[1], ARGV[2]) redis.call('HSET', KEYS[2], 'done', ARGV[3]) return 1`,
        read: Number,
      })
      const words = [server, JSON.stringify(unsent), done.replace(/^\d+/, '1')]
      await redis.redis.run(lose, [hosting, inForce], words)
      await expectStatus(only, 'bob', 'HOST_ASSIGNED')
      expect(problems.filter((one) => one instanceof RecordsVanished)).toHaveLength(1)
      expect(service.servers).toHaveLength(1)
    }),
  )

  test(
    'a partition continues on a replica after a failover, with every change that waited for replication',
    withReplica(async ({ redis, service, expectStatus, replica, gate, only }) => {
      const before = await only.getTicket('bob')
      gate.shut()
      await redis.server.kill()
      await replica.ask('REPLICAOF NO ONE')
      gate.turnTo(replica.port)
      gate.open()
      await expectStatus(only, 'bob', 'HOST_ASSIGNED')
      expect(await only.getTicket('bob')).toEqual(before)
      expect(service.running()).toHaveLength(1)
    }),
  )

  test(
    'a partition follows a failover in which the former primary becomes a replica and keeps its connections',
    withReplica(async ({ redis, service, status, expectStatus, ticket, replica, gate, only }) => {
      gate.turnTo(replica.port)
      await replica.ask('REPLICAOF NO ONE')
      await redis.server.ask(`REPLICAOF 127.0.0.1 ${replica.port}`)
      const create = () => only.createTicket(ticket('eve')).catch((error: Error) => error.name)
      await eventually(create).toMatchObject({ id: 'eve' })
      expect(await status(only, 'bob')).toBe('HOST_ASSIGNED')
      await only.createTicket(ticket('joe'))
      await expectStatus(only, 'joe', 'HOST_ASSIGNED')
      expect(service.running()).toHaveLength(2)
    }),
  )
})
