import { InvalidInput } from '@muster/core'
import { type Clock, systemClock } from '@muster/core/clock'
import {
  type AttemptLimit,
  type BodyLimits,
  createMemoryLimitStore,
  type HttpHandler,
  Problem,
} from '@muster/core/http'
import {
  addressUnknown,
  type ApiOptions,
  createHttpApi,
  createOpenWaits,
  eventStream,
  type Exchange,
  type Handlers,
  ownOpenApiDocument,
  prefixed,
  type StreamEvent,
  linkedSignal,
  manyWaitOn,
} from '@muster/core/internal'
import { z } from 'zod'
import { type LobbyRefusalCode, LobbyRefused, RelayClosed } from '../errors.js'
import type { ByMember, Follow, Followed, JoinLobby, Lobbies, LobbyMessage } from '../lobby/index.js'
import { checked, count, milliseconds } from '../validate.js'
import { lobbyRoutes } from './routes.js'

/**
 * Limits of a lobby API's clients; null for no limit. `limitStore` counts requests and lists. Open streams and bodies
 * are counted in this process.
 */
export interface LobbyApiLimits {
  /** Maximum number of requests of one caller. Default 50 per 5 seconds. */
  readonly perCaller?: AttemptLimit | null | undefined
  /** Maximum number of requests from one address (IPv6: one /64). Default 250 per 5 seconds. */
  readonly perAddress?: AttemptLimit | null | undefined
  /** Maximum number of requests of one caller for the list of public lobbies. Default 20 per 10 seconds. */
  readonly listsPerCaller?: AttemptLimit | null | undefined
  /** Maximum number of open long polls and event streams of one caller; one more ends the oldest. Default 8. */
  readonly streamsPerCaller?: number | undefined
  /**
   * Maximum number of long polls and event streams of all callers; more are refused. Each needs a file descriptor.
   * Default 50,000.
   */
  readonly streams?: number | undefined
  /**
   * Maximum size of a request's body in bytes. Default 32 KiB: a create with as much data as allowed, at three bytes
   * per character, has about 25 KB.
   */
  readonly bodyBytes?: number | undefined
  /** Time limit for reading a body, and the number of unfinished bodies allowed. */
  readonly bodies?: BodyLimits | undefined
}

const attempts = (limit: number, windowMs: number) =>
  z
    .strictObject({ limit: z.number().min(1), windowMs: milliseconds })
    .nullable()
    .default({ limit, windowMs })

const schema = z
  .strictObject({
    perCaller: attempts(50, 5000),
    perAddress: attempts(250, 5000),
    listsPerCaller: attempts(20, 10_000),
    streamsPerCaller: count.default(8),
    streams: count.default(50_000),
    bodyBytes: count.default(32 * 1024),
    bodies: z
      .strictObject({ timeoutMs: milliseconds.optional(), perAddress: count.optional(), inAll: count.optional() })
      .optional(),
  })
  .prefault({})

/** Validates the limits. @throws {InvalidInput} naming the limit and its value. */
const checkLimits = (limits: LobbyApiLimits | undefined) => checked(schema, limits, 'createLobbyApi: option limits')

/** An open long poll or event stream of a caller. */
interface OpenStream {
  /** Aborted with the request's signal, or when the caller has opened too many further streams. */
  readonly signal: AbortSignal
  /** Records that the stream has ended. */
  end(): void
}

/**
 * Limits the open streams of each caller and of all callers, because a limit of requests does not limit lasting
 * streams. A caller's stream beyond the limit ends the caller's oldest, which is the most likely to be a broken
 * connection.
 * @param perCaller enough for several browser tabs, and for broken connections that were not detected yet.
 * @returns a function that opens a stream. @throws {Problem} 503 if there are too many in total
 */
