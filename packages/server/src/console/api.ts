import { isAllowed } from '@muster/console/wire'
import type { Clock } from '@muster/core/clock'
import {
  createAttempts,
  createHttpApi,
  eventStream,
  Problem,
  type AttemptLimit,
  type Caller,
  type Handlers,
  type HttpHandler,
} from '@muster/core/http'
import type { Audit } from './audit.js'
import type { Watch } from './feed/watch.js'
import { createOperating } from './operating.js'
import { problemOf } from './problems-of.js'
import { createApplying } from './queues/applying.js'
import type { QueueCardsSource } from './queues/queue-cards.js'
import { serverList } from './servers-list.js'
import type { FindStories } from './stories/stories.js'
import type { Trials } from './trials/trials.js'
import type { ConsoleOptions, Operator } from './options.js'
import { consoleRoutes, permissionOf } from './routes.js'

/** Who asks. */
export interface ConsoleCaller extends Caller, Operator {}

/** A search reads all that is remembered, and a list of servers asks the process that leads for all of them. */
const FINDS: AttemptLimit = { limit: 20, windowMs: 10_000 }
/** Queues as YAML, which are read on the thread that answers players. */
const TEXTS: AttemptLimit = { limit: 20, windowMs: 20_000 }
const PER_CALLER: AttemptLimit = { limit: 100, windowMs: 5000 }
const PER_ADDRESS: AttemptLimit = { limit: 200, windowMs: 5000 }
/** A queue as YAML. */
const BODY_BYTES = 256 * 1024

export interface ApiParts {
  readonly watch: Watch
  readonly find: FindStories
  readonly audit: Pick<Audit, 'view'>
  readonly queues: QueueCardsSource
  readonly trials: Trials
  readonly clock: Clock
  readonly onError: (error: unknown) => void
}

/** The console's API: made of described routes, as the ticket API is. */
export function createConsoleApi(options: ConsoleOptions, parts: ApiParts): HttpHandler {
  const { watch, find, audit, queues, trials, clock, onError } = parts
  const { operatorOf, address, basePath = '/console', limitsOfRequests = {} } = options
  const operating = createOperating(options)
  const apply = createApplying(options, queues)
  const finds = createAttempts({ ...FINDS, clock })
  const texts = createAttempts({ ...TEXTS, clock })
  const takeText = ({ id }: ConsoleCaller) => {
    const retryAfterMs = texts.take(id)
    if (retryAfterMs > 0) throw new Problem(429, 'too-many-edits', 'too many edits and trials', { retryAfterMs })
  }
  const assertMaySearch = ({ id }: ConsoleCaller) => {
    const retryAfterMs = finds.take(id)
    if (retryAfterMs > 0) throw new Problem(429, 'too-many-searches', 'too many searches', { retryAfterMs })
  }

  const handlers: Handlers<typeof consoleRoutes, ConsoleCaller> = {
    feed: (_input, { caller, request }) =>
      eventStream(
        watch.feeds.listen(caller.id, () => watch.greeting(caller)),
        { clock, signal: request.signal },
      ),
    find: ({ id }, { caller }) => {
      assertMaySearch(caller)
      return find(id)
    },
    servers: async (_input, { caller }) => {
      assertMaySearch(caller)
      const { matches } = await options.matchmaker.inspect()
      return serverList(matches, options.spending(), clock.now())
    },
    acts: () => audit.view(),
    queues: () => ({ queues: queues.cards() }),
    applyQueue: (edit, { caller }) => {
      takeText(caller)
      return apply(edit, caller)
    },
    beginTrial: ({ queue, yaml }, { caller }) => {
      takeText(caller)
      return trials.begin(queue, yaml)
    },
    getTrial: ({ id }) => trials.get(id),
    cancelTrial: ({ id }) => trials.cancel(id),
    pauseQueue: ({ name }, { caller }) => operating.pauseQueue(name, caller),
    resumeQueue: ({ name }, { caller }) => operating.resumeQueue(name, caller),
    cancelTicket: ({ id }, { caller }) => operating.cancelTicket(id, caller),
    stopMatch: ({ id }, { caller }) => operating.stopMatch(id, caller),
    forgive: ({ id }, { caller }) => operating.forgive(id, caller),
    letBotsIn: ({ players }, { caller }) => operating.letBotsIn(players, caller),
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
      const permission = permissionOf[route]
      if (caller === undefined || !isAllowed(caller.role, permission))
        throw new Problem(403, 'not-permitted', `this takes a token whose role has the permission ${permission}`)
    },
    basePath: `${basePath}/api`,
    address,
    clock,
    problemOf,
    maxBodyBytes: BODY_BYTES,
    onError,
    limits: {
      perCaller: limitsOfRequests.perCaller ?? PER_CALLER,
      perAddress: limitsOfRequests.perAddress ?? PER_ADDRESS,
    },
  })
}
