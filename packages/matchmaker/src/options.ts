import { InvalidInput } from '@muster/core'
import { systemClock, type Clock, type Random } from '@muster/core/clock'
import { z } from 'zod'
import type { BrowserDefinition, PoolDefinition, ResultsDefinition, ServerAllocator, Store } from '@muster/hosting'
import {
  type Browser,
  browserSchema,
  type DeploymentService,
  ENROLLED,
  type LocationService,
  type Pool,
  poolSchema,
  resultsSchema,
  type SpendBudget,
} from '@muster/hosting/internal'
import type { BeaconSource } from './beacons.js'
import { callable, deepFreeze, having, unguessable, read } from '@muster/core/internal'
import type { Locate } from './locate/index.js'
import { defineQueue, type Queue, type QueueDefinition, withPool } from './queues/index.js'

export interface JoinTokenOptions {
  readonly alg: 'HS256' | 'EdDSA'
}

export interface MatchmakerOptions {
  /**
   * Deploys servers: a client's `deployments`. Default: none. Then each queue needs a pool, and each pool another
   * source.
   */
  readonly deployments?: DeploymentService | undefined
  /**
   * Finds locations with capacity: a client's `locations`. Default: none. Then a match is not tried elsewhere if the
   * first location lacks capacity.
   */
  readonly locations?: LocationService | undefined
  /**
   * The locations of the beacons to which players measure their latency, for queues with a latency rule. The server is
   * requested at the best beacon that the players of a match have in common. E.g. `() =>
   * client.locations.beacons.all()`. Default: the `beacons` of `locations`, if it has some. If no beacon's location is
   * known, servers are placed by the players' addresses, and the rule's promise does not hold.
   */
  readonly beacons?: BeaconSource | undefined
  /** At least one queue, with unique names. */
  readonly queues: readonly QueueDefinition[]
  /** Pools of game servers that outlive a match. Queues name them. Unique names. Default: none. */
  readonly pools?: readonly PoolDefinition[] | undefined
  /**
   * Sources of servers apart from the deployment service, by the name that a pool's `source` gives: a hoster, a fleet,
   * your own program. Names have 1 to 32 of A–Z, a–z, 0–9, _ and -. Default: none.
   */
  readonly sources?: Readonly<Record<string, ServerAllocator>> | undefined
  /**
   * How players find servers that list themselves, and how long seats on them are held. Default: no attribute can be
   * filtered. A seat is held for 30 s, renewed for at most 300 s.
   */
  readonly browser?: BrowserDefinition | undefined
  /**
   * Finds the location of an address, for players without coordinates; see `mmdbLocate`. Without it, in queues with a
   * distance rule such players are matched only with players of their own network.
   */
  readonly locate?: Locate | undefined
  /**
   * The write-ahead log of tickets, backfills, cooldowns, pauses and servers; see `openStore`. The next process that
   * opens it resumes queued tickets and matches. The log contains servers' secrets, so protect it. While the store
   * cannot be written, creates throw `Unavailable`. Default: none. Then tickets end with the process, and a crash
   * forgets its servers.
   */
  readonly store?: Store | undefined
  /**
   * Distinguishes this matchmaker's deployments from others of the account, by the tag `mm-<name>`. 1 to 32 of A–Z,
   * a–z, 0–9, _ and -. Two matchmakers that run at the same time need different names, because each stops unknown
   * deployments with its tag. Default 'muster'.
   */
  readonly name?: string | undefined
  /** Milliseconds between two ticks after `start`. Default 250. */
  readonly tickMs?: number | undefined
  /**
   * Milliseconds of matching after which a tick uses the matches found so far. The next tick continues there. Default:
   * 15 % of `tickMs`. Infinity for no limit: matching yields to the event loop every 5 ms anyway.
   */
  readonly tickBudgetMs?: number | undefined
  /**
   * Maximum number of deployments at a time, including those with this matchmaker's tag that belong to none of its
   * matches. Tickets wait at the limit. Infinity for no limit. Default 1000 (our choice, to bound the cost of a
   * mistake).
   */
  readonly maxServers?: number | undefined
  /** Maximum number of deployments at a time to which no players were sent yet. Default 200. */
  readonly maxStarting?: number | undefined
  /** Maximum number of creates within any minute, including further placement attempts of a match. Default Infinity. */
  readonly maxCreatesPerMinute?: number | undefined
  /**
   * Limits of servers and creates that several matchmakers share, e.g. `createRedisSpending` of `@muster/redis`, in
   * addition to this matchmaker's own limits. Default: none.
   */
  readonly budget?: SpendBudget | undefined
  /**
   * Maximum number of matches that a player may wait for and play in at a time. Further tickets are refused with
   * `PlayerOverLimit`. Values above 1 matter only in queues that allow several. Once half of `maxServers` exist, the
   * maximum is one match for each player. Default 4 (our choice).
   */
  readonly maxMatchesPerPlayer?: number | undefined
  /**
   * Maximum number of servers created for matches of one player within an hour, without further placement attempts of a
   * match. At the limit, the player's tickets are refused with `PlayerOverLimit`. Default 60 (our choice): nobody plays
   * a match a minute for long, but a bot can find and leave matches. Counted in memory: a restart or, with several
   * processes, another leader resets it.
   */
  readonly maxServersPerPlayer?: number | undefined
  /**
   * Maximum number of creates in flight. Further matches wait in a queue: they are stored already, and their requests
   * follow in turn. Default 100 (our choice): the documented limit of 40/s for two and a half seconds.
   */
  readonly maxCreatesInFlight?: number | undefined
  /** Maximum number of status reads per second. Default 19: just below the documented limit of 20. */
  readonly readsPerSecond?: number | undefined
  /**
   * Stops a deployment with this matchmaker's tag that belongs to none of its matches, this many milliseconds after its
   * start. Without a store that outlives the process, players may be on such a deployment: then choose longer than a
   * match lasts. Infinity for never. Default 300,000 (our choice).
   */
  readonly orphanGraceMs?: number | undefined
  /** Public http or https URL at which `webhook` is mounted. Default: no webhooks are requested. */
  readonly webhookUrl?: string | undefined
  /**
   * Public http or https URL of the ticket API, with its `basePath`. Servers get it as MM_API_URL, to report about
   * their match. Default: none. Then servers must know the URL themselves.
   */
  readonly apiUrl?: string | undefined
  /**
   * Where match results that servers report are sent, in addition to the event `matchOver`. Each result is a signed
   * POST, repeated until a 2xx response, in order for each player. With a store, this survives a restart. Default:
   * nowhere.
   */
  readonly results?: ResultsDefinition | undefined
  /**
   * The master secret of at least 32 characters from which the tokens of game servers are derived. Matchmakers that
   * share it accept each other's servers. Default: a secret in the store or, without a store, a new one for each
   * process.
   */
  readonly serverSecret?: string | undefined
  /**
   * How join tokens are signed. `HS256`: with a separate key for each server. The server verifies tokens without a
   * request. `EdDSA`: with one key for all servers. A backend can verify the tokens of any server with the public key,
   * which the ticket API serves at `/.well-known/jwks.json`. Default `{ alg: 'HS256' }`.
   */
  readonly joinTokens?: JoinTokenOptions | undefined
  /** Milliseconds that a new deployment may be missing in the service's list. Default 5000 (our choice). */
  readonly listLagMs?: number | undefined
  /** Milliseconds that a ticket waits for `locate` before it is matched without a location. Default 2000. */
  readonly locateTimeoutMs?: number | undefined
  /** Milliseconds for which a ticket can still be read after it was cancelled or its match ended. Default 60,000. */
  readonly endedTicketTtlMs?: number | undefined
  readonly clock?: Clock | undefined
  /** Returns milliseconds, to measure ticks. Default: the clock's time. A manual clock never ends a tick early. */
  readonly stopwatch?: (() => number) | undefined
  /** Creates ids and spreads retries. Default: a cryptographic source. */
  readonly random?: Random | undefined
}

