import { type Operation, type OperationId, operations, type Settings } from '@muster/core/api'
import {
  createPathMatcher,
  type PageInput,
  type PathMatch,
  type PathMatcher,
  pathOf,
  readBody,
} from '@muster/core/internal'
import type { Clock, Random } from '@muster/core/clock'
import { Problem } from '@muster/core/http'
import type { FaultSource, Strike } from '../faults.js'
import {
  type Failure,
  type Handlers,
  type NoContent,
  paged,
  type RequestContext,
  type Success,
} from '../handlers/index.js'
import {
  type UnsentAnswer,
  isDescribed,
  observedErrorStatus,
  observedFault,
  observedSuccess,
} from '../observed/index.js'
import type { PageHandler } from '../page/page.js'
import type { RateLimits } from '../rate-limits.js'
import type { World } from '../world.js'
import {
  ConnectionDropped,
  empty,
  garble,
  html,
  json,
  message,
  type Reply,
  tooMany,
  type TooManyAnswer,
  unauthorized,
} from '../reply.js'
import { createReader } from './request-input.js'

interface OperationRoute {
  readonly id: OperationId
  readonly operation: Operation
}

/**
 * Creates the router, which finds the operation for a method and a path. Pure.
 * @param hasOperation returns true if the service has the operation. Default: the service has all operations.
 */
export const createRouter = (
  settings: Settings,
  hasOperation: (id: OperationId) => boolean = () => true,
): PathMatcher<OperationRoute> =>
  createPathMatcher(
    operations
      .filter(([id]) => hasOperation(id))
      .map(([id, operation]) => ({
        method: operation.method,
        path: pathOf(operation, settings),
        value: { id, operation },
      })),
  )

/**
 * Performs an operation: reads the input from the request, calls the handler and builds the reply. Rejects only if the
 * caller has disconnected.
 */
type Performer = (
  request: Request,
  segments: readonly string[],
  query: URLSearchParams,
  strike: Strike | undefined,
) => Promise<Reply>

/** A handler of any operation. The types cannot express which input belongs to which handler; the description does. */
type AnyHandler = (input: never, context: RequestContext) => AnyAnswer | Promise<AnyAnswer>
type AnyAnswer = Success<unknown, number> | NoContent | Failure<number>

function createPerformers(deps: RequestHandlerDeps): Readonly<Record<OperationId, Performer>> {
  const { world, handlers, maxBodyBytes, onError } = deps
  const byGroup: Readonly<Record<string, Readonly<Record<string, AnyHandler>>>> = handlers

  const isObserved = world.as === 'observed'
  const observed = (id: OperationId, kind: AnyAnswer['kind'], reply: UnsentAnswer, wanted: PageInput): UnsentAnswer =>
    kind === 'failure'
      ? { ...reply, status: observedErrorStatus(id, reply.status) }
      : observedSuccess(id, reply, (all) => paged(all, wanted, world.pageSizes))

  const performer = (id: OperationId, operation: Operation): Performer => {
    const [group, name] = id.split('.') as [string, string]
    const handle = byGroup[group]?.[name] as AnyHandler
    const read = createReader(operation, world.settings)
    const hasBody = operation.method !== 'GET' && operation.method !== 'DELETE'

    return async (request, segments, query, strike) => {
      const body = hasBody ? await bodyOf(request, maxBodyBytes) : ''
      if (body === undefined) return message(413, 'the body is too large', { connection: 'close' })
      const parts = read({ segments, query, headers: request.headers, body })
      if ('problem' in parts) return message(400, parts.problem)
      const fault = isObserved ? observedFault(id, parts.input as Readonly<Record<string, unknown>>) : undefined
      if (fault !== undefined) return message(400, fault)
      try {
        const answer = await handle(parts.input as never, { world, faults: strike })
        const reply =
          answer.kind === 'no content'
            ? { status: 204, body: undefined }
            : { status: answer.status ?? operation.success[0] ?? 200, body: answer.body }
        const { status, body: shown } = isObserved ? observed(id, answer.kind, reply, parts.input as PageInput) : reply
        return shown === undefined ? empty(status) : json(status, shown)
      } catch (error) {
        onError(error, id)
        return message(500, 'Internal error. The server log has the cause.')
      }
    }
  }

  const entries = operations.map(([id, operation]) => [id, performer(id, operation)] as const)
  return Object.fromEntries(entries) as Record<OperationId, Performer>
}

const decoder = new TextDecoder()

/** Returns the body as text; undefined if it is too large. */
async function bodyOf(request: Request, maxBytes: number): Promise<string | undefined> {
  try {
    return decoder.decode(await readBody(request, maxBytes))
  } catch (error) {
    if (error instanceof Problem && error.status === 413) return undefined
    throw error
  }
}

