import { type Clock, systemClock } from '@muster/core/clock'
import { type HttpHandler, Problem } from '@muster/core/http'
import { bareToken, problemResponse } from '@muster/core/internal'
import type { TicketService } from '@muster/matchmaker'
import { createRefusals } from '../auth/index.js'
import { type Config, Secret, isPublic } from '../config/index.js'
import type { ConsoleOptions } from '../console/index.js'
import { createLog, type Log, createProblemLog, logEvents } from '../telemetry/log.js'
import { version } from '../version.js'
import { createApis, ApisInForce } from './apis.js'
import { watchClock } from './clock-watch.js'
import { consoleOptions } from './console-options.js'
import {
  createAnswerCounts,
  openListeners,
  createLoadGuard,
  createLazyMetrics,
  createMetricsEndpoint,
  createMounts,
  type ListeningServer,
  startingMounts,
} from './http/index.js'
import { openParts } from './parts.js'
import { createReadiness, createServiceCheck, type Ready } from './readiness.js'
import { createReloading, type Reloaded } from './reload/reload.js'
import { readService } from './service-reads.js'
import { createShutdown } from './shutdown.js'

/** Minimum number of characters of a secret that log lines hide. Hiding shorter ones would black out ordinary words. */
const SHORTEST = 6

/** Returns the strings that log lines must never contain. */
function secretsOf(config: Config): readonly string[] {
  const found: string[] = []
  const visit = (value: unknown): void => {
    if (value instanceof Secret) found.push(value.reveal())
    else if (Array.isArray(value)) for (const entry of value) visit(entry)
    else if (typeof value === 'object' && value !== null) for (const entry of Object.values(value)) visit(entry)
  }
  visit(config)
  // A token may be configured with the prefix `token`. The bare token is hidden too.
  return found.flatMap((text) => [text, bareToken(text)]).filter((text) => text.length >= SHORTEST)
}

type WebhookReceiver = (request: Request) => Promise<Response>

/** Handles webhooks below `/webhooks`. The rest of a path cannot be guessed, and the body is not trusted. */
function createWebhooks(servers: WebhookReceiver, relays: WebhookReceiver | undefined): HttpHandler {
  return async (request) => {
    const [, , kind] = new URL(request.url).pathname.split('/', 3)
    if (kind === 'servers') return servers(request)
    if (kind === 'relays' && relays !== undefined) return relays(request)
    return problemResponse(new Problem(404, 'no-such-path', 'There is nothing at this path.'))
  }
}

export interface ServerDeps {
  readonly clock?: Clock | undefined
  /** Writes lines of the log. Default: to the standard output. */
  readonly write?: ((line: string) => void) | undefined
  /** A token with all permissions; only for `muster dev`. */
  readonly devToken?: string | undefined
  /** Makes simulated players join; only for `muster dev`. */
  readonly letBotsIn?: ConsoleOptions['letBotsIn']
  /** The processes of servers on this machine; only for `muster dev`. */
  readonly processes?: ConsoleOptions['processes']
  /** Wraps the ticket service of the matchmaker; only for `muster dev`. */
  readonly adaptService?: ((service: TicketService) => TicketService) | undefined
  /** The script of the thread in which changed rules are tried. Default: the one in this package. */
  readonly trialWorker?: ConsoleOptions['trialWorker']
  /**
   * Changes a queue in the configuration file, and resolves with the file's new configuration. `inForce` is the current
   * definition: fields that the file omits have its values. `apply` applies the new configuration to this process. If
   * it rejects, the file gets its previous text back. Default: queues change only in memory.
   */
  readonly editQueue?:
    | ((name: string, yaml: string, inForce?: unknown, apply?: (next: Config) => Promise<void>) => Promise<Config>)
    | undefined
}

/** The running program. */
export interface MusterServer {
  /** The URL of the players' listener. */
  readonly url: string
  /** The URL of the operators' listener; undefined without `listen.admin`. */
  readonly adminUrl: string | undefined
  /** The ticket service of the matchmaker, which the ticket API uses. */
  readonly service: TicketService
  readonly log: Log
  /** The current configuration. */
  readonly config: () => Config
  readonly ready: () => Promise<Ready>
  /**
   * Applies another configuration as far as possible without a restart. If it rejects, its error names the fault and
   * nothing has changed.
   */
  readonly reload: (config: Config) => Promise<Reloaded>
  /**
   * Refuses new work, finishes running work and leaves the rest to the next process, within the configured time.
   * Resolves with true if everything was finished. Another call returns the same promise.
   */
  readonly close: () => Promise<boolean>
}

/**
 * Starts the program: the ticket API, the lobby API and the console on one port, with the parts that they need. If it
 * rejects, its error names a remedy and nothing is left running.
 */
