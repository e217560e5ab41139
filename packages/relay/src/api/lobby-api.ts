import { systemClock, type Clock } from '@muster/core/clock'
import {
  addressUnknown,
  createMemoryLimitStore,
  createHttpApi,
  eventStream,
  openApiDocument,
  prefixed,
  Problem,
  type AddressOf,
  type Authenticate,
  type CorsOptions,
  type Exchange,
  type Handlers,
  type HttpHandler,
  type LimitStore,
  type StreamEvent,
} from '@muster/core/http'
import type { Follow, Followed, Joined, Lobbies, LobbyMessage } from '../lobby/lobbies.js'
import { checkLimits, type LobbyApiLimits } from './limits.js'
import { createOpenStreams, type OpenStream } from './open-streams.js'
import { problemOf } from './problems.js'
import { lobbyRoutes } from './routes.js'

/** A caller of the lobby API. */
export interface LobbyCaller {
  /** The player's id, as other members see it. */
  readonly id: string
  /**
   * The address from which the player's packets come, if the caller is trusted to state it: a backend that asks on
   * behalf of players.
   */
  readonly ip?: string | undefined
}

export interface LobbyApiOptions {
  /** Identifies the caller; undefined for an unknown one. */
  readonly authenticate: Authenticate<LobbyCaller>
  /** Prefix of every path, e.g. `/lobby-api`. Default none. */
  readonly basePath?: string | undefined
  /**
   * Finds the client's address: `clientAddress({ trustedProxies })` of `@muster/core/http` behind a proxy.
   * Default: the socket's other end.
   */
  readonly address?: AddressOf | undefined
  readonly limits?: LobbyApiLimits | undefined
  /**
   * Where requests and lists are counted. Default: in memory of this process. With the store of `@muster/redis`, a
   * player is one player for all processes.
   */
  readonly limitStore?: LimitStore | undefined
  /** Lets pages of these origins call the API. Default none. */
  readonly cors?: CorsOptions | undefined
  /** Called with unexpected errors. Default: a process warning. */
  readonly onError?: ((error: unknown) => void) | undefined
  readonly clock?: Clock | undefined
}

/** Creates an HTTP API for game clients: `(Request) → Promise<Response>`, to be mounted on any server. */
export function createLobbyApi(lobbies: Lobbies, options: LobbyApiOptions): HttpHandler {
  const { authenticate, basePath = '', address, cors, onError, clock = systemClock } = options
  const limits = checkLimits(options.limits)
  const document = openApiDocument({
    title: 'Lobbies',
    version: '1',
    description: 'Groups of players who find each other by code or list, and start together.',
    routes: lobbyRoutes,
    anonymous: ['document'],
    basePath,
  })

  const openStream = createOpenStreams({ perCaller: limits.streamsPerCaller, inAll: limits.streams })
  const store = prefixed(options.limitStore ?? createMemoryLimitStore(clock), 'lobby-api')
  const lists = limits.listsPerCaller === null ? undefined : store.attempts('listsPerCaller', limits.listsPerCaller)

  const handlers: Handlers<typeof lobbyRoutes, LobbyCaller, 'document'> = {
    document: () => document,
    create: (input, exchange) => lobbies.create({ ...input, player: playerOf(exchange) }),
    list: async (input, { caller }) => {
      const retryAfterMs = (await lists?.take(caller.id)) ?? 0
      if (retryAfterMs > 0) throw new Problem(429, 'too-many-requests', 'too many lists', { retryAfterMs })
      const { lobbies: listed, next } = await lobbies.list(input)
      return { lobbies: listed, next: next ?? null }
    },
    joinByCode: async (input, exchange) => joined(await lobbies.join({ ...input, player: playerOf(exchange) })),
    join: async (input, exchange) => joined(await lobbies.join({ ...input, player: playerOf(exchange) })),
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
    kick: ({ lobbyId, playerId }, { caller }) => lobbies.kick({ lobbyId, playerId: caller.id, targetId: playerId }),
    ban: ({ lobbyId, playerId }, { caller }) =>
      lobbies.kick({ lobbyId, playerId: caller.id, targetId: playerId, ban: true }),
    unban: ({ lobbyId, playerId }, { caller }) => lobbies.unban({ lobbyId, playerId: caller.id, targetId: playerId }),
    transferHost: ({ lobbyId, playerId }, { caller }) =>
      lobbies.transferHost({ lobbyId, playerId: caller.id, targetId: playerId }),
    decide: ({ lobbyId, playerId, approve }, { caller }) =>
      lobbies.decide({ lobbyId, playerId: caller.id, applicantId: playerId, approve }),
    start: (input, { caller }) => lobbies.start({ ...input, playerId: caller.id }),
    stop: (input, { caller }) => lobbies.stop({ ...input, playerId: caller.id }),
  }

  return createHttpApi({
    routes: lobbyRoutes,
    handlers,
    anonymous: ['document'],
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

/** Answers 202 for a player who has to wait for the host. */
const joined = (result: Joined): Joined | Response =>
  result.status === 'joined' ? result : Response.json(result, { status: 202 })

/**
 * Opens an event stream. Pending events are read first, so that a refusal is an answer of its own instead of a broken
 * stream.
 */
async function stream(lobbies: Lobbies, follow: Follow, open: OpenStream, clock: Clock): Promise<Response> {
  const first = await lobbies.poll({ ...follow, waitMs: 0 }).catch((error: unknown) => {
    open.end()
    throw error
  })
  const isOver = first.over && first.messages.length === 0
  if (isOver) {
    open.end()
    return new Response(null, { status: 204 }) // to a browser, this says not to come back
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
