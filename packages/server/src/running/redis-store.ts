import { InvalidInput } from '@muster/core'
import type { Config } from '../config/config.js'
import { createRedisMatching } from './redis-matching.js'
import type { Store, StoreOptions } from './store.js'

type RedisConfig = Extract<Config['store'], { readonly kind: 'redis' }>

/**
 * Connects to Redis, which several processes share.
 * @throws {InvalidInput} if `@muster/redis` is not installed
 * @throws as `connectRedis`
 */
export async function openRedisStore(options: StoreOptions, config: RedisConfig): Promise<Store> {
  const redisPackage = await import('@muster/redis').catch((error: unknown) => {
    if (!isMissing(error)) throw error
    const message = 'store: redis needs a package that is not installed: npm install @muster/redis'
    throw new InvalidInput(message, { field: 'store' })
  })
  const { clock, onProblem } = options
  const url = typeof config.url === 'string' ? config.url : config.url.reveal()
  const { prefix, timeoutMs, fallbackShare } = config
  const redis = await redisPackage.connectRedis({ client: { url }, prefix, timeoutMs, clock })
  redis.events.on('problem', ({ during, error }) => onProblem(`redis ${during}`, error))
  const limits = redisPackage.createRedisLimits({ redis, fallbackShare, clock })
  return {
    limiter: limits.limiter,
    openMatching: async (matching) => createRedisMatching({ redisPackage, redis, config, matching }),
    close: async () => {
      await limits.close()
      await redis.close()
    },
  }
}

const isMissing = (error: unknown) =>
  error instanceof Error &&
  'code' in error &&
  error.code === 'ERR_MODULE_NOT_FOUND' &&
  /@muster\/redis/.test(error.message)
