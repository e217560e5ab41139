import { isAllowed } from '@muster/console/internal'
import { Conflict, InvalidInput, NotFound } from '@muster/core'
import type { Clock } from '@muster/core/clock'
import { type AttemptLimit, type Caller, type HttpHandler, Problem } from '@muster/core/http'
import { createAttempts, createHttpApi, eventStream, type Handlers } from '@muster/core/internal'
import { MatchmakerClosed, AlreadyAssigned, Unavailable } from '@muster/matchmaker'
import type { Audit } from './audit.js'
import type { Watch } from './feed/feed.js'
import type { Act, ConsoleOptions, Operator } from './options.js'
import type { QueueCardsSource } from './queue-cards.js'
import { createApplying } from './queue-edits.js'
import { consoleRoutes, permissionOf } from './routes.js'
import { serverList } from './server-list.js'
import type { FindStories } from './stories/index.js'
import type { Trials } from './trials/index.js'

/** The problem for an error of the matchmaker; undefined for an unexpected error. */
function problemOf(error: unknown): Problem | undefined {
  if (error instanceof AlreadyAssigned) {
    const message = 'the players of this ticket were sent to their server already: stop the match instead'
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

/** The caller. */
interface ConsoleCaller extends Caller, Operator {}

/** A search reads the whole event history; a list of servers queries the leader for all of them. */
const FINDS: AttemptLimit = { limit: 20, windowMs: 10_000 }
/** Queues as YAML, which are read on the thread that answers players. */
const TEXTS: AttemptLimit = { limit: 20, windowMs: 20_000 }
const PER_CALLER: AttemptLimit = { limit: 100, windowMs: 5000 }
const PER_ADDRESS: AttemptLimit = { limit: 200, windowMs: 5000 }
/** A queue as YAML. */
const BODY_BYTES = 256 * 1024

interface ApiParts {
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
  const { matchmaker, letBotsIn, processes, acted, operatorOf, address } = options
  const { basePath = '/console', limitsOfRequests = {} } = options
  const apply = createApplying(options, queues)
  const finds = createAttempts({ ...FINDS, clock })
  const texts = createAttempts({ ...TEXTS, clock })
  const take = (attempts: typeof finds, { id }: ConsoleCaller, code: string, what: string) => {
    const retryAfterMs = attempts.take(id)
    if (retryAfterMs > 0) throw new Problem(429, code, `Too many ${what}. Retry later.`, { retryAfterMs })
  }
  const takeText = (caller: ConsoleCaller) => take(texts, caller, 'too-many-edits', 'edits and trials')
  const takeSearch = (caller: ConsoleCaller) => take(finds, caller, 'too-many-searches', 'searches')
  /** Does what an operator asks for, and logs who did it once it was done. */
  const operate = async ({ who }: Operator, what: Act['what'], id: string, act: () => unknown): Promise<void> => {
    await act()
    acted({ who, what, id })
  }

  /** @throws {Problem} 404 for a deployment without a process that runs */
  const outputOf = (requestId: string): string => {
    const text = processes?.output(requestId)
    if (text === undefined)
      throw new Problem(404, 'no-process', 'The server is no process of `muster dev -- COMMAND`, or has ended.')
    return text
  }

  const handlers: Handlers<typeof consoleRoutes, ConsoleCaller> = {
    feed: (_input, { caller, request }) =>
      eventStream(
        watch.feeds.listen(caller.id, () => watch.greeting(caller)),
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
    pauseQueue: ({ name }, { caller }) => operate(caller, 'pause-queue', name, () => matchmaker.pauseQueue(name)),
    resumeQueue: ({ name }, { caller }) => operate(caller, 'resume-queue', name, () => matchmaker.resumeQueue(name)),
    cancelTicket: ({ id }, { caller }) => operate(caller, 'cancel-ticket', id, () => matchmaker.cancelTicket(id)),
    stopMatch: ({ id }, { caller }) =>
      operate(caller, 'stop-match', id, () => matchmaker.stopMatch(id, { until: 'recorded' })),
    drainServer: ({ id }, { caller }) => operate(caller, 'drain-server', id, () => matchmaker.drainServer(id)),
    revokeEnrolment: ({ key }, { caller }) =>
      operate(caller, 'revoke-enrolment', key, () => matchmaker.revokeEnrolment(key)),
    serverOutput: ({ id }) => ({ text: outputOf(id) }),
    killServer: ({ id }, { caller }) => {
      outputOf(id)
      return operate(caller, 'kill-server', id, () => processes?.kill(id))
    },
    forgive: ({ id }, { caller }) => operate(caller, 'forgive-cooldown', id, () => matchmaker.forgive(id)),
    letBotsIn: ({ players }, { caller }) => {
      if (letBotsIn === undefined) throw new Problem(404, 'no-bots', 'Only `muster dev` has bots.')
      return operate(caller, 'let-bots-in', String(players), () => letBotsIn(players))
    },
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
        throw new Problem(403, 'not-permitted', `Permission ${permission} is missing. Use a token whose role has it.`)
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
