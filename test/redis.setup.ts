import { howToGetRedis, skipsRedis } from '../tools/redis-server/src/find.js'

/**
 * Says once, before all tests, that those that need a redis-server are skipped. Imported by its path, for a fresh clone
 * has nothing built.
 */
export function setup(): void {
  if (skipsRedis())
    process.stdout.write(
      `no redis-server on this machine, so the tests of @muster/redis are skipped: ${howToGetRedis}\n`,
    )
}
