import type { LimitNow } from '@muster/console/internal'
import type { Client } from '@muster/core'
import type { Clock } from '@muster/core/clock'
import { createLimitMeter, defineQueue, type ObservedClient, type QueueDefinition } from '@muster/matchmaker'
import type { Config } from '../config/index.js'
import type { ApplyQueue, ConsoleOptions } from '../console/index.js'
import type { Log } from '../telemetry/log.js'
import { version } from '../version.js'
import type { ApisInForce } from './apis.js'
import type { Reloaded } from './reload/reload.js'
import { type Matching, serviceClock } from './stores/index.js'

/** Creates a function that returns the use of the service's limits since its previous call. */
function createLimitsNow(client: ObservedClient | undefined, clock: Clock): () => readonly LimitNow[] {
  if (client === undefined) return () => []
  const meter = createLimitMeter()
  client.events.on('request', ({ operation }) => meter.left(operation, clock.now()))
  return () => {
    const queues = client.queues()
    return meter
      .take()
      .map(({ name, limit, peak }) => ({
        operation: name,
        perSecond: limit,
        used: Math.min(1, peak / limit),
        waiting: queues[name]?.queued ?? 0,
      }))
      .toSorted((a, b) => b.used - a.used)
  }
}

type Passed = 'locate' | 'ready' | 'letBotsIn' | 'processes' | 'trialWorker'

interface ConsoleOptionsOf extends Pick<ConsoleOptions, Passed> {
  readonly inForce: ApisInForce
  readonly matching: Matching
  readonly client: Client | undefined
  readonly log: Log
  readonly clock: Clock
  readonly onProblem: (during: string, error: unknown) => void
  readonly reload: (next: Config) => Promise<Reloaded>
  readonly editQueue?:
    | ((name: string, yaml: string, inForce?: unknown, apply?: (next: Config) => Promise<void>) => Promise<Config>)
    | undefined
}

const HOUR_MS = 3_600_000
const MB = 1024 * 1024

/** Returns the options of the console. */
export function consoleOptions(of: ConsoleOptionsOf): ConsoleOptions {
  const { inForce, matching, client, log, clock } = of
  const { config } = inForce
  return {
    matchmaker: { ...matching.service, on: matching.on },
    locate: of.locate,
    name: config.name,
    version,
    store: config.store.kind,
    queues: () => inForce.config.queues,
    editDeploy: config.console.editDeploy,
    applyQueue: createApplyQueue(of),
    operatorOf: (request) => inForce.apis.auth.operatorOf(request),
    acted: ({ who, what, id }) => log.info(`${who} did ${what}`, { who, what, id }),
    spending: () => {
      // Changed limits take effect after a restart, a changed price at once.
      const { pricePerMinute, currency } = inForce.config.spending
      return { ...config.spending, pricePerMinute, currency }
    },
    limits: createLimitsNow(client, clock),
    ready: of.ready,
    letBotsIn: of.letBotsIn,
    processes: of.processes,
    trialWorker: of.trialWorker,
    stories: storyBounds(config),
    openEvents: matching.openEvents,
    unseen: matching.unseen,
    hosts: hostsOf(config),
    address: (request, connection) => inForce.apis.address(request, connection),
    onError: (error) => of.onProblem('console', error),
    clock: serviceClock(matching.service, clock),
  }
}

const storyBounds = ({ console: { stories } }: Config) => ({
  keepMs: stories.keepHours * HOUR_MS,
  mostBytes: stories.maxMegabytes * MB,
})

/** Returns the function that changes a queue: in the configuration file if there is one, otherwise only in memory. */
function createApplyQueue({ inForce, reload, editQueue }: ConsoleOptionsOf): ApplyQueue {
  return async (name, definition, yaml) => {
    const counts = inForce.config.queues.find((queue) => queue.name === name)
    let reloaded: Reloaded | undefined
    const apply = async (next: Config) => {
      reloaded = await reload(next)
    }
    const next =
      editQueue === undefined ? withQueue(inForce.config, name, definition) : await editQueue(name, yaml, counts, apply)
    const { refused } = reloaded ?? (await reload(next))
    return { kept: editQueue === undefined ? 'memory' : 'file', refused: refused.length }
  }
}

const withQueue = (config: Config, name: string, definition: QueueDefinition): Config => ({
  ...config,
  queues: config.queues.map((queue) => (queue.name === name ? defineQueue(definition) : queue)),
})

/** Returns the host names that the console serves, without ports. The name of the public URL is included. */
function hostsOf({ console: { hosts }, listen }: Config): readonly string[] {
  const names = hosts.map((host) => host.replace(/:\d+$/, ''))
  return listen.publicUrl === undefined ? names : [...names, new URL(listen.publicUrl).hostname]
}
