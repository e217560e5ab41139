import { systemClock } from '@muster/core/clock'
import { expect, onTestFinished, test } from 'vitest'
import { createRedisPartition } from '../partition/redis-partition.js'
import { duel, FakeService } from '../partition/world.fixture.js'
import { describeRedis, openRedis } from '../redis.fixture.js'
import { createRedisSpending } from './spending.js'

const MOST = 3
const PAIRS = 4

describeRedis('two partitions that spend together', () => {
  test('two partitions never exceed their shared budget of servers, and reuse what is given back', async () => {
    const under = await openRedis()
    onTestFinished(() => under.close())
    const service = new FakeService(systemClock, 0)
    let most = 0
    const deployments = {
      get: service.get,
      stop: service.stop,
      list: service.list,
      create: async (...given: Parameters<FakeService['create']>) => {
        const created = await service.create(...given)
        most = Math.max(most, service.running().length)
        return created
      },
    }
    const join = async (name: string) => {
      const redis = await under.connect()
      const budget = createRedisSpending({ redis, maxServers: MOST }).budget(name)
      const partition = createRedisPartition({ redis, name, queues: [duel], deployments, budget, tickMs: 20 })
      partition.start()
      return partition
    }
    const partitions = [await join('eu'), await join('us')] as const
    for (const [nth, partition] of partitions.entries()) {
      for (let player = 0; player < 2 * PAIRS; player++) {
        const id = `p${nth}x${player}`
        await partition.createTicket({ id, queue: 'duel', players: [{ id, ip: '192.0.2.1' }] })
      }
    }
    // Both partitions have requested shares, and the seconds in which others may request theirs are over.
    const leases = 'mu:{spending.account}:leases'
    await expect.poll(() => under.redis.command(leases, ['HLEN', leases])).toBe(4)
    await under.redis.command(leases, ['HSET', leases, 'quiet', 0])
    await expect.poll(() => service.running().length).toBe(MOST)
    await service.stop({ request_id: 'r1' })
    await expect.poll(() => service.servers.length).toBeGreaterThan(MOST)
    await Promise.all(partitions.map((partition) => partition.close()))
    expect(most).toBe(MOST)
  })
})