/** Settings that `reconfigure` replaces besides the queues. */
export interface ReconfigureOptions {
  /** The new pools. Default: the pools do not change. */
  readonly pools?: readonly PoolDefinition[] | undefined
}

/** The options without a default. */
type Optional =
  | 'deployments'
  | 'store'
  | 'locate'
  | 'locations'
  | 'beacons'
  | 'budget'
  | 'webhookUrl'
  | 'apiUrl'
  | 'serverSecret'
  | 'results'

/** The options with every default filled in. */
export type Config = {
  readonly [Key in Exclude<keyof MatchmakerOptions, Optional | 'queues' | 'pools' | 'browser'>]-?: Exclude<
    MatchmakerOptions[Key],
    undefined
  >
} & Pick<MatchmakerOptions, Optional> & {
    readonly queues: readonly Queue[]
    readonly pools: readonly Pool[]
    readonly browser: Browser
  }

const milliseconds = z
  .number()
  .min(0)
  .max(2 ** 31 - 1)
const countOrInfinity = z.custom<number>(
  (value) => value === Infinity || (Number.isSafeInteger(value) && (value as number) >= 1),
  'must be a whole number from 1, or Infinity',
)

/** The default values of plain options. */
export const defaultOptions = {
  name: 'muster',
  tickMs: 250,
  maxServers: 1000,
  maxStarting: 200,
  maxCreatesPerMinute: Infinity,
  maxMatchesPerPlayer: 4,
  maxServersPerPlayer: 60,
  maxCreatesInFlight: 100,
  readsPerSecond: 19,
  orphanGraceMs: 300_000,
  listLagMs: 5000,
  locateTimeoutMs: 2000,
  endedTicketTtlMs: 60_000,
} satisfies Partial<MatchmakerOptions>

