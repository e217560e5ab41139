import type { Operation, OperationId, PathMatch } from '@muster/core/api'
import type { FaultSource, Strike } from '../faults/faults.js'
import { createRouter } from '../input/router.js'
import type { RateLimits } from '../limits/rate-limits.js'
import type { Page } from '../page/page.js'
import type { World } from '../world.js'
import { garble } from './garble.js'
import type { Network } from './network.js'
import { createPerformers, type PerformerDeps } from './performers.js'
import { tooMany, unauthorized, type TooManyAnswer } from './refusals.js'
import { ConnectionDropped, message, type Reply } from './reply.js'

export interface RequestHandlerDeps extends PerformerDeps {
  readonly faults: FaultSource
  readonly network: Network
  /** The rate limits; undefined for a service without limits. */
  readonly limits: RateLimits | undefined
  readonly tooManyAnswer: TooManyAnswer
  /** The account's API token. */
  readonly token: string
  /** The emulator's own page; undefined when it is switched off. */
  readonly page: Page | undefined
}

/**
 * Creates the function that answers requests. It rejects with ConnectionDropped when a declared fault ends the
 * connection, and when the caller is gone.
 */
export function createRequestHandler(deps: RequestHandlerDeps): (request: Request) => Promise<Reply> {
  const { world, faults, network, page } = deps
  const router = createRouter(world.settings)
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

/** Splits a URL into path and query as sent, apart from what the URL class has normalized already. */
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
  if (rejected !== undefined) {
    const counts = world.counters.rejected
    counts[operation.limit.name] = (counts[operation.limit.name] ?? 0) + 1
  }
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
