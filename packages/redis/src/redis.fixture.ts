import { skipsRedis, startRedisServer, type RedisServer, type RedisServerOptions } from '@muster/redis-server'
import { createCluster } from '@redis/client'
import { afterAll, beforeAll, describe, expect } from 'vitest'
import { connectRedis, type RedisOptions } from './connection/connect.js'
import type { RedisConnection } from './connection/connection.js'

/** `describe` for tests that need a redis-server: skipped if there is none, except in CI. */
export const describeRedis = skipsRedis() ? describe.skip : describe

/** Expects a condition to become true. Redis is another process and takes its own time. */
export const eventually = <T>(look: () => T) => expect.poll(look, { interval: 20 })

export interface RedisUnderTest {
  readonly server: RedisServer
  readonly redis: RedisConnection
  /** Opens one more connection, like another process. */
  connect(options?: Partial<RedisOptions>): Promise<RedisConnection>
  close(): Promise<void>
}

/** Starts a redis-server, possibly a cluster, and opens connections to it. */
export async function openRedis(options: RedisServerOptions = {}): Promise<RedisUnderTest> {
  const server = await startRedisServer(options)
  const connections: RedisConnection[] = []
  const connect = async (more: Partial<RedisOptions> = {}) => {
    const { url } = server
    const socket = { reconnectStrategy: 20 }
    const client =
      options.cluster === true ? createCluster({ rootNodes: [{ url }], defaults: { socket } }) : { url, socket }
    const connection = await connectRedis({ client, ...more })
    connections.push(connection)
    return connection
  }
  return {
    server,
    redis: await connect(),
    connect,
    close: async () => {
      await Promise.all(connections.map((connection) => connection.close()))
      await server.close()
    },
  }
}

/** Runs the tests on a Redis, and on a cluster of one node. */
export function describeEachRedis(tests: (where: string, it: () => RedisUnderTest) => void): void {
  describeRedis.each([
    ['Redis', false],
    ['a cluster of one node', true],
  ])('in %s', (where, cluster) => {
    let it: RedisUnderTest
    beforeAll(async () => {
      it = await openRedis({ cluster })
    })
    afterAll(() => it.close())
    tests(where, () => it)
  })
}
