import { checked } from '../option-values.js'
import { createPeerConnection, type PeerConnection, PeerOptions } from './peer-connection.js'

/** A message that a client receives from its host. */
export interface ClientMessage {
  readonly data: Buffer
}

/** A message that the host receives from a client. */
export interface HostMessage extends ClientMessage {
  /**
   * Identifies the client that sent the message: the same while the client stays connected, and never another client's.
   */
  readonly connectionId: number
}

export interface ClientPeer extends PeerConnection<ClientMessage> {
  readonly role: 'client'
  /**
   * Sends data to the host, at most 1187 bytes; like all datagrams, the data may get lost.
   * @throws PeerError `not valid`, RangeError for data that is too long.
   */
  send(data: Uint8Array): void
}

export interface HostPeer extends PeerConnection<HostMessage> {
  readonly role: 'host'
  /**
   * Sends data to one client, at most 1187 bytes; like all datagrams, the data may get lost. The host learns a client's
   * connection id from the client's first message.
   * @throws PeerError `not valid`, RangeError for data that is too long.
   */
  send(connectionId: number, data: Uint8Array): void
}

/**
 * Creates one player's end of a relay session, for tests and bots, from the player's credentials. The option `role`
 * decides whether the peer is a host or a client.
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
