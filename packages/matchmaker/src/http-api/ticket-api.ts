import {
  type Awaitable,
  callSafely,
  warnThat,
  createHttpApi,
  createOpenWaits,
  type Handlers,
  ownOpenApiDocument,
  prefixed,
  unguessable,
  whenKnown,
} from '@muster/core/internal'
import { systemClock } from '@muster/core/clock'
import {
  type AttemptLimit,
  bearerToken,
  clientAddress,
  createMemoryLimitStore,
  type HttpHandler,
  type LimitStore,
  Problem,
} from '@muster/core/http'
import { createAuditedCommands, type TicketService } from '../commands.js'
import { Unavailable } from '../errors.js'
import { type BackendCommand, checkOptions, type TicketApiOptions } from './api-options.js'
import { SECRET_HEADER } from './bodies.js'
import {
  admitServers,
  admitShared,
  admitStreams,
  assertOwnMatch,
  assertMayCall,
  assertStream,
  assertStreamOf,
  countedBy,
  createStreamTokens,
  isBackend,
  isServer,
  type MatchCaller,
  notTheServer,
  SHARED_CREATES,
} from './callers.js'
import { createPresenceReporter, createTicketReader } from './follow-ticket.js'
import { createGroupStore } from './group-store.js'
import { Groups } from './groups.js'
import { createBeacons, createMeasured } from './latencies.js'
import { createBackfills, createMatchMaking } from './match-requests.js'
import {
  cooldownView,
  createInspect,
  createPlayerOverview,
  createQueueOverview,
  explanationView,
  inspectMatches,
  inspectServers,
  monitorView,
  ownExplanationView,
  playerInMatch,
  poolsView,
  resultsView,
  ticketsInspected,
} from './overviews.js'
import { createProfiles } from './player-profiles.js'
import { problemOf } from './problems.js'
import { createCheckStatements, createReadPlayer } from './read-player.js'
import { subjects, ticketRoutes } from './routes.js'
import { createTicketCreation } from './ticket-creation.js'
import { createSeatHandlers } from './seat-handlers.js'
import { createServerHandlers, joinKeysAnswer, SERVER_BODY_BYTES } from './server-handlers.js'
import { isoTime, seatId, ticketView, timeBy } from './ticket-views.js'

/** The ticket API as a function `(Request) → Promise<Response>`, to be mounted on any server. */
export interface TicketApi extends HttpHandler {
  /** Returns the counts since the API was created. */
  readonly counts: () => TicketApiCounts
}

type RouteName = keyof typeof ticketRoutes

const PER_CALLER: AttemptLimit = { limit: 50, windowMs: 5000 }
const PER_ADDRESS: AttemptLimit = { limit: 250, windowMs: 5000 }
/**
 * Creates with a shared token, per network (our choice): enough for a few households behind one address, but few for
 * somebody who invents players.
 */
const SHARED_PER_NETWORK: AttemptLimit = { limit: 60, windowMs: 60_000 }
/** Maximum number of wrong secrets from one network (our choice). An honest client sends none. */
const WRONG_SECRETS: AttemptLimit = { limit: 20, windowMs: 60_000 }

/**
 * Creates the HTTP API for game clients, game servers and backends.
 * @throws {InvalidInput} naming the option and the value.
 */
export function createTicketApi(service: TicketService, options: TicketApiOptions): TicketApi {
  checkOptions(options)
  const { authenticate, address = clientAddress(), cors, inspect = false } = options
  const { perCaller, perAddress, sharedCreates } = options.limits ?? {}
  const { bodyBytes = 16 * 1024, backendBodyBytes = 2 * 1024 * 1024, bodies } = options.limits ?? {}
  const parts = partsOf(service, options)
  const { basePath, random, onError, clock, latencies, waits, groupStore } = parts
  const limitStore = prefixed(options.limitStore ?? createMemoryLimitStore(clock), 'ticket-api')
  const sharedLimit = orNone(sharedCreates, SHARED_PER_NETWORK)
  const wrongSecrets = limitStore.attempts('wrongSecrets', WRONG_SECRETS)
  const api = createHttpApi({
    routes: ticketRoutes,
    handlers: handlersOf(parts),
    authenticate: admitServers(
      admitStreams(admitShared(authenticate, address, random, wrongSecrets), parts.streamTokens),
      service,
      basePath,
    ),
    authorize: createAuthorize(service, {
      inspect,
      sharedAttempts: sharedLimit && limitStore.attempts('sharedCreates', sharedLimit),
    }),
    basePath,
    address,
    cors,
    onError,
    clock,
    problemOf: (error) => problemOf(error, service),
    maxBodyBytes: (route) => {
      if (route === 'reportServer') return SERVER_BODY_BYTES
      const { who } = ticketRoutes[route]
      return who === 'backends' || who === 'backends and the server of the match' ? backendBodyBytes : bodyBytes
    },
    bodies,
    limits: {
      perCaller: orNone(perCaller, PER_CALLER),
      perAddress: orNone(perAddress, PER_ADDRESS),
      exempt: isBackend,
      apart: isServer,
      countedBy,
      store: limitStore,
    },
  })
  const counts = (): TicketApiCounts => ({
    latenciesImpossible: latencies.impossible,
    latenciesUnknown: latencies.unknown,
    latenciesEstimated: latencies.estimated,
    waiting: waits.open(),
    groups: groupStore.size(),
  })
  return Object.assign(api, { counts })
}