interface RequestHandlerDeps {
  readonly world: World
  readonly handlers: Handlers
  /** Maximum size of a request's body in bytes. */
  readonly maxBodyBytes: number
  /** Called with each error that a handler throws. The response is then 500. */
  readonly onError: (error: unknown, operation: OperationId) => void
  readonly faults: FaultSource
  readonly network: ReturnType<typeof createNetwork>
  /** The rate limits; undefined for a service without limits. */
  readonly limits: RateLimits | undefined
  readonly tooManyAnswer: TooManyAnswer
  /** The account's API token. */
  readonly token: string
  /** The emulator's own page; undefined if it is off. */
  readonly page: PageHandler | undefined
}

/**
 * Creates the function that handles requests. It rejects with ConnectionDropped if a declared fault ends the
 * connection, and if the caller has disconnected.
 */
export function createRequestHandler(deps: RequestHandlerDeps): (request: Request) => Promise<Reply> {
  const { world, faults, network, page } = deps
  const router = createRouter(world.settings, world.as === 'observed' ? isDescribed : undefined)
  const perform = createPerformers(deps)

  return async (request) => {
    const { path, query } = targetOf(request.url)
    const match = router.match(request.method, path)
    if (match.kind !== 'route')
      return page?.({ method: request.method, path, query, headers: request.headers }) ?? unrouted(match, world)

    const { id, operation } = match.value
    const strike = faults.strike(id)
    await network.travel()
    if (strike !== undefined && strike.delayMs > 0) await network.delay(strike.delayMs)
    if (strike?.drop === 'before') throw dropped(world)

    const reply =
      refusal(deps, operation, request) ??
      (strike?.status === undefined
        ? await perform[id](request, match.segments, query, strike)
        : await failed(strike, strike.status, () => perform[id](request, match.segments, query, strike)))

    if (strike?.drop === 'after') throw dropped(world)
    count(world, id, reply.status)
    await network.travel()
    return garble(reply, strike?.body)
  }
}

/**
 * Splits a URL into path and query, without decoding either. The URL class itself has already normalized some
 * characters.
 */
function targetOf(url: string): { readonly path: string; readonly query: URLSearchParams } {
  const start = url.indexOf('/', url.indexOf('//') + 2)
  const [target = ''] = url.slice(start).split('#', 1)
  const question = target.indexOf('?')
  return question === -1
    ? { path: target, query: new URLSearchParams() }
    : { path: target.slice(0, question), query: new URLSearchParams(target.slice(question)) }
}

function unrouted(match: Exclude<PathMatch<unknown>, { kind: 'route' }>, world: World): Reply {
  world.counters.unrouted++
  // In the observed mode, the proxy in front of the service responds, and its response is not in the form of the API.
  if (world.as === 'observed') return html(404)
  if (match.kind === 'unknown path') return message(404, 'there is no operation at this path')
  return message(405, 'there is no operation with this method at this path', { allow: match.allow.join(', ') })
}

function dropped(world: World): ConnectionDropped {
  world.counters.dropped++
  return new ConnectionDropped()
}

function refusal(
  { world, token, limits, tooManyAnswer }: RequestHandlerDeps,
  operation: Operation,
  request: Request,
): Reply | undefined {
  const refused = unauthorized(operation, request.headers.get('authorization'), token)
  if (refused !== undefined || limits === undefined || operation.limit === undefined) return refused
  const rejected = tooMany(operation, limits, tooManyAnswer, world.clock.now())
  const { rejected: counts } = world.counters
  if (rejected !== undefined) counts[operation.limit.name] = (counts[operation.limit.name] ?? 0) + 1
  return rejected
}

async function failed(strike: Strike, status: number, effect: () => Promise<Reply>): Promise<Reply> {
  if (strike.effect === true) await effect()
  const seconds = strike.retryAfterMs === undefined ? undefined : String(Math.ceil(strike.retryAfterMs / 1000))
  return message(status, strike.message ?? 'a declared fault', seconds === undefined ? {} : { 'retry-after': seconds })
}

function count({ counters }: World, id: OperationId, status: number): void {
  const byStatus = (counters.requests[id] ??= {})
  byStatus[status] = (byStatus[status] ?? 0) + 1
}

/** Creates the simulated network between the caller and the service. */
export function createNetwork(
  clock: Clock,
  random: Random,
  { latencyMs, jitterMs }: { readonly latencyMs: number; readonly jitterMs: number },
  closing: AbortSignal,
) {
  return {
    /**
     * Waits for a request or a response on the network: half of the latency, and up to half of the jitter. Rejects if
     * the emulator closes.
     */
    travel: () =>
      latencyMs === 0 && jitterMs === 0 ? undefined : clock.sleep((latencyMs + random() * jitterMs) / 2, closing),
    /** Waits for another delay, e.g. that of a fault. Rejects if the emulator closes. */
    delay: (ms: number) => clock.sleep(ms, closing),
  }
}
