import type { Api, OperationId } from '../api/api.js'
import type { Random } from '../random.js'
import { createAnswerCache } from './cache.js'
import { createCall, type UntypedCall } from './call.js'
import { catalogue } from './catalogue.js'
import type { Client, CloseOptions, Operations } from './client-types.js'
import { checkMilliseconds } from './check.js'
import { configure } from './config.js'
import { loadDescription } from './description.js'
import type { ClientOptions } from './options.js'
import { allPages } from './pages.js'
import { createPipeline } from './pipeline.js'
import { createWaitUntilReady } from './wait-until-ready.js'

/** Default time of `close`: orchestrators give a process 30 s to end, and other parts may have to close too. */
const CLOSE_MS = 10_000

/**
 * Creates a client of the service. Use one for the whole process, because it keeps the rate limits, the connections and
 * the cache.
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
  // Loading starts now. The first call waits for it, and reports its error.
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

/** Generates call ids 'x7k2-1', 'x7k2-2', …; the first part distinguishes them from other clients' calls. */
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
