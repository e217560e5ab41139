import { systemClock, type Clock } from '@muster/core/clock'
import {
  createHttpApi,
  eventStream,
  openApiDocument,
  Problem,
  type AddressOf,
  type AttemptLimit,
  type Authenticate,
  type CorsOptions,
  type Exchange,
  type Handlers,
  type HttpHandler,
  type StreamEvent,
} from '@muster/core/http'
import type { Follow, Followed, Joined, Lobbies, LobbyMessage } from '../lobby/lobbies.js'
import { createOpenStreams, type OpenStream } from './open-streams.js'
import { problemOf } from './problems.js'
import { lobbyRoutes } from './routes.js'

/** Whoever calls the lobby API. */
export interface LobbyCaller {
  /** The player's id, as other members see it. */
  readonly id: string
  /** The address from which the player's packets come, where the caller is trusted to know: a backend that asks for players. */
  readonly ip?: string | undefined
}

export interface LobbyApiOptions {
  /** Says who calls; undefined for nobody known. */
  readonly authenticate: Authenticate<LobbyCaller>
  /** What stands before every path, e.g. `/lobby-api`. Default nothing. */
  readonly basePath?: string | undefined
  /**
   * Finds the client's address: `clientAddress({ trustedProxies })` of `@muster/core/http` behind a proxy.
   * Default: the socket's other end.
   */
  readonly address?: AddressOf | undefined
  /** Requests. Default 50 per 5 seconds and caller, 250 per 5 seconds and address (of IPv6 a /64). null for no limit. */
  readonly limits?:
    { readonly perCaller?: AttemptLimit | null | undefined; readonly perAddress?: AttemptLimit | null | undefined } | undefined
  /** Lets pages of these origins call. Default none. */
  readonly cors?: CorsOptions | undefined
  /** Told of errors that nobody expected. Default: a process warning. */
  readonly onError?: ((error: unknown) => void) | undefined
  readonly clock?: Clock | undefined
}

/** A create with all data there may be, at three bytes a character, has some 25 KB. */
const MAX_BODY_BYTES = 32 * 1024
const PER_CALLER: AttemptLimit = { limit: 50, windowMs: 5000 }
const PER_ADDRESS: AttemptLimit = { limit: 250, windowMs: 5000 }

/** An HTTP API for game clients: `(Request) → Promise<Response>`, to be mounted anywhere. */
export function createLobbyApi(lobbies: Lobbies, options: LobbyApiOptions): HttpHandler {
  const { authenticate, basePath = '', address, limits, cors, onError, clock = systemClock } = options
  const document = openApiDocument({
    title: 'Lobbies',
    version: '1',
    description: 'Groups of players who find each other by code or list, and start together.',
    routes: lobbyRoutes,
    anonymous: ['document'],
    basePath,
  })

  const openStream = createOpenStreams()

  const handlers: Handlers<typeof lobbyRoutes, LobbyCaller, 'document'> = {
    document: () => document,
    create: (input, exchange) => lobbies.create({ ...input, player: playerOf(exchange) }),
    list: async (input) => {
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
      if (/\btext\/event-stream\b/.test(request.headers.get('accept') ?? '')) return stream(lobbies, follow, open, clock)
      return lobbies.poll({ ...follow, waitMs: wait * 1000 }).finally(open.end)
    },
    heartbeat: (input, { caller }) => lobbies.heartbeat({ ...input, playerId: caller.id }),
    setMemberData: ({ lobbyId, data, ifVersion }, { caller }) =>
      lobbies.setMemberData({ lobbyId, playerId: caller.id, changes: data, ifVersion }),
    setReady: (input, { caller }) => lobbies.setReady({ ...input, playerId: caller.id }),
    leave: (input, { caller }) => lobbies.leave({ ...input, playerId: caller.id }),
    kick: ({ lobbyId, playerId }, { caller }) => lobbies.kick({ lobbyId, playerId: caller.id, targetId: playerId }),
    ban: ({ lobbyId, playerId }, { caller }) => lobbies.kick({ lobbyId, playerId: caller.id, targetId: playerId, ban: true }),
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
    maxBodyBytes: MAX_BODY_BYTES,
    limits: { perCaller: orNone(limits?.perCaller, PER_CALLER), perAddress: orNone(limits?.perAddress, PER_ADDRESS) },
  })
}

const orNone = (given: AttemptLimit | null | undefined, otherwise: AttemptLimit): AttemptLimit | undefined =>
  given === null ? undefined : (given ?? otherwise)

function playerOf({ caller, address }: Exchange<LobbyCaller>): { readonly id: string; readonly ip: string } {
  const ip = caller.ip ?? address
  if (ip === undefined) throw new Problem(400, 'address-unknown', 'it is not known from which address the player calls')
  return { id: caller.id, ip }
}

/** 202 for one who has to wait for the host. */
const joined = (result: Joined): Joined | Response =>
  result.status === 'joined' ? result : Response.json(result, { status: 202 })

/** What there is already is read first, so that a refusal is an answer of its own, and not a stream that breaks off. */
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

const asEvent = (message: LobbyMessage): StreamEvent => ({ id: String(message.seq), event: message.type, data: message })