const shortName = z.string().regex(/^[\w-]{1,32}$/, 'must be 1 to 32 of A–Z, a–z, 0–9, _ and -')

/** The schema of a name in `sources`. */
export const sourceName = shortName.refine(
  (name) => name !== ENROLLED,
  `must not be ${ENROLLED}, which is the source of servers that enrol`,
)

const schema = z.strictObject({
  deployments: having<DeploymentService>('create', 'get', 'stop', 'list').optional(),
  sources: z.record(sourceName, having<ServerAllocator>('allocate', 'poll', 'stop')).default({}),
  locate: callable<Locate>().optional(),
  store: having<Store>(
    'isFailing',
    'attach',
    'records',
    'write',
    'flush',
    'sync',
    'advance',
    'isClosed',
    'close',
  ).optional(),
  locations: having<LocationService>('list').optional(),
  beacons: callable<BeaconSource>().optional(),
  name: shortName.default(defaultOptions.name),
  tickMs: milliseconds.min(1).default(defaultOptions.tickMs),
  tickBudgetMs: z
    .custom<number>((value) => typeof value === 'number' && value > 0, 'must be milliseconds above 0, or Infinity')
    .optional(),
  maxServers: countOrInfinity.default(defaultOptions.maxServers),
  maxStarting: countOrInfinity.default(defaultOptions.maxStarting),
  maxCreatesPerMinute: countOrInfinity.default(defaultOptions.maxCreatesPerMinute),
  budget: having<SpendBudget>('servers', 'creates', 'planned').optional(),
  maxMatchesPerPlayer: countOrInfinity.default(defaultOptions.maxMatchesPerPlayer),
  maxServersPerPlayer: countOrInfinity.default(defaultOptions.maxServersPerPlayer),
  maxCreatesInFlight: countOrInfinity.default(defaultOptions.maxCreatesInFlight),
  readsPerSecond: z.number().positive().default(defaultOptions.readsPerSecond),
  orphanGraceMs: z
    .custom<number>((value) => typeof value === 'number' && value >= 0, 'must be milliseconds from 0, or Infinity')
    .default(defaultOptions.orphanGraceMs),
  webhookUrl: z.url({ protocol: /^https?$/, error: 'must be an http or https URL' }).optional(),
  apiUrl: z.url({ protocol: /^https?$/, error: 'must be an http or https URL' }).optional(),
  results: resultsSchema.optional(),
  joinTokens: z.strictObject({ alg: z.enum(['HS256', 'EdDSA']) }).default({ alg: 'HS256' }),
  browser: browserSchema.prefault({}),
  serverSecret: z.string().min(32, 'must have at least 32 characters').optional(),
  listLagMs: milliseconds.default(defaultOptions.listLagMs),
  locateTimeoutMs: milliseconds.default(defaultOptions.locateTimeoutMs),
  endedTicketTtlMs: milliseconds.default(defaultOptions.endedTicketTtlMs),
  clock: having<Clock>('now', 'sleep').default(systemClock),
  stopwatch: callable<() => number>().optional(),
  random: callable<Random>().default(() => unguessable),
})

const invalidOption = (field: string, fieldAndFault: string) => new InvalidInput(`option ${fieldAndFault}`, { field })

/** The share of the time between two ticks that matching may take. */
const BUDGET = 0.15

/**
 * Validates the options and fills in their defaults.
 * @throws {InvalidInput} naming the option and the value; {InvalidQueue} naming the queue, the path and the value.
 */