/** Creates the parts that the handlers use, in the order in which they need each other. */
function partsOf(service: TicketService, options: TicketApiOptions) {
  const { basePath = '', random = unguessable, clock = systemClock } = options
  const { onError: report = warnThat('the ticket API') } = options
  const onError = (error: unknown) => callSafely(() => report(error), warnThat('onError'))
  const { locate, store, acted = () => {}, groupIdleMs = 300_000 } = options
  const { waitsPerCaller = 8, waits: inAll = 50_000, groups: mostGroups = 100_000 } = options.limits ?? {}
  const latencies = { impossible: 0, unknown: 0, estimated: 0 }
  const beacons = options.beacons && createBeacons(options.beacons, clock, onError)
  const waits = createOpenWaits<MatchCaller>({ perCaller: waitsPerCaller, inAll, isExempt: isBackend, countedBy })
  const queueNames = () => service.queueNames()
  const readPlayer = createReadPlayer({
    measured: createMeasured(beacons, locate, latencies),
    checkStatements: createCheckStatements(service, queueNames),
    readsLatencies: service.readsLatencies,
    profiles: options.profile && createProfiles(options.profile, clock, onError),
    random,
  })
  const isAlive = ({ id }: { readonly id: string }) =>
    whenKnown(service.getTicket(id), (ticket) => ticket !== undefined)
  const groupStore = options.groups ?? createGroupStore({ clock, idleMs: groupIdleMs, mostGroups, isAlive, store })
  const presence = createPresenceReporter({ service, clock, onError })
  const groups = new Groups({ service, store: groupStore, presence, queueNames, random })
  return {
    service,
    basePath,
    random,
    onError,
    clock,
    latencies,
    beacons,
    waits,
    readPlayer,
    groupStore,
    groups,
    inspect: createInspect(service, clock),
    // The command has succeeded, so its answer does not depend on the audit log.
    operate: createAuditedCommands<BackendCommand>(service, (act) => callSafely(() => acted(act), onError)),
    streamTokens: createStreamTokens(options.streamTokens ?? {}, clock),
    creating: createTicketCreation(service, readPlayer, onError),
    reading: createTicketReader(service, { waits, presence, clock }),
    backfills: createBackfills(service, random),
    playerOverview: createPlayerOverview({ service, groups, presence, lobbies: options.lobbies, onError }),
    queueOverview: createQueueOverview({ service, locate, clock }),
    seatHandlers: createSeatHandlers({ service, groups, waits, beacons, locate, clock, onError }),
  }
}

