import { findRedisServer } from '../tools/redis-server/src/find.js'
import { fetchRedisServer } from '../tools/redis-server/src/fetch.js'

/**
 * Installs a redis-server for the tests that need one, once for each user, like `pnpm get:redis`. If that fails, those
 * tests are skipped, and the last line of the run says so. The script is imported by its path, because a fresh clone
 * has no built files.
 */
export function setup(): void {
  if (findRedisServer() !== undefined) return
  try {
    process.stdout.write(`a redis-server for the tests: ${fetchRedisServer()}\n`)
  } catch (error) {
    process.stdout.write(`no redis-server could be fetched for the tests: ${(error as Error).message}\n`)
  }
}
