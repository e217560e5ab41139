import { skipsRedis, startRedisServer, type RedisServer, type RedisServerOptions } from '@muster/redis-server'
import { createCluster } from '@redis/client'
import { afterAll, beforeAll, describe, expect } from 'vitest'
import { connectRedis, type RedisOptions } from './connection/connect.js'
import type { RedisConnection } from './connection/connection.js'

/** `describe` for what needs a redis-server: skipped where there is none, except in CI. */
export const describeRedis = skipsRedis() ? describe.skip : describe

/** Expects something to become true. Another process, Redis, takes its own time. */
export const eventually = <T>(look: () => T) => expect.poll(look, { timeout: 20_000, interval: 20 })

export interface RedisUnderTest {
  readonly server: RedisServer
  readonly redis: RedisConnection
  /** One more connection, as another process has it. */
  connect(options?: Partial<RedisOptions>): Promise<RedisConnection>
  close(): Promise<void>
}

/** A redis-server and connections to it, of a cluster where it is one. */
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

/** Tests on a Redis, and on a cluster of one node. */
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