/** Returns the handler of each route. */
function handlersOf(parts: ReturnType<typeof partsOf>): Handlers<typeof ticketRoutes, MatchCaller> {
  const { service, basePath, clock, beacons, readPlayer, inspect, operate, streamTokens } = parts
  const { creating, reading, groups, backfills, playerOverview, queueOverview } = parts
  let document: ReturnType<typeof describe> | undefined
  return {
    document: () => (document ??= describe(basePath)),
    monitor: async () => monitorView(await unlessUnavailable(inspect), beacons, timeBy(service)),
    beacons: () => {
      if (beacons === undefined) throw new Problem(404, 'no-beacons', 'This server has no beacons.')
      return beacons.view()
    },

    queues: (_, exchange) => queueOverview(exchange.caller, exchange.address),

    createTicket: (body, exchange) => creating.one(body, exchange),
    createTickets: ({ tickets }, exchange) => creating.many(tickets, exchange),
    createParty: async (body, exchange) => ({ player_tickets: await creating.party(body, exchange) }),
    getTicket: ({ ticket_id, wait = 0, version, until }, { caller, request }) =>
      whenKnown(reading.seat(ticket_id, caller), (seat) =>
        wait === 0
          ? reading.read(seat, caller)
          : reading.poll(seat, { caller, version, until, waitMs: wait * 1000, signal: request.signal }),
      ),
    ticketEvents: ({ ticket_id, until, lastEventId }, { caller, request }) =>
      whenKnown(reading.seat(ticket_id, caller), (seat) => {
        assertStreamOf(seatId(seat), caller)
        return reading.stream(seat, { caller, version: lastEventId, until, signal: request.signal })
      }),
    createStreamToken: async ({ ticket_id }, { caller }) => {
      const seat = await reading.seat(ticket_id, caller)
      const ticketId = seatId(seat)
      const { token, expiresAt } = streamTokens.issue({ ticketId, playerId: seat.ticket.players[seat.index]?.id ?? '' })
      return { token, url: `${basePath}/tickets/${ticketId}/events?token=${token}`, expires_at: isoTime(expiresAt) }
    },
    deleteTicket: async ({ ticket_id }, { caller }) => {
      const { ticket, index } = await reading.seat(ticket_id, caller)
      await service.cancelTicket(ticket.id, isBackend(caller) ? undefined : ticket.players[index]?.id)
    },
    explainTicket: async ({ ticket_id }, { caller }) => {
      const { ticket } = await reading.seat(ticket_id, caller)
      const explanation = await service.explain(ticket.id)
      return isBackend(caller) ? explanationView(explanation) : ownExplanationView(explanation)
    },
    acceptMatch: async ({ ticket_id, match_id }, { caller }) => {
      const { ticket, index } = await reading.seat(ticket_id, caller)
      const answered = await service.acceptMatch(ticket.id, ticket.players[index]?.id, match_id)
      return ticketView({ ticket: answered, index }, service)
    },
    declineMatch: async ({ ticket_id, match_id }, { caller }) => {
      const { ticket, index } = await reading.seat(ticket_id, caller)
      const answered = await service.declineMatch(ticket.id, ticket.players[index]?.id, match_id)
      return ticketView({ ticket: answered, index }, service)
    },

    me: (_, { caller }) => {
      if (isBackend(caller))
        throw new Problem(403, 'players-only', 'This path is for players. A backend reads GET /players/{player_id}.')
      return playerOverview(caller.id, caller)
    },
    findPlayer: ({ player_id }) => playerOverview(player_id),

    createGroup: async ({ profile, is_ready, ...body }, exchange) =>
      groups.create(profile, await readPlayer(body, exchange, [profile]), is_ready),
    joinGroup: async ({ group_id, profile, is_ready, ...body }, exchange) =>
      groups.join(group_id, profile, await readPlayer(body, exchange, [profile]), is_ready),
    getGroup: ({ group_id }, { caller }) => groups.read(group_id, caller),
    deleteGroup: ({ group_id }, { caller }) => groups.cancel(group_id, caller),
    getMember: ({ group_id, member_id }, { caller }) => groups.readMember(group_id, member_id, caller),
    setReady: ({ group_id, member_id, is_ready }, { caller }) => groups.setReady(group_id, member_id, is_ready, caller),
    leaveGroup: ({ group_id, member_id }, { caller }) => groups.leave(group_id, member_id, caller),

    createBackfill: (body, { caller }) => backfills.create(body, caller),
    getBackfill: ({ backfill_id }, { caller }) => backfills.read(backfill_id, caller),
    updateBackfill: ({ backfill_id, ...change }, { caller }) => backfills.update(backfill_id, change, caller),
    deleteBackfill: ({ backfill_id }, { caller }) => backfills.cancel(backfill_id, caller),

    readCooldown: async ({ player_id }) => ({
      player_id,
      cooldowns: (await service.cooldownsOf(player_id)).map((cooldown) => cooldownView(cooldown, service)),
    }),
    forgive: ({ player_id }, { caller }) => operate(caller.id, 'forgive', player_id),

    readPools: async () => poolsView(await inspect()),
    drainServer: ({ server_id }, { caller }) => operate(caller.id, 'drainServer', server_id),
    stopServer: ({ server_id }, { caller }) => operate(caller.id, 'stopServer', server_id),
    revokeEnrolment: ({ key_id }, { caller }) => operate(caller.id, 'revokeEnrolment', key_id),
    pauseQueue: ({ profile }, { caller }) => operate(caller.id, 'pauseQueue', profile),
    resumeQueue: ({ profile }, { caller }) => operate(caller.id, 'resumeQueue', profile),
    pausePool: ({ pool, paused }, { caller }) => operate(caller.id, 'pausePool', pool, paused),
    readResults: async () => resultsView(await inspect(), await service.resultsSetAside()),
    repeatResult: ({ match_id }, { caller }) => operate(caller.id, 'repeatResult', match_id),
    dropResult: ({ match_id }, { caller }) => operate(caller.id, 'dropResult', match_id),
    createMatch: createMatchMaking(service, readPlayer),
    playersLeft: async ({ match_id, player_ids }, { caller }) => {
      await assertOwnMatch(match_id, caller, service)
      await service.playersLeft(match_id, player_ids)
    },
    findInMatch: async ({ match_id, player_id }, { caller: { serverSecret } }) => {
      // If the server requests data about a player, that player is connecting.
      if (serverSecret !== undefined && !(await service.playerCame(match_id, serverSecret, player_id)))
        throw notTheServer()
      return playerInMatch(player_id, match_id, await service.findPlayer(player_id))
    },
    // The service confirms the stop much later. The response does not wait for it.
    endMatch: async ({ match_id }, { caller }) => {
      await assertOwnMatch(match_id, caller, service)
      const until = { until: 'recorded' } as const
      // A server that ends its own match is not an operator, so nothing is written to the audit log.
      if (caller.serverSecret === undefined) await operate(caller.id, 'stopMatch', match_id, until)
      else await service.stopMatch(match_id, until)
    },

    ...createServerHandlers(service, clock),
    joinKeys: () => whenKnown(service.joinKeys(), joinKeysAnswer),
    ...parts.seatHandlers,
    serverReady: async ({ match_id }, { request }) => {
      if (!(await service.serverReady(match_id, bearerToken(request) ?? ''))) throw notTheServer()
    },

    inspectTickets: async ({ limit = 100 }) => ({
      ...ticketsInspected(await service.longestWaiting(limit), await inspect(), service),
    }),
    inspectMatches: async () => ({ matches: inspectMatches(await inspect(), service) }),
    inspectServers: async () => ({ servers: inspectServers(await inspect(), service) }),
  }
}

