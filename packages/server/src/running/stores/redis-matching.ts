import { within } from '@muster/core/internal'
import { type Listener, type Matchmaker, Unavailable } from '@muster/matchmaker'
import { EMPTY_INSPECTION } from '@muster/matchmaker/internal'
import {
  connectRedis,
  createRedisEventStore,
  createRedisGroupStore,
  createRedisLimits,
  createRedisLimitStore,
  createRedisLobbyStore,
  createRedisPartition,
  type RedisConnection,
  RedisDisconnected,
  RedisError,
  RedisTimedOut,
} from '@muster/redis'
import { assertPartitionWritable } from '@muster/redis/internal'
import { type Config, withKeys } from '../../config/index.js'
import {
  type Matching,
  type MatchingOptions,
  type MatchingStore,
  type MatchingStoreOptions,
  matchmakerOptions,
} from './matching.js'

type RedisConfig = Extract<Config['store'], { readonly kind: 'redis' }>

/** Milliseconds within which Redis must respond for the program to be ready. */
const ANSWERS_WITHIN_MS = 2000

/** Returns the reason of a failed check, in the words of the error. It names no key. */
function reasonOf(error: unknown): string {
  // A later version of Muster has used the partition.
  if (error instanceof Unavailable) return error.message
  if (!(error instanceof RedisError) || error instanceof RedisDisconnected || error instanceof RedisTimedOut)
    return 'Redis does not answer'
  // The message begins with the name of the script.
  return error.message.slice(error.message.indexOf(': ') + 2)
}

/** Creates a matchmaker that several processes share. */
function createRedisMatching(redis: RedisConnection, config: RedisConfig, matching: MatchingOptions): Matching {
  const { config: whole, clock, log, onProblem } = matching
  const { maxTickets, leaseMs, canLead, replicas } = config
  const options = matchmakerOptions(matching)
  const partition = createRedisPartition({ ...options, redis, maxTickets, leaseMs, canLead, replicas })
  const lobbies = whole.lobbies.enabled ? createRedisLobbyStore({ redis, name: whole.name }) : undefined
  partition.on('queuesDiffer', () =>
    onProblem(
      'partition',
      new Error(
        'The leader uses other queues than this process is configured with. Deploy the same queues everywhere.',
      ),
    ),
  )

  let takeovers = 0
  partition.on('leading', ({ takeoverMs, tickets }) => {
    takeovers += 1
    log.info('This process leads the partition now. It matches tickets and manages servers.', {
      takeoverMs: Math.round(takeoverMs),
      tickets,
    })
  })
  partition.on('following', () => log.info('This process no longer leads the partition.'))

  // A ticket is created in the process that gets the request, so every process has this event. All other events occur
  // on the leader.
  const on: Matchmaker['on'] = (name, listener) => {
    if (name === 'ticketCreated') return partition.on('ticketCreated', listener as Listener<'ticketCreated'>)
    const end = partition.onMatching(name, listener)
    if (name !== 'problem') return end
    // Every process reports problems with the partition, e.g. with Redis.
    const endOwn = partition.on('problem', listener as (problem: object) => void)
    return () => {
      end()
      endOwn()
    }
  }

  let inspection = EMPTY_INSPECTION
  let leader: string | undefined
  const whyNotReached = async () => {
    const reading = partition.queuesInForce().then((inForce) => (leader = inForce?.by))
    const asking = Promise.all([reading, assertPartitionWritable(redis, whole.name)]).then(() => '', reasonOf)
    return ((await within(asking, ANSWERS_WITHIN_MS, clock)) ?? 'Redis does not answer') || undefined
  }
  return {
    service: partition,
    on,
    onTakeover: (listener) => void partition.on('leading', listener),
    observed: { on, inspect: () => inspection },
    // Only the leader reports the state, so that the sum over all processes is correct.
    beforeScrape: async () => {
      inspection = partition.leads() ? await partition.inspect().catch(() => EMPTY_INSPECTION) : EMPTY_INSPECTION
    },
    webhook: partition.webhook,
    start: partition.start,
    openEvents: (name, bounds) => createRedisEventStore({ redis, name: `${whole.name}.${name}`, ...bounds, clock }),
    membership: () => ({
      leads: partition.leads(),
      leader,
      takeovers,
      clockOffsetMs: partition.clockOffsetMs(),
      timesVanished: partition.timesVanished(),
    }),
    unseen: () =>
      partition.leads() ? [] : [`${leader ?? 'Another process'} makes the matches; its events are not shown here.`],
    checks: [whyNotReached],
    reconfigure: ({ queues, pools }) => {
      partition.reconfigure(queues, { pools: withKeys(pools) })
      return []
    },
    close: async () => {
      lobbies?.close()
      await partition.close()
    },
    shared: {
      limitStore: createRedisLimitStore({ redis, name: whole.name, clock }),
      groups: createRedisGroupStore({
        redis,
        name: whole.name,
        idleMs: whole.limits.groupIdleMs,
        mostGroups: whole.limits.groups,
      }),
      lobbies,
    },
  }
}

/**
 * Connects to Redis, which several processes share.
 * @throws like `connectRedis`
 */
export async function openRedisStore(options: MatchingStoreOptions, config: RedisConfig): Promise<MatchingStore> {
  const { clock, onProblem } = options
  const url = typeof config.url === 'string' ? config.url : config.url.reveal()
  const { prefix, timeoutMs, fallbackShare } = config
  const redis = await connectRedis({ client: { url }, prefix, timeoutMs, clock })
  redis.events.on('problem', ({ during, error }) => onProblem(`redis ${during}`, error))
  const limits = createRedisLimits({ redis, fallbackShare, clock })
  return {
    limiter: limits.limiter,
    openMatching: async (matching) => createRedisMatching(redis, config, matching),
    close: async () => {
      await limits.close()
      await redis.close()
    },
  }
}