export async function startServer(config: Config, deps: ServerDeps = {}): Promise<MusterServer> {
  const { clock = systemClock, write, devToken } = deps
  const inForce = new ApisInForce(config)
  const secrets = () => [...(devToken === undefined ? [] : [devToken]), ...secretsOf(inForce.config)]
  const log = createLog({ ...config.telemetry.log, write, secrets })
  const problems = createProblemLog(log, clock)
  const onProblem = (during: string, error: unknown) => problems.report(during, error)
  const refusals = createRefusals(clock, (text) => log.warn(text))
  const common = { ...deps, clock, log, onProblem, onRefused: refusals.refused, inForce }

  // Health probes are answered while the other parts start.
  let mounts = startingMounts()
  const answers = createAnswerCounts()
  const isDev = devToken !== undefined
  const listen = () => openListeners({ config: () => inForce.config, mounts: () => mounts, log, clock, isDev })
  // The previous process may still listen on the address. This process then listens later, once that process has
  // released the store and ended.
  const early = await listen().catch((error: unknown) => {
    if (!isInUse(error)) throw error
  })
  const parts = await openParts({
    ...common,
    consoleOptions: (matching, client, locate) =>
      consoleOptions({ ...common, matching, client, locate, ready: () => ready(), reload: (next) => reload(next) }),
  }).catch(async (error: unknown) => {
    early?.destroy()
    await early?.close()
    throw error
  })
  const closeParts = async () => {
    early?.destroy()
    await Promise.all([early?.close(), parts.close(() => 1000)])
  }
  const { matching, client, sources, lobbies } = parts
  try {
    inForce.apis = createApis(config, parts.api)
  } catch (error) {
    await closeParts()
    throw error
  }
  logEvents(matching.on, log, problems)
  const check = createServiceCheck({
    client,
    clock,
    readAll: (signal) => readService({ client, sources, config: inForce.config, clock, signal }),
    onProblem: (error) => onProblem('service', error),
  })
  const ready = createReadiness(
    () => closing.reason(),
    [check.reason, ...matching.checks],
    clock,
    () => {
      const { leads: leading, leader } = matching.membership?.() ?? {}
      return { leading, leader }
    },
  )
  const reload = createReloading({ ...common, parts })
  const listener =
    early ??
    (await listen().catch(async (error: unknown) => {
      await check.close()
      await closeParts()
      throw error
    }))
  const metrics = config.telemetry.metrics.enabled
    ? createLazyMetrics({
        matchmaker: matching.observed,
        client,
        clock,
        program: {
          connections: () => listener.connections(),
          load: () => guard.counts(),
          answers: answers.counts,
          membership: matching.membership,
          clock,
          refusals: refusals.totals,
        },
      })
    : undefined
  const guard = createLoadGuard({
    delayMs: () => inForce.config.limits.delayMs,
    onShed: (count, lateMs) =>
      log.warn(`Overload: ${count} requests were rejected with 503.`, { lateMs: Math.round(lateMs) }),
    queuedMs: listener.queuedMs,
    clock,
  })
  const served = createMounts({
    apis: () => inForce.apis,
    guard,
    clock,
    hasAdmin: config.listen.admin !== undefined,
    console: parts.console?.handle,
    webhooks: createWebhooks(matching.webhook, lobbies?.webhook),
    metrics:
      metrics &&
      createMetricsEndpoint({
        ...matching,
        ...metrics,
        key: () => inForce.config.telemetry.metrics.key?.reveal(),
        isOpen: () => inForce.config.telemetry.metrics.open || !isPublic(config.listen),
        clock,
      }),
    ready,
    isClosing: () => closing.reason() !== undefined,
  })
  const clockWatch = watchClock(clock, (error) => onProblem('clock', error))
  const closing = createShutdown({ ...common, parts, listener, guard, check, clockWatch, refusals, metrics, problems })
  mounts = { ...served, all: answers.counting(served.all), beyond: answers.counting(served.beyond) }
  matching.start()
  logStart(log, config, listener)
  metrics?.start()
  return {
    url: listener.url,
    adminUrl: listener.adminUrl,
    service: parts.api.service,
    log,
    config: () => inForce.config,
    ready,
    reload,
    close: closing.close,
  }
}

const isInUse = (error: unknown) => (error as NodeJS.ErrnoException).code === 'EADDRINUSE'

/**
 * Logs the most important facts for an operator. Omits the host, because it may be an address, which log lines never
 * contain.
 */
function logStart(
  log: Log,
  { name, listen, queues, store, lobbies }: Config,
  { port, adminUrl }: Pick<ListeningServer, 'port' | 'adminUrl'>,
): void {
  log.info('listening', {
    port,
    adminPort: adminUrl === undefined ? undefined : Number(adminUrl.slice(adminUrl.lastIndexOf(':') + 1)),
    publicUrl: listen.publicUrl,
    name,
    version,
    queues: queues.map((queue) => queue.name),
    store: store.kind,
    lobbies: lobbies.enabled,
  })
}
