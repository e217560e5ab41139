import { fetchRedisServer } from './fetch.js'

/** The command `pnpm get:redis`. */
try {
  console.log(fetchRedisServer())
} catch (error) {
  console.error(`no redis-server was fetched: ${(error as Error).message}`)
  console.error('install redis 7, or set MUSTER_REDIS_SERVER to a redis-server')
  process.exitCode = 1
}
