import { findRedisServer } from '../tools/redis-server/src/find.js'
import { fetchRedisServer } from '../tools/redis-server/src/fetch.js'

/**
 * Gets a redis-server for the tests that need one, once for each user, as `pnpm get:redis` does. Where that fails, they
 * are skipped, and the last line of the run says so. Imported by its path, for a fresh clone has nothing built.
 */
export function setup(): void {
  if (findRedisServer() !== undefined) return
  try {
    process.stdout.write(`a redis-server for the tests: ${fetchRedisServer()}\n`)
  } catch (error) {
    process.stdout.write(`no redis-server could be fetched for the tests: ${(error as Error).message}\n`)
  }
}
