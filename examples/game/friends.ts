/**
 * Games among friends, without a game server. They meet in a lobby with a code, and one of them is the host. Packets go
 * over a relay by UDP. A native game sends them itself. A browser cannot, so this bridge sends them for each page.
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
  /**
   * Handles requests to the lobby API, and the webhooks with which the service reports that a relay session is ready.
   */
  readonly answer: HttpHandler
  readonly upgrade: (request: IncomingMessage, socket: Duplex, head: Buffer) => void
  readonly close: () => Promise<void>
}

interface FriendsOptions {
  /** URL of the backend on this machine. */
  readonly url: string
  readonly client: Client
  readonly sessions: Sessions
}

/** Maximum size of a relay packet's payload in bytes. */
const LARGEST_BYTES = 1187
/** Milliseconds after which a page that has sent nothing is disconnected. */
const SILENT_MS = 5000
/** The address from which the bridge sends, wherever the page is. */
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

/** Connects a page to the relay, with its player's credentials in the lobby. If this fails, the page tries again. */
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

/**
 * Forwards packets for a host. The host's page names the client of each packet that it sends, and gets the client of
 * each packet that arrives.
 */
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

/** Converts a text to a packet. A text that is too long is cut, so its receiver rejects it as invalid JSON. */
const packet = (text: unknown) => Buffer.from(String(text)).subarray(0, LARGEST_BYTES)

/** Parses a message of a page; an empty object if it is not JSON. */
function read(data: RawData): Readonly<Record<string, unknown>> {
  try {
    return Object(JSON.parse(String(data))) as Record<string, unknown>
  } catch {
    return {}
  }
}