export function configure({ queues, pools = [], ...options }: MatchmakerOptions): Config {
  const config = read(schema, options, invalidOption)
  const defined = definePools(pools, config.sources)
  const defines = defineQueues(queues, defined)
  if (config.deployments === undefined) assertNoService(defines, defined)
  return {
    ...config,
    browser: deepFreeze(config.browser),
    beacons: config.beacons ?? beaconsOf(config.locations),
    apiUrl: config.apiUrl?.replace(/\/+$/, ''),
    serverSecret: config.serverSecret,
    results: config.results,
    tickBudgetMs: config.tickBudgetMs ?? config.tickMs * BUDGET,
    stopwatch: config.stopwatch ?? (() => config.clock.now()),
    queues: defines,
    pools: defined,
  }
}

/** Validates the queues and fills in their defaults. @throws like `configure` */
export function defineQueues(queues: readonly QueueDefinition[], pools: readonly Pool[] = []): readonly Queue[] {
  if (!Array.isArray(queues) || queues.length === 0)
    throw invalidOption('queues', 'queues: must be a list of at least one queue')
  const defined = queues.map((queue) => defineQueue(deployedBy(queue, pools)))
  const twice = defined.find(({ name }, index) => defined.findIndex((queue) => queue.name === name) !== index)
  if (twice !== undefined)
    throw invalidOption('queues', `queues: two queues have the name ${JSON.stringify(twice.name)}`)
  return defined
}

/**
 * Validates the pools and fills in their defaults.
 * @param sources the servers' sources by name. Each pool must name one of them. Default: any name, if other processes
 *   create the servers.
 * @throws {InvalidInput} naming the pool, the path and the value
 */
export function definePools(pools: readonly PoolDefinition[], sources?: Config['sources']): readonly Pool[] {
  if (!Array.isArray(pools)) throw invalidOption('pools', 'pools: must be a list')
  const defined = pools.map((pool: PoolDefinition, index) =>
    read(poolSchema, pool, (field, message) => invalidOption(`pools.${index}.${field}`, `pools.${index}.${message}`)),
  )
  const twice = defined.find(({ name }, index) => defined.findIndex((pool) => pool.name === name) !== index)
  if (twice !== undefined) throw invalidOption('pools', `pools: two pools have the name ${JSON.stringify(twice.name)}`)
  const keys = new Set<string>()
  for (const [index, { enrol }] of defined.entries())
    for (const [nth, { key }] of enrol.entries()) {
      const field = `pools.${index}.enrol.${nth}.key`
      if (keys.has(key)) throw invalidOption(field, `${field}: is the key of an earlier entry, too`)
      keys.add(key)
    }
  for (const [index, { source }] of defined.entries()) {
    if (source === undefined || source === ENROLLED || sources === undefined || Object.hasOwn(sources, source)) continue
    const field = `pools.${index}.source`
    throw invalidOption(field, `${field}: there is no source ${JSON.stringify(source)}`)
  }
  return defined
}

/**
 * Checks that every server has a source other than the deployment service.
 * @throws {InvalidInput} naming the option and the value
 */
export function assertNoService(
  queues: readonly Pick<Queue, 'name' | 'pool' | 'deploy'>[],
  pools: readonly Pick<Pool, 'source'>[],
): void {
  for (const [index, { pool, deploy }] of queues.entries()) {
    if (pool !== undefined) continue
    const field = `queues.${index}.deploy`
    const what = `${deploy.application} ${deploy.version}`
    throw invalidOption(
      field,
      `${field}: no deployment service is configured that could deploy ${JSON.stringify(what)}`,
    )
  }
  for (const [index, { source }] of pools.entries()) {
    if (source !== undefined) continue
    const field = `pools.${index}.source`
    throw invalidOption(field, `${field}: must be given, because no deployment service is configured`)
  }
}

/** Copies the `deploy` of the queue's pool into the queue. @throws {InvalidInput} naming the option */
function deployedBy(queue: QueueDefinition, pools: readonly Pool[]): QueueDefinition {
  const { definition, fault } = withPool(queue, pools)
  if (definition !== undefined) return definition
  const message = `queue ${JSON.stringify(queue.name)}: ${fault?.field}: ${fault?.message}`
  throw invalidOption('queues', message)
}

function beaconsOf(locations: LocationService | undefined): BeaconSource | undefined {
  const beacons = locations?.beacons
  return beacons === undefined ? undefined : () => beacons.all()
}
