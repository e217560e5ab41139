import type { Api, OperationId } from '../api/api.js'
import type { Random } from '../time.js'
import { createAnswerCache } from './cache.js'
import { createEvents } from './call-events.js'
import { createCall, loadDescription, type UntypedCall } from './call.js'
import type { Client, CloseOptions, IsPaged, Operations } from './client-types.js'
import { checkMilliseconds, type ClientConfig, type ClientOptions, configure } from './config.js'
import { decode, decodeGone } from './decode.js'
import { createFlights, createLifetime } from './flight.js'
import { allPages } from './pages.js'
import { createQueues } from './queues.js'
import type { Request } from './request.js'
import { withRetry } from './retry.js'
import { observe, send } from './send.js'
import { createTransport } from './transport.js'
import { createWaitUntilReady } from './wait-until-ready.js'

/** The call variants of an operation: `once` is a single call. `pages` can also iterate over all pages. */
type Kinds<Description> = {
  readonly [Group in keyof Description]: {
    readonly [Name in keyof Description[Group]]: IsPaged<Description[Group][Name]> extends true ? 'pages' : 'once'
  }
}

/**
 * The operations by name, so that a client can be created before the description is loaded. A missing operation, or one
 * with the wrong variant, does not compile.
 */
export const catalogue: Kinds<Api> = {
  applications: { create: 'once', update: 'once', get: 'once', delete: 'once', list: 'pages' },
  versions: { create: 'once', get: 'once', update: 'once', delete: 'once', list: 'pages' },
  registry: { listTags: 'pages', deleteTag: 'once' },
  storages: { create: 'once', get: 'once', update: 'once', delete: 'once', list: 'pages' },
  pullProfiles: {
    create: 'once',
    get: 'once',
    update: 'once',
    delete: 'once',
    list: 'pages',
    link: 'once',
    unlink: 'once',
  },
  locations: { list: 'pages', beacons: 'pages' },
  deployments: {
    create: 'once',
    get: 'once',
    stop: 'once',
    selfStop: 'once',
    bulkStop: 'once',
    list: 'pages',
    logs: 'once',
    metrics: 'once',
    deployLegacy: 'once',
  },
  fleets: { create: 'once', get: 'once', update: 'once', delete: 'once', list: 'pages', link: 'once', unlink: 'once' },
  policies: { create: 'once', list: 'pages', get: 'once', update: 'once', delete: 'once' },
  tags: { list: 'pages', get: 'once', create: 'once', update: 'once', delete: 'once' },
  relays: { create: 'once', list: 'pages', get: 'once', delete: 'once', authorizeUser: 'once', revokeUser: 'once' },
}

/**
 * Creates the functions that send encoded requests and return values. They combine the hops after the call: retry →
 * schedule → send → decode.
 */
export function createPipeline(config: ClientConfig) {
  const { clock } = config
  const { emitter, sink: events } = createEvents()
  const lifetime = createLifetime()
  const queues = createQueues(config, events)
  const transport = createTransport(config)
  const hops = { ...config, events, transport, throttled: queues.throttled, gone: decodeGone }

  const attempt = async (request: Request) => {
    const answer = await queues.run(request, (slot) => observe(request, () => send(request, slot, hops), events, clock))
    if (answer.status !== 429) queues.accepted(request)
    return decode(request, answer, clock, events)
  }
  const perform = (request: Request) => withRetry(request, attempt, hops)
  const flights = createFlights({ perform, lifetime, clock })

  return {
    flights,
    lifetime,
    queues,
    events: emitter,
    /** Waits at most `timeoutMs` for running calls, then closes the connections. */
    close: async (timeoutMs: number) => {
      const closed = new AbortController()
      clock.sleep(timeoutMs, closed.signal).then(flights.abandonAll, () => {})
      await lifetime.close()
      closed.abort()
      await transport.close()
    },
  }
}

/**
 * Default timeout of `close` in milliseconds. Orchestrators give a process 30 s to end, and other parts may have to
 * close too.
 */
const CLOSE_MS = 10_000

/**
 * Creates a client of the service. Use a single one for the whole process, because it holds the rate limits, the
 * connections and the cache.
 *
 * Every call passes five hops, each in a file of its own: call → retry → schedule (queues.ts) → send → decode.
 *
 * @throws {InvalidInput} naming the option and its value; a token is never shown
 */
export function createClient(options: ClientOptions): Client {
  const config = configure(options)
  const { flights, lifetime, queues, events, ...pipeline } = createPipeline(config)
  const cache = createAnswerCache(config.cacheTtlMs, config.clock)
  const calling = { ...config, flights, lifetime, cache, nextCall: callIds(config.random) }

  const resources: Record<string, Record<string, UntypedCall>> = {}
  for (const [group, members] of Object.entries(catalogue)) {
    resources[group] = {}
    for (const [name, kind] of Object.entries(members)) {
      const id = `${group}.${name}` as OperationId
      const call = createCall(id, calling)
      resources[group][name] = kind === 'pages' ? Object.assign(call, { all: allPages(id, call) }) : call
    }
  }
  const close = async ({ timeoutMs = CLOSE_MS }: CloseOptions = {}) => {
    checkMilliseconds('timeoutMs', timeoutMs)
    await pipeline.close(timeoutMs)
  }
  // Starts loading the description early. The first call waits for the same promise, and reports its error.
  loadDescription().catch(() => {})
  const typed = resources as Operations<Api>

  return {
    ...typed,
    deployments: { ...typed.deployments, waitUntilReady: createWaitUntilReady(typed.deployments.get, config) },
    events,
    queues: queues.state,
    close,
    [Symbol.asyncDispose]: close,
    toJSON: () => ({ service: `${config.origin}${config.pathPrefix}`, queues: queues.state() }),
  }
}

/**
 * Creates the generator of call ids 'x7k2-1', 'x7k2-2', …. The first part distinguishes them from other clients' calls.
 */
function callIds(random: Random): () => string {
  const client = Math.floor(random() * 36 ** 4)
    .toString(36)
    .padStart(4, '0')
  let made = 0
  return () => {
    made += 1
    return `${client}-${made}`
  }
}
