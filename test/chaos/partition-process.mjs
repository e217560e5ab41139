// One of several processes of a partition, in plain JavaScript so that Node runs it directly.
import { createClient } from '@muster/core'
import { systemClock } from '@muster/core/clock'
import { connectRedis, createRedisLimits, createRedisPartition } from '@muster/redis'

// `aheadMs`: error of this process's wall clock. `instant`: servers are READY at once, and no emulator counts them.
const { url, redisUrl, aheadMs = 0, instant = false, ...options } = JSON.parse(process.argv[2])
process.on('disconnect', () => process.exit(0))
process.on('unhandledRejection', (error) => process.send({ kind: 'unhandled', error: String(error) }))

const connected = { client: { url: redisUrl, socket: { reconnectStrategy: 50 } }, timeoutMs: 2000 }
const redis = await connectRedis(connected)
const { limiter } = createRedisLimits({ redis })
const client = instant ? undefined : createClient({ baseUrl: url, token: 'dev', limiter, timeoutMs: 10_000 })
const clock = { now: () => systemClock.now() + aheadMs, sleep: (...sleep) => systemClock.sleep(...sleep) }

/** Creates a service without state, so that each process sees the same. */
function instantService() {
  let created = 0
  const port = { internal: 7777, external: 30_000, protocol: 'UDP', name: 'game', link: 'server.example.com:30000' }
  return {
    create: async () => {
      created += 1
      const request_id = `r${process.pid}-${created}`
      setImmediate(() => partition.hint(request_id).catch(() => {}))
      return { request_id }
    },
    get: async ({ request_id }) => ({
      request_id,
      current_status: 'Status.READY',
      fqdn: 'server.example.com',
      ports: { game: port },
    }),
    stop: async () => ({ message: 'stopped' }),
    list: () => new Promise(() => {}),
  }
}
const partition = createRedisPartition({
  redis,
  name: 'chaos',
  queues: [
    {
      name: 'duel',
      matchSize: 2,
      deploy: { application: 'game', version: '1' },
      expireAfterMs: 3_600_000,
      maxAttempts: 1000,
    },
    { name: 'lonely', matchSize: 99, deploy: { application: 'game', version: '1' }, expireAfterMs: 300_000 },
  ],
  deployments: client?.deployments ?? instantService(),
  clock,
  tickMs: 100,
  listLagMs: 500,
  orphanGraceMs: 8000,
  endedTicketTtlMs: 3_600_000,
  askTimeoutMs: 5000,
  ...options,
})
partition.on('leading', ({ takeoverMs, tickets }) => process.send({ kind: 'leading', takeoverMs, tickets }))
partition.on('following', () => process.send({ kind: 'following' }))
partition.start()

process.on('SIGTERM', async () => {
  await partition.close()
  await redis.close()
  process.exit(0)
})

process.on('message', async ({ nth, method, input }) => {
  const kind = `answer ${nth}`
  try {
    process.send({ kind, answer: await partition[method](...input) })
  } catch (error) {
    process.send({ kind, error: error.name })
  }
})
process.send({ kind: 'started' })