/** Reads the matchmaker; returns undefined while it cannot be read. */
async function unlessUnavailable<Found>(inspect: () => Awaitable<Found>): Promise<Found | undefined> {
  try {
    return await inspect()
  } catch (error) {
    if (error instanceof Unavailable) return undefined
    throw error
  }
}

/** Creates the check of who may call a route. @param inspect true if the inspection routes exist */
function createAuthorize(
  service: Pick<TicketService, 'isServerSecret'>,
  {
    inspect,
    sharedAttempts,
  }: { readonly inspect: boolean; readonly sharedAttempts: ReturnType<LimitStore['attempts']> | undefined },
) {
  return (route: RouteName, caller: MatchCaller | undefined, request: Request) => {
    if (route === 'serverReady')
      return whenKnown(service.isServerSecret(bearerToken(request) ?? ''), (known) => {
        if (!known) throw notTheServer()
      })
    if (caller !== undefined) assertStream(route, caller)
    if (route.startsWith('inspect') && !inspect)
      throw new Problem(404, 'no-such-path', 'There is nothing at this path unless `inspect` is switched on.')
    const audience = ticketRoutes[route].who
    if (caller !== undefined && audience !== 'anyone') assertMayCall(audience, caller)
    if (caller?.shared === undefined || !SHARED_CREATES.has(route)) return undefined
    return whenKnown(sharedAttempts?.take(caller.id), (waitMs = 0) => {
      if (waitMs === 0) return
      const detail = 'This network has begun too many searches with the shared token. Retry later.'
      throw new Problem(429, 'too-many-requests', detail, { retryAfterMs: waitMs })
    })
  }
}

const describe = (basePath: string) =>
  ownOpenApiDocument({
    title: 'Tickets',
    version: '1',
    description: 'Players wait for a match, and get the address of its server.',
    routes: ticketRoutes,
    subjects,
    headerSchemes: {
      playerSecret: {
        name: SECRET_HEADER,
        description: 'With a token that players share: what the client drew, 16 to 256 printable ASCII characters',
      },
    },
    basePath,
  })

const orNone = (given: AttemptLimit | null | undefined, otherwise: AttemptLimit): AttemptLimit | undefined =>
  given === null ? undefined : (given ?? otherwise)

/** Counts of the ticket API since it was created; for metrics. */
export interface TicketApiCounts {
  /** Reported latencies that were ignored because light needs longer. */
  readonly latenciesImpossible: number
  /** Reported latencies that were ignored because there is no such beacon. */
  readonly latenciesUnknown: number
  /** Latencies that were estimated from the distance, because none was reported or believed. */
  readonly latenciesEstimated: number
  /** Long polls and event streams that are open now. */
  readonly waiting: number
  /** Groups that exist now. */
  readonly groups: number
}