export function createOpenStreams(limits: { readonly perCaller: number; readonly inAll: number }) {
  const waits = createOpenWaits(limits)
  return (callerId: string, request: AbortSignal): OpenStream => {
    const own = manyWaitOn()
    const leave = waits.enter({ id: callerId }, () =>
      own.abort(new Problem(409, 'superseded', 'You opened more streams than allowed. The oldest one was closed.')),
    )
    const linked = linkedSignal(request, own.signal)
    const end = () => {
      linked.unlink()
      leave()
    }
    linked.signal.addEventListener('abort', end, { once: true })
    if (linked.signal.aborted) end()
    return { signal: linked.signal, end }
  }
}

const statuses: Readonly<Record<LobbyRefusalCode, number>> = {
  'not-joinable': 404,
  'no-such-lobby': 404,
  'no-such-player': 404,
  'lobby-closed': 410,
  'not-host': 403,
  'lobby-full': 409,
  away: 409,
  'own-player': 409,
  'stale-version': 409,
  'not-ready': 409,
  'already-started': 409,
  'not-started': 409,
  leased: 409,
  'data-too-large': 400,
  'too-many-attempts': 429,
  'too-many-lobbies': 409,
  busy: 503,
}

/** Returns the problem for an error of lobbies; undefined for an unexpected error. */
function problemOf(error: unknown): Problem | undefined {
  if (error instanceof LobbyRefused) {
    const { code, message, retryAfterMs } = error
    return new Problem(statuses[code], code, message, { retryAfterMs: code === 'busy' ? 1000 : retryAfterMs })
  }
  if (error instanceof InvalidInput) return new Problem(400, 'invalid-input', error.message, { field: error.field })
  if (error instanceof RelayClosed)
    return new Problem(503, 'closed', 'The server is closing. Retry after 1 s.', { retryAfterMs: 1000 })
  return undefined
}

/** A caller of the lobby API. */
export interface LobbyCaller {
  /** The player's id, as other members see it. */
  readonly id: string
  /**
   * The source address of the player's packets, if the caller is trusted to state it: a backend that calls on behalf of
   * players.
   */
  readonly ip?: string | undefined
}

/** Options of the lobby API. `limitStore` also counts requests for the list of lobbies. */
export interface LobbyApiOptions extends ApiOptions<LobbyCaller> {
  readonly limits?: LobbyApiLimits | undefined
}

