import type { Clock } from '@muster/core/clock'
import {
  createHttpApi,
  eventStream,
  Problem,
  type AttemptLimit,
  type Caller,
  type Handlers,
  type HttpHandler,
} from '@muster/core/http'
import type { Watch } from './feed/watch.js'
import type { ConsoleOptions, Operator } from './options.js'
import { consoleRoutes, operateRoutes } from './routes.js'

/** Who asks. */
export interface ConsoleCaller extends Caller, Operator {}

const PER_CALLER: AttemptLimit = { limit: 100, windowMs: 5000 }
const PER_ADDRESS: AttemptLimit = { limit: 200, windowMs: 5000 }
/** A queue as YAML. */
const BODY_BYTES = 256 * 1024

export interface ApiParts {
  readonly watch: Watch
  readonly clock: Clock
  readonly onError: (error: unknown) => void
}

/** The console's API: made of described routes, as the ticket API is. */
export function createConsoleApi(options: ConsoleOptions, { watch, clock, onError }: ApiParts): HttpHandler {
  const { operatorOf, address, basePath = '/console', limitsOfRequests = {} } = options
  const handlers: Handlers<typeof consoleRoutes, ConsoleCaller> = {
    feed: (_input, { caller, request }) =>
      eventStream(
        watch.feeds.listen(caller.id, () => watch.greeting(caller)),
        { clock, signal: request.signal },
      ),
  }

  return createHttpApi({
    routes: consoleRoutes,
    handlers,
    anonymous: [],
    authenticate: async (request, connection): Promise<ConsoleCaller | undefined> => {
      const operator = await operatorOf(request, connection)
      return operator && { ...operator, id: operator.who }
    },
    authorize: (route, caller) => {
      if (operateRoutes.has(route) && caller?.role !== 'operate')
        throw new Problem(403, 'operate-only', 'this takes a token whose role is operate')
    },
    basePath: `${basePath}/api`,
    address,
    clock,
    maxBodyBytes: BODY_BYTES,
    onError,
    limits: {
      perCaller: limitsOfRequests.perCaller ?? PER_CALLER,
      perAddress: limitsOfRequests.perAddress ?? PER_ADDRESS,
    },
  })
}
