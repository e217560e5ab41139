// One of several processes of a partition: plain JavaScript, as Node runs it.
import { createClient } from '@muster/core'
import { connectRedis, createRedisLimits, createRedisPartition } from '@muster/redis'

const { url, redisUrl } = JSON.parse(process.argv[2])
process.on('disconnect', () => process.exit(0))
process.on('unhandledRejection', (error) => process.send({ kind: 'unhandled', error: String(error) }))

const connected = { client: { url: redisUrl, socket: { reconnectStrategy: 50 } }, timeoutMs: 2000 }
const redis = await connectRedis(connected)
const { limiter } = createRedisLimits({ redis })
const client = createClient({ baseUrl: url, token: 'dev', limiter, timeoutMs: 10_000 })
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
  ],
  deployments: client.deployments,
  tickMs: 100,
  listLagMs: 500,
  reapAfterMs: 8000,
  keepEndedMs: 3_600_000,
  askTimeoutMs: 5000,
})
partition.on('leading', ({ takeoverMs, tickets }) => process.send({ kind: 'leading', takeoverMs, tickets }))
partition.on('following', () => process.send({ kind: 'following' }))
partition.start()

process.on('message', async ({ nth, method, input }) => {
  const kind = `answer ${nth}`
  try {
    process.send({ kind, answer: await partition[method](...input) })
  } catch (error) {
    process.send({ kind, error: error.name })
  }
})
process.send({ kind: 'started' })
