import { InvalidInput } from '@muster/core'
import { createClient, createCluster, type AnyRedisClientOptions } from '@redis/client'

/** Options of one command: without a client-side timeout, and without the user's type mapping. */
interface CommandOptions {
  readonly timeout: number
  readonly typeMapping: Readonly<Record<number, never>>
}
const OPTIONS: CommandOptions = { timeout: 0, typeMapping: {} }

interface AnyClient {
  readonly isOpen: boolean
  connect(): Promise<unknown>
  close(): Promise<unknown>
  destroy(): unknown
  on(event: 'error', listener: (error: Error) => void): unknown
  off(event: 'error', listener: (error: Error) => void): unknown
}

interface SocketOptions {
  readonly socket?: { readonly host?: string; readonly port?: number; readonly path?: string }
}

/** A client created by `createClient` of `@redis/client` (or `redis`). */
export interface SingleClient extends AnyClient {
  sendCommand(words: readonly string[], options: CommandOptions): Promise<unknown>
  duplicate(): SingleClient
}

/** A client created by `createCluster`. */
export interface ClusterClient extends AnyClient {
  readonly masters: readonly unknown[]
  sendCommand(firstKey: string, isReadonly: boolean, words: string[], options: CommandOptions): Promise<unknown>
  duplicate(): ClusterClient
}

export type RedisClient = SingleClient | ClusterClient

export const isClusterClient = (client: RedisClient): client is ClusterClient => 'masters' in client

export const isClient = (value: object): value is RedisClient => 'sendCommand' in value

/** True for a client created by `createSentinel` or `createClientPool`, which sends commands in another way. */
export const isOtherClient = (value: object): boolean => 'getSentinelNode' in value || 'totalClients' in value

/**
 * Creates a client. Commands fail immediately while there is no connection, instead of waiting for the next one.
 * @throws {InvalidInput} for an invalid URL, without quoting it, because it may hold a password
 */
export function clientOf(options: AnyRedisClientOptions): SingleClient {
  try {
    return createClient({ disableOfflineQueue: true, ...options }) as unknown as SingleClient
  } catch (error) {
    const why = error instanceof Error && !('input' in error) ? error.message : 'url is not a valid URL'
    throw new InvalidInput(`connectRedis: option client: ${why}`, { field: 'client' })
  }
}

/**
 * Creates a client of all nodes of the cluster to which the client's node belongs. User, password and TLS are those of
 * the client.
 */
export function clusterOf(client: SingleClient): ClusterClient {
  const given = (client as SingleClient & { readonly options: AnyRedisClientOptions & SocketOptions }).options
  const { url: _, database: __, socket, ...options } = given
  const { host, port, path: ___, ...rest } = socket ?? {}
  return createCluster({
    rootNodes: [{ socket: { ...rest, host, port } } as AnyRedisClientOptions],
    defaults: { ...options, socket: rest } as AnyRedisClientOptions,
  }) as unknown as ClusterClient
}

/**
 * Sends a command about the key. All words must be strings: for anything else the client throws where it cannot be
 * caught, which ends the process.
 */
export const send = (client: RedisClient, key: string, words: string[]): Promise<unknown> =>
  isClusterClient(client) ? client.sendCommand(key, false, words, OPTIONS) : client.sendCommand(words, OPTIONS)
