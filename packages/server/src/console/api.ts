import { isAllowed } from '@muster/console/internal'
import { Conflict, InvalidInput, NotFound } from '@muster/core'
import type { Clock } from '@muster/core/clock'
import { type AttemptLimit, type Caller, type Connection, type HttpHandler, Problem } from '@muster/core/http'
import { createAttempts, createHttpApi, eventStream, type Handlers } from '@muster/core/internal'
import { MatchmakerClosed, AlreadyAssigned, Unavailable } from '@muster/matchmaker'
import { createAuditedCommands } from '@muster/matchmaker/internal'
import type { AuditLog } from './audit.js'
import type { Watch } from './feed/feed.js'
import type { ConsoleCommand, ConsoleOptions, Operator } from './options.js'
import type { QueueCardsSource } from './queue-cards.js'
import { createApplying } from './queue-edits.js'
import { consoleRoutes } from './routes.js'
import { serverList } from './server-list.js'
import type { FindStories } from './stories/index.js'
import type { Trials } from './trials/index.js'

/** Returns the problem that describes an error of the matchmaker; undefined for an unexpected error. */
function problemOf(error: unknown): Problem | undefined {
  if (error instanceof AlreadyAssigned) {
    const message = 'The players of this ticket have already been sent to their server. Stop the match instead.'
    return new Problem(409, 'too-late', message, { members: { match_id: error.matchId } })
  }
  if (error instanceof MatchmakerClosed)
    return new Problem(503, 'closed', 'The process is shutting down.', { retryAfterMs: 1000 })
  if (error instanceof Unavailable) {
    const { retryAfterMs } = error
    return new Problem(503, 'unavailable', 'Tickets are unavailable now. Retry later.', { retryAfterMs })
  }
  if (error instanceof NotFound) return new Problem(404, 'not-found', error.message)
  if (error instanceof Conflict) return new Problem(409, 'conflict', error.message)
  if (error instanceof InvalidInput) return new Problem(400, 'invalid-input', error.message, { field: error.field })
  return undefined
}

/** The operator who calls the API. */
interface ConsoleCaller extends Caller, Operator {}

/**
 * Limit of searches and server lists. A search reads the whole event history. A server list queries the leader for all
 * servers.
 */
const FINDS: AttemptLimit = { limit: 20, windowMs: 10_000 }
/** Limit of requests with a queue as YAML, which is parsed on the thread that answers players. */
const TEXTS: AttemptLimit = { limit: 20, windowMs: 20_000 }
const PER_CALLER: AttemptLimit = { limit: 100, windowMs: 5000 }
const PER_ADDRESS: AttemptLimit = { limit: 200, windowMs: 5000 }
/** Maximum size of a request body in bytes (256 KiB). A queue as YAML is the largest one. */
const BODY_BYTES = 256 * 1024

interface ConsoleApiParts {
  readonly watch: Watch
  readonly find: FindStories
  readonly audit: Pick<AuditLog, 'view'>
  readonly queues: QueueCardsSource
  readonly trials: Trials
  readonly clock: Clock
  readonly onError: (error: unknown) => void
}

/** Creates the console's API. Its routes are described as data, like those of the ticket API. */
export function createConsoleApi(options: ConsoleOptions, parts: ConsoleApiParts): HttpHandler {
  const { watch, find, audit, queues, trials, clock, onError } = parts
  const { matchmaker, letBotsIn, processes, acted, operatorOf, address } = options
  const { limitsOfRequests = {} } = options
  const apply = createApplying(options, queues)
  const finds = createAttempts({ ...FINDS, clock })
  const texts = createAttempts({ ...TEXTS, clock })
  const take = (attempts: typeof finds, { id }: ConsoleCaller, code: string, what: string) => {
    const retryAfterMs = attempts.take(id)
    if (retryAfterMs > 0) throw new Problem(429, code, `Too many ${what}. Retry later.`, { retryAfterMs })
  }
  const takeText = (caller: ConsoleCaller) => take(texts, caller, 'too-many-edits', 'edits and trials')
  const takeSearch = (caller: ConsoleCaller) => take(finds, caller, 'too-many-searches', 'searches')
  const operate = createAuditedCommands<ConsoleCommand>(matchmaker, acted)

  /** Returns the output of a server's process. @throws {Problem} 404 for a deployment without a running process */
  const outputOf = (requestId: string): string => {
    const text = processes?.output(requestId)
    if (text === undefined)
      throw new Problem(404, 'no-process', 'The server is not a process of `muster dev -- COMMAND`, or has ended.')
    return text
  }

  /** False once the operator's key was removed or has another role, or the token has expired. */
  const isStillOperator = async ({ who, role }: Operator, request: Request, connection: Connection) => {
    try {
      const now = await operatorOf(request, connection)
      return now?.who === who && now.role === role
    } catch (error) {
      // While signing keys are unavailable, nobody is signed out.
      return !(error instanceof Problem && error.status < 500)
    }
  }

  const handlers: Handlers<typeof consoleRoutes, ConsoleCaller> = {
    feed: (_input, { caller, request, address: remoteAddress }) =>
      eventStream(
        watch.feeds.listen(
          caller.id,
          () => watch.greeting(caller),
          () => isStillOperator(caller, request, { remoteAddress }),
        ),
        { clock, signal: request.signal },
      ),
    find: ({ id }, { caller }) => {
      takeSearch(caller)
      return find(id)
    },
    servers: async (_input, { caller }) => {
      takeSearch(caller)
      return serverList(await matchmaker.inspect(), options.spending(), clock.now(), processes)
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
    pauseQueue: ({ name }, { caller }) => operate(caller.who, 'pauseQueue', name),
    resumeQueue: ({ name }, { caller }) => operate(caller.who, 'resumeQueue', name),
    cancelTicket: ({ id }, { caller }) => operate(caller.who, 'cancelTicket', id),
    stopMatch: ({ id }, { caller }) => operate(caller.who, 'stopMatch', id, { until: 'recorded' }),
    drainServer: ({ id }, { caller }) => operate(caller.who, 'drainServer', id),
    revokeEnrolment: ({ key }, { caller }) => operate(caller.who, 'revokeEnrolment', key),
    serverOutput: ({ id }) => ({ text: outputOf(id) }),
    killServer: ({ id }, { caller: { who } }) => {
      outputOf(id)
      processes?.kill(id)
      acted({ who, what: 'kill-server', id })
    },
    forgive: ({ id }, { caller }) => operate(caller.who, 'forgive', id),
    letBotsIn: async ({ players }, { caller: { who } }) => {
      if (letBotsIn === undefined) throw new Problem(404, 'no-bots', 'Only `muster dev` has bots.')
      await letBotsIn(players)
      acted({ who, what: 'let-bots-in', id: String(players) })
    },
  }

  return createHttpApi({
    routes: consoleRoutes,
    handlers,
    authenticate: async (request, connection): Promise<ConsoleCaller | undefined> => {
      const operator = await operatorOf(request, connection)
      return operator && { ...operator, id: operator.who }
    },
    authorize: (route, caller) => {
      const permission = consoleRoutes[route].who
      if (caller === undefined || !isAllowed(caller.role, permission))
        throw new Problem(403, 'not-permitted', `Permission ${permission} is missing. Use a token whose role has it.`)
    },
    basePath: '/console/api',
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
