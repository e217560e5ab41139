import type { Clock } from '@muster/core/clock'
import { createEventsWithProblems, within } from '@muster/core/internal'
import { type AnyRedisClientOptions, ErrorReply } from '@redis/client'
import { z } from 'zod'
import { clientOf, clusterOf, isClient, isClusterClient, isOtherClient, type RedisClient, send } from './client.js'
import { failureOf, isReply, RedisDisconnected, RedisTooOld } from './connection-errors.js'
import {
  checkOptions,
  clockSchema,
  ConnectionFamily,
  createConnection,
  type RedisConnection,
  type RedisEvents,
} from './connection.js'
import { keySpace, type Reply } from './script.js'

/** The properties of a Redis that are checked before it is used. */
interface Probed {
  /** Version of Redis, e.g. `7.2.4`; undefined if Redis is too old to report it to a user with few permissions. */
  readonly version: string | undefined
  readonly isReplica: boolean
  /** The policy of a full Redis, e.g. `noeviction`; empty if the user may not query it. */
  readonly evictionPolicy: string
  /** True if Redis has a memory limit at which it deletes keys. */
  readonly evicts: boolean
  /** True for a node of a cluster. */
  readonly isClustered: boolean
}

/**
 * Reads version, role, `maxmemory` and its policy. Runs on every version of Redis, so that an old Redis and a broken
 * Redis give different errors. It has no keys, because any node of a cluster must answer. Reply: five strings, each
 * empty if the user may not query it.
 */
const PROBE = `
local function info(section, field)
  local text = redis.pcall('INFO', section)
  return type(text) == 'string' and string.match(text, field .. ':(%S+)') or ''
end
local version = redis.REDIS_VERSION or info('server', 'redis_version')
local memory = {info('memory', 'maxmemory'), info('memory', 'maxmemory_policy')}
return {version, info('replication', 'role'), memory[1], memory[2], info('cluster', 'cluster_enabled')}
`

function readProbe(reply: Reply): Probed {
  const [version = '', role = '', most = '', evictionPolicy = '', clustered = ''] = reply as readonly string[]
  const evicts = Number(most) > 0 && evictionPolicy !== '' && evictionPolicy !== 'noeviction'
  const isClustered = clustered === '1'
  return { version: version || undefined, isReplica: role === 'slave', evictionPolicy, evicts, isClustered }
}

/**
 * The oldest version that can run the scripts. Since 7.0, scripts can declare flags, and an error in a script begins
 * with the first word of the failed command's error.
 */
const OLDEST = 7

const isTooOld = ({ version }: Probed): boolean => !(Number.parseInt(version ?? '0', 10) >= OLDEST)

export interface RedisOptions {
  /**
   * Options of `createClient` of `@redis/client` (url, user, password, TLS), or a client created by `createClient` or
   * `createCluster`. A client that is not open is opened by `connectRedis`, closed by `close`, and replaced if it stops
   * responding.
   */
  readonly client: AnyRedisClientOptions | RedisClient
  /** The prefix of every key: 1 to 64 letters, digits, `.`, `_`, `-` and `:`. Default `mu`. */
  readonly prefix?: string | undefined
  /** Milliseconds until a command without a reply fails. At least 50; default 5000. */
  readonly timeoutMs?: number | undefined
  /** Milliseconds until opening the connection fails. Default 10,000. */
  readonly connectTimeoutMs?: number | undefined
  readonly clock?: Clock | undefined
}

/**
 * Connects to Redis 7.0 or later (or Valkey), for the lobby store, the limits and the partitions of this package.
 * @throws {InvalidInput} for an invalid option
 * @throws {RedisDisconnected} if it cannot connect in time
 * @throws {RedisNotPermitted} for a wrong user or password
 * @throws {RedisTooOld} for a Redis before 7.0
 * @throws {RedisReadOnly} for a replica
 */
export async function connectRedis(options: RedisOptions): Promise<RedisConnection> {
  const { client: given, prefix, timeoutMs, connectTimeoutMs, clock } = checkOptions('connectRedis', schema, options)
  let client = isClient(given) ? given : clientOf(given)
  const isOurs = !client.isOpen
  const open = () =>
    inTime(client, connectTimeoutMs, clock, async () => {
      if (isOurs) await client.connect()
      return readProbe((await send(client, keySpace(prefix, 'probe')('key'), ['EVAL', PROBE, '0'])) as Reply)
    })
  try {
    let probed = await open()
    // A single client reaches only the keys of its node. The client of the caller is not replaced.
    if (probed.isClustered && !isClient(given) && !isClusterClient(client)) {
      client.destroy()
      client = clusterOf(client)
      probed = await open()
    }
    assertSuitable(probed)
    const events = createEventsWithProblems<RedisEvents>()
    const family = new ConnectionFamily()
    return createConnection({ client, isOurs, prefix, timeoutMs, clock, version: probed.version ?? '', events, family })
  } catch (error) {
    if (isOurs) client.destroy()
    throw failureOf(error, 'connectRedis')
  }
}

/**
 * Waits until a client is open. The client itself would retry forever. A reply that refuses it (e.g. a wrong password)
 * or the timeout ends the wait.
 */
async function inTime<T>(client: RedisClient, ms: number, clock: Clock, open: () => Promise<T>): Promise<T> {
  let last: unknown
  let refuse: (error: Error) => void = () => {}
  const refused = new Promise<never>((_, reject) => {
    refuse = reject
  })
  const heard = (error: Error) => {
    last = error
    if (isReply(error)) refuse(error)
  }
  client.on('error', heard)
  try {
    const opened = await within(Promise.race([open(), refused]), ms, clock)
    if (opened !== undefined) return opened
    const message = `connectRedis: no connection within ${ms} ms: ${last === undefined ? 'no answer' : String(last)}`
    throw new RedisDisconnected(message, { code: 'DISCONNECTED', outcome: 'not-done', cause: last })
  } catch (error) {
    if (isReply(error) && /unknown command/i.test(error.message)) throw tooOld('before 6.0')
    throw error
  } finally {
    refused.catch(() => {})
    // One listener remains, because an error event without a listener ends the process.
    client.on('error', () => {})
    client.off('error', heard)
  }
}

function assertSuitable(probed: Probed): void {
  if (isTooOld(probed)) throw tooOld(probed.version ?? 'unknown')
  if (probed.isReplica) throw failureOf(new ErrorReply('READONLY'), 'connectRedis')
  if (probed.evicts) {
    const policy = `maxmemory-policy ${probed.evictionPolicy}`
    const advice = 'set noeviction, or tickets and lobbies get lost'
    const message = `this Redis deletes keys when it is full (${policy}): ${advice}`
    process.emitWarning(message, 'MusterWarning')
  }
}

const tooOld = (version: string) =>
  new RedisTooOld(`connectRedis: Redis 7.0 or later is required, got ${version}.`, {
    code: 'VERSION',
    outcome: 'not-done',
  })

const schema = z.strictObject({
  client: z.custom<RedisOptions['client']>(
    (value) => typeof value === 'object' && value !== null && !isOtherClient(value),
    'must be options of createClient, or a client made by createClient or createCluster of @redis/client',
  ),
  prefix: z
    .string()
    .regex(/^[A-Za-z0-9._:-]{1,64}$/, "must be 1 to 64 letters, digits, '.', '_', '-' and ':'")
    .default('mu'),
  timeoutMs: z.number().min(50).max(600_000).default(5000),
  connectTimeoutMs: z.number().min(50).max(600_000).default(10_000),
  clock: clockSchema,
})
