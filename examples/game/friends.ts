/**
 * Games among friends, without a game server: they meet in a lobby with a code, and one of them is the host. Packets go
 * over a relay by UDP. A native game sends them itself; a browser cannot, so this bridge does it for each page.
 */
import type { IncomingMessage } from 'node:http'
import type { Duplex } from 'node:stream'
import type { Client } from '@muster/core'
import { bearerToken, type HttpHandler } from '@muster/core/http'
import { createPeer, type ClientPeer, type HostPeer } from '@muster/emulator/peer'
import { createLobbies, createLobbyApi, createRelaySessions, type Lobbies } from '@muster/relay'
import { type RawData, type WebSocket, WebSocketServer } from 'ws'
import type { Sessions } from './sessions.js'

export interface Friends {
  /** The lobby API, and where the service says that a relay session is ready. */
  readonly answer: HttpHandler
  readonly upgrade: (request: IncomingMessage, socket: Duplex, head: Buffer) => void
  readonly close: () => Promise<void>
}

interface FriendsOptions {
  /** Where the backend is, on this machine. */
  readonly url: string
  readonly client: Client
  readonly sessions: Sessions
}

/** Packets of the relay have 1187 bytes at most. */
const LARGEST_BYTES = 1187
/** Milliseconds after which a page that has said nothing is sent away. */
const SILENT_MS = 5000
/** The bridge sends from this machine, wherever the page is. */
const BRIDGE_ADDRESS = '127.0.0.1'

export function createFriends({ url, client, sessions }: FriendsOptions): Friends {
  const relay = createRelaySessions({ client: client.relays, webhookBaseUrl: `${url}/relay-hooks` })
  const lobbies = createLobbies({ relay })
  const api = createLobbyApi(lobbies, {
    authenticate: (request) => {
      const id = sessions.playerOf(bearerToken(request))
      return id === undefined ? undefined : { id, ip: BRIDGE_ADDRESS }
    },
    basePath: '/play',
  })
  const sockets = new WebSocketServer({ noServer: true, maxPayload: 2 * LARGEST_BYTES })
  sockets.on('connection', (socket) => {
    socket.on('error', () => {})
    const silent = setTimeout(() => socket.close(4001, 'silent'), SILENT_MS)
    socket.once('message', (first) => {
      clearTimeout(silent)
      const { token, lobby } = read(first)
      const by = { playerId: sessions.playerOf(String(token)) ?? '', lobbyId: String(lobby) }
      bridge(socket, lobbies, by).catch(() => socket.close(4001))
    })
  })
  return {
    answer: (request, connection) =>
      new URL(request.url).pathname.startsWith('/relay-hooks/') ? relay.webhook(request) : api(request, connection),
    upgrade: (request, socket, head) => {
      if (request.url !== '/relay') return socket.destroy()
      return sockets.handleUpgrade(request, socket, head, (opened) => sockets.emit('connection', opened, request))
    },
    close: async () => {
      for (const socket of sockets.clients) socket.terminate()
      await lobbies.close()
      await relay.close()
    },
  }
}

/** Connects a page with the relay, by the credentials that its player has in the lobby. The page tries again. */
async function bridge(socket: WebSocket, lobbies: Lobbies, by: Parameters<Lobbies['get']>[0]): Promise<void> {
  const { run } = await lobbies.get(by)
  if (run?.status !== 'relayed' || run.credentials === null) throw new Error('the lobby is not running')
  const peer = createPeer(run.credentials)
  socket.once('close', () => peer.close())
  peer.onState((state) => {
    if (state === 'invalid' || state === 'error' || state === 'disconnected') socket.close(4001, state)
  })
  await peer.connect()
  if (peer.role === 'host') carryForHost(socket, peer)
  else carryForClient(socket, peer)
  socket.send(JSON.stringify({ role: peer.role }))
}

/** A host names the client to which a packet goes, and learns from which client one comes. */
function carryForHost(socket: WebSocket, peer: HostPeer): void {
  peer.onMessage(({ connectionId, data }) => socket.send(JSON.stringify({ from: connectionId, text: data.toString() })))
  socket.on('message', (message) => {
    const { to, text } = read(message)
    if (peer.state === 'valid' && Number.isInteger(to)) peer.send(to as number, packet(text))
  })
}

function carryForClient(socket: WebSocket, peer: ClientPeer): void {
  peer.onMessage(({ data }) => socket.send(JSON.stringify({ text: data.toString() })))
  socket.on('message', (message) => {
    if (peer.state === 'valid') peer.send(packet(read(message)['text']))
  })
}

/** A text that is too long is cut, and then no JSON for its reader. */
const packet = (text: unknown) => Buffer.from(String(text)).subarray(0, LARGEST_BYTES)

/** What a page says; nothing if it is not JSON. */
function read(data: RawData): Readonly<Record<string, unknown>> {
  try {
    return Object(JSON.parse(String(data))) as Record<string, unknown>
  } catch {
    return {}
  }
}