/** Creates an HTTP API for game clients: `(Request) → Promise<Response>`, to be mounted on any server. */
export function createLobbyApi(lobbies: Lobbies, options: LobbyApiOptions): HttpHandler {
  const { authenticate, basePath = '', address, cors, onError, clock = systemClock } = options
  const limits = checkLimits(options.limits)
  const document = ownOpenApiDocument({
    title: 'Lobbies',
    version: '1',
    description: 'Groups of players who find each other by code or list, and start together.',
    routes: lobbyRoutes,
    subjects: {
      lobbies: 'Players gather in a lobby by a code or the list, and start together over a relay session.',
      'openapi.json': 'This document.',
    },
    basePath,
  })

  const openStream = createOpenStreams({ perCaller: limits.streamsPerCaller, inAll: limits.streams })
  const store = prefixed(options.limitStore ?? createMemoryLimitStore(clock), 'lobby-api')
  const lists = limits.listsPerCaller === null ? undefined : store.attempts('listsPerCaller', limits.listsPerCaller)

  /** Returns a command of the caller about another player of the lobby. */
  const against = ({ lobbyId, playerId: targetId }: ByMember, { caller }: Exchange<LobbyCaller>) => ({
    lobbyId,
    playerId: caller.id,
    targetId,
  })
  const enter = async (input: Omit<JoinLobby, 'player'>, exchange: Exchange<LobbyCaller>) => {
    const result = await lobbies.join({ ...input, player: playerOf(exchange) })
    // 202 for a player who has to wait for the host.
    return result.status === 'joined' ? result : Response.json(result, { status: 202 })
  }

  const handlers: Handlers<typeof lobbyRoutes, LobbyCaller> = {
    document: () => document,
    create: (input, exchange) => lobbies.create({ ...input, player: playerOf(exchange) }),
    list: async (input, { caller }) => {
      const retryAfterMs = (await lists?.take(caller.id)) ?? 0
      if (retryAfterMs > 0)
        throw new Problem(429, 'too-many-requests', 'Too many list requests. Retry later.', { retryAfterMs })
      const { lobbies: listed, next } = await lobbies.list(input)
      return { lobbies: listed, next: next ?? null }
    },
    joinByCode: enter,
    join: enter,
    get: (input, { caller }) => lobbies.get({ ...input, playerId: caller.id }),
    setData: ({ lobbyId, data, ifVersion }, { caller }) =>
      lobbies.setData({ lobbyId, playerId: caller.id, changes: data, ifVersion }),
    end: (input, { caller }) => lobbies.end({ ...input, playerId: caller.id }),
    events: async ({ lobbyId, after, lastEventId, wait = 0 }, { caller, request }) => {
      const open = openStream(caller.id, request.signal)
      const follow: Follow = { lobbyId, playerId: caller.id, after: lastEventId ?? after, signal: open.signal }
      if (/\btext\/event-stream\b/.test(request.headers.get('accept') ?? ''))
        return stream(lobbies, follow, open, clock)
      return lobbies.poll({ ...follow, waitMs: wait * 1000 }).finally(open.end)
    },
    heartbeat: (input, { caller }) => lobbies.heartbeat({ ...input, playerId: caller.id }),
    setMemberData: ({ lobbyId, data, ifVersion }, { caller }) =>
      lobbies.setMemberData({ lobbyId, playerId: caller.id, changes: data, ifVersion }),
    setReady: (input, { caller }) => lobbies.setReady({ ...input, playerId: caller.id }),
    leave: (input, { caller }) => lobbies.leave({ ...input, playerId: caller.id }),
    kick: (input, exchange) => lobbies.kick(against(input, exchange)),
    ban: (input, exchange) => lobbies.kick({ ...against(input, exchange), ban: true }),
    unban: (input, exchange) => lobbies.unban(against(input, exchange)),
    transferHost: (input, exchange) => lobbies.transferHost(against(input, exchange)),
    decide: ({ lobbyId, playerId, approve }, { caller }) =>
      lobbies.decide({ lobbyId, playerId: caller.id, applicantId: playerId, approve }),
    start: (input, { caller }) => lobbies.start({ ...input, playerId: caller.id }),
    stop: (input, { caller }) => lobbies.stop({ ...input, playerId: caller.id }),
  }

  return createHttpApi({
    routes: lobbyRoutes,
    handlers,
    authenticate,
    basePath,
    address,
    cors,
    onError,
    clock,
    problemOf,
    maxBodyBytes: limits.bodyBytes,
    bodies: limits.bodies,
    limits: { perCaller: limits.perCaller ?? undefined, perAddress: limits.perAddress ?? undefined, store },
  })
}

function playerOf({ caller, address }: Exchange<LobbyCaller>): { readonly id: string; readonly ip: string } {
  const ip = caller.ip ?? address
  if (ip === undefined) throw addressUnknown()
  return { id: caller.id, ip }
}

/**
 * Opens an event stream. Pending events are read first, so that a refusal is a separate response instead of a broken
 * stream.
 */
async function stream(lobbies: Lobbies, follow: Follow, open: OpenStream, clock: Clock): Promise<Response> {
  const first = await lobbies.poll({ ...follow, waitMs: 0 }).catch((error: unknown) => {
    open.end()
    throw error
  })
  if (first.over && first.messages.length === 0) {
    open.end()
    return new Response(null, { status: 204 }) // This tells a browser not to reconnect.
  }
  return eventStream((until) => streamed(lobbies, follow, first, open, until), { clock, signal: open.signal })
}

async function* streamed(
  lobbies: Lobbies,
  follow: Follow,
  first: Followed,
  open: OpenStream,
  signal: AbortSignal,
): AsyncGenerator<StreamEvent> {
  try {
    for (const message of first.messages) yield asEvent(message)
    if (first.over) return
    for await (const message of lobbies.follow({ ...follow, after: first.cursor, signal })) yield asEvent(message)
  } finally {
    open.end()
  }
}

const asEvent = (message: LobbyMessage): StreamEvent => ({
  id: String(message.seq),
  event: message.type,
  data: message,
})
