// One of several processes that share the rate limits of an account, in plain JavaScript so that Node runs it directly.
import { createClient } from '@muster/core'
import { systemClock } from '@muster/core/clock'
import { connectRedis, createRedisLimits } from '@muster/redis'

const { url, redisUrl, together, gapMs = 0, timeoutMs = 30_000 } = JSON.parse(process.argv[2])
process.on('disconnect', () => process.exit(0))
process.on('unhandledRejection', (error) => process.send({ kind: 'unhandled', error: String(error) }))

const redis = await connectRedis({ client: { url: redisUrl, socket: { reconnectStrategy: 50 } } })
const { limiter } = createRedisLimits({ redis })
const client = createClient({ baseUrl: url, token: 'dev', timeoutMs, limiter })
const counts = { answered: 0, slowestMs: 0, failures: {} }

const work = async (nth) => {
  for (let call = 0; ; call++) {
    const began = performance.now()
    try {
      await client.deployments.get({ request_id: `unknown${nth}x${call}` })
    } catch (error) {
      if (error.name === 'NotFound') counts.answered += 1
      else {
        const what = `${error.name} by ${error.cause?.name}`
        counts.failures[what] = (counts.failures[what] ?? 0) + 1
      }
    }
    counts.slowestMs = Math.max(counts.slowestMs, performance.now() - began)
    await systemClock.sleep(gapMs)
  }
}
for (let nth = 0; nth < together; nth++) void work(nth)

process.on('message', () => process.send({ kind: 'counts', ...counts }))
process.send({ kind: 'started' })
