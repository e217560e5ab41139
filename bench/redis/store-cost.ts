import { connectRedis } from '@muster/redis'
import { createRedisStore, type PartitionStore } from '@muster/redis/internal'
import { startRedisServer, type RedisServer } from '@muster/redis-server'
import { atLeast, atMost, type Figures } from '../figure.js'
import { runsOf } from '../runs.js'
import { redisBytes, redisCpuUs } from './redis-use.js'
import { cpuUs } from './traffic.js'
import { createWorkload, type Workload } from './workload.js'

/** Approximate number of tickets of one call. */
const BATCH = 128
const STANDING = 20_000
const MEASURED = 100_000
const FOLLOWERS = 2
const TIMES = 3

interface Run {
  readonly perMatch: number
  readonly appendOnly: 'none' | 'everysec'
  readonly goal: number
}
const RUNS: readonly Run[] = [
  { perMatch: 2, appendOnly: 'none', goal: 70_000 },
  { perMatch: 2, appendOnly: 'everysec', goal: 60_000 },
  { perMatch: 10, appendOnly: 'none', goal: 85_000 },
  { perMatch: 10, appendOnly: 'everysec', goal: 75_000 },
]

/**
 * Measures the CPU time of a ticket in the Redis process, and its memory while it waits. The whole life of a ticket is
 * measured: create, read by the leader, claimed with its match, intent, sent, created, assigned, notified, over, swept.
 * Two other processes follow all changes.
 */
export async function storeFigures(): Promise<Figures> {
  const figures = []
  const costs: Record<string, unknown> = {}
  for (const run of RUNS) {
    const { perMatch, appendOnly, goal } = run
    const runs = await runsOf(TIMES, () => measure(run))
    const name = `tickets per Redis core, matches of ${perMatch} tickets, append-only file: ${appendOnly}`
    figures.push(
      atLeast(
        name,
        runs.map(({ redisUs }) => 1e6 / redisUs),
        goal,
        'tickets/s',
      ),
    )
    costs[name] = runs
  }
  figures.push(atMost('memory of Redis per waiting ticket', await memoryPerTicket(), 500, 'bytes'))
  return { figures, peers: { 'store cost': costs } }
}

async function measure({ perMatch, appendOnly }: Run) {
  const server = await startRedisServer({ appendOnly })
  const redis = await connectRedis({ client: { url: server.url } })
  const store = createRedisStore({ redis, name: 'bench' })
  const stopping = new AbortController()
  const followers = Array.from({ length: FOLLOWERS }, (_, number) =>
    follow(server, `follower${number}`, stopping.signal),
  )
  const workload = await createWorkload(store, { perMatch, batch: BATCH, standing: STANDING })
  await workload.run(STANDING * 2)
  const result = await costOf(server, workload)
  stopping.abort()
  await Promise.allSettled(followers)
  await store.close()
  await redis.close()
  await server.close()
  return result
}

async function costOf(server: RedisServer, workload: Workload) {
  const before = await redisCpuUs(server)
  const oursBefore = cpuUs()
  await workload.run(MEASURED)
  const clientUs = (cpuUs() - oursBefore) / MEASURED
  return { redisUs: ((await redisCpuUs(server)) - before) / MEASURED, clientUs }
}

/** Follows all changes, like another process from Redis' point of view. */
async function follow(server: RedisServer, name: string, signal: AbortSignal): Promise<void> {
  const redis = await connectRedis({ client: { url: server.url } })
  const store = createRedisStore({ redis, name: 'bench' })
  try {
    let { cursor } = await store.changes(undefined, name, { blockMs: 0 })
    while (!signal.aborted) cursor = (await store.changes(cursor, name, { blockMs: 200, signal })).cursor
  } finally {
    await store.close()
    await redis.close()
  }
}

async function memoryPerTicket(): Promise<number> {
  const server = await startRedisServer()
  const redis = await connectRedis({ client: { url: server.url } })
  const store: PartitionStore = createRedisStore({ redis, name: 'bench' })
  const workload = await createWorkload(store, { perMatch: 2, batch: BATCH, standing: Infinity })
  const before = await redisBytes(server)
  await workload.run(MEASURED)
  const after = await redisBytes(server)
  await store.close()
  await redis.close()
  await server.close()
  return (after - before) / MEASURED
}
