import { checked } from '../checked.js'
import { createPeerConnection, type PeerConnection } from './peer-connection.js'
import { PeerOptions } from './peer-options.js'

/** What a client hears, from its host. */
export interface ClientMessage {
  readonly data: Buffer
}

/** What a host hears. */
export interface HostMessage extends ClientMessage {
  /** Of the client that sent it; the same for as long as the client stays connected, and never another's. */
  readonly connectionId: number
}

export interface ClientPeer extends PeerConnection<ClientMessage> {
  readonly role: 'client'
  /**
   * To the host; like all datagrams it may get lost. At most 1187 bytes.
   * @throws PeerError `not valid`, RangeError for too much.
   */
  send(data: Uint8Array): void
}

export interface HostPeer extends PeerConnection<HostMessage> {
  readonly role: 'host'
  /**
   * To one client, of which the host learns by its first message; like all datagrams it may get lost. At most 1187
   * bytes.
   * @throws PeerError `not valid`, RangeError for too much.
   */
  send(connectionId: number, data: Uint8Array): void
}

/**
 * One player's end of a relay session, for tests and bots. Takes the player's credentials as they are; whether it is
 * the host's end or a client's, its `role` says.
 *
 * @example
 * const peer = createPeer(lobby.run.credentials)
 * if (peer.role === 'host') peer.onMessage(({ connectionId, data }) => peer.send(connectionId, data))
 * await peer.connect()
 *
 * @example
 * const host = createPeer({ role: 'host', host: relay.ip, port: relay.ports.server.port, userToken, sessionToken })
 *
 * @throws TypeError naming the option that is wrong.
 */
export function createPeer(options: PeerOptions & { readonly role: 'host' }): HostPeer
export function createPeer(options: PeerOptions & { readonly role: 'client' }): ClientPeer
export function createPeer(options: PeerOptions): HostPeer | ClientPeer
export function createPeer(options: PeerOptions): HostPeer | ClientPeer {
  const chosen = checked('option', PeerOptions, options)
  return chosen.role === 'host' ? createHost(chosen) : createClient(chosen)
}

function createHost(options: PeerOptions): HostPeer {
  const { connection, send } = createPeerConnection(options, 'server', (data, connectionId): HostMessage => ({
    data,
    connectionId,
  }))
  return Object.assign(connection, {
    role: 'host' as const,
    send: (connectionId: number, data: Uint8Array) => {
      if (!Number.isInteger(connectionId) || connectionId < 1 || connectionId > 0xffff_ffff) {
        throw new RangeError(`connectionId must be that of a client's message, got ${connectionId}`)
      }
      send(data, connectionId)
    },
  })
}

function createClient(options: PeerOptions): ClientPeer {
  const { connection, send } = createPeerConnection(options, 'client', (data): ClientMessage => ({ data }))
  return Object.assign(connection, { role: 'client' as const, send: (data: Uint8Array) => send(data) })
}
