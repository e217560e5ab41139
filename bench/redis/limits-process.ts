/** A process that uses a shared limit: `limits-process <redis> <service> <calls at once> <ms between calls>`. */
import { createClient } from '@muster/core'
import { systemClock } from '@muster/core/clock'
import { connectRedis, createRedisLimits } from '@muster/redis'
import { LIMIT } from './limited-service.js'

const [redisUrl = '', serviceUrl = '', together = '1', gapMs = '0'] = process.argv.slice(2)
process.on('disconnect', () => process.exit())

const redis = await connectRedis({ client: { url: redisUrl } })
const { limiter } = createRedisLimits({ redis, name: 'bench' })
const client = createClient({ baseUrl: serviceUrl, token: 'bench', limits: { status: { limit: LIMIT } }, limiter })

const work = async (nth: number) => {
  for (let call = 0; ; call++) {
    await client.deployments.get({ request_id: `id${nth}x${call}` }).catch(() => {})
    await systemClock.sleep(Number(gapMs))
  }
}
for (let nth = 0; nth < Number(together); nth++) void work(nth)
