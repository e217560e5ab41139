import { createSessionTraffic, type Endpoint } from './session-traffic.js'
import { createInvalidTokens } from './traffic-limits.js'
import { createPacketCounters } from '../counters.js'
import { dataPacket, pingPacket, readRelayed, type Relayed, type Side } from './packet.js'
import { defaultRelayDataSettings, type RelayDataSettings } from '../settings.js'

export interface Sent {
  readonly side: Side
  readonly to: Endpoint
  readonly bytes: number
  readonly packet: Relayed | undefined
}

export const sessionToken = 0xfedc_ba98

/** The traffic of one session without sockets, on a manual clock. */
export function trafficOf(settings: Partial<RelayDataSettings> = {}) {
  const counters = createPacketCounters()
  const sent: Sent[] = []
  let now = Date.UTC(2026, 0, 1)

  const traffic = createSessionTraffic({
    sessionToken,
    settings: { ...defaultRelayDataSettings, ...settings },
    counters,
    invalidTokens: createInvalidTokens(),
    send: (side, datagram, start, to) => {
      // The datagram is copied, because the relay may reuse the buffer.
      const copy = Buffer.from(datagram.subarray(start))
      sent.push({
        side,
        to: { address: to.address, port: to.port },
        bytes: copy.length,
        packet: readRelayed(copy, side),
      })
    },
  })

  /** The packets that are sent in response to a datagram. */
  const receive = (side: Side, datagram: Buffer, from: Endpoint): readonly Sent[] => {
    traffic.receive(side, datagram, from, now)
    return sent.splice(0)
  }

  /** A user with an endpoint of its own. */
  const user = (
    token: number,
    side: Side,
    from: Endpoint = { address: '198.51.100.1', port: 40_000 + (token % 1000) },
  ) => {
    const answerTo = (datagram: Buffer) => {
      const packets = receive(side, datagram, from).map(({ packet }) => packet)
      return packets[0]?.kind === 'state' ? packets[0].state : packets[0]
    }
    return {
      token,
      from,
      /** Sends a ping and returns the state in the answer; undefined for no answer. */
      ping: (withSession = sessionToken) => answerTo(pingPacket(token, withSession)),
      send: (text: string, connectionId?: number) =>
        receive(side, dataPacket(token, sessionToken, Buffer.from(text), connectionId), from),
      at: (elsewhere: Partial<Endpoint>) => user(token, side, { ...from, ...elsewhere }),
    }
  }

  const authorized = (token: number, side: Side, ip = '198.51.100.1') => {
    traffic.authorize({ token, ip })
    return user(token, side)
  }

  return {
    traffic,
    counters,
    receive,
    user,
    authorized,
    pass: (ms: number) => {
      now += ms
    },
    connected: () => traffic.connected(now),
  }
}

/** A session with a host and two clients, all valid. */
export function session(settings: Partial<RelayDataSettings> = {}) {
  const made = trafficOf(settings)
  const host = made.authorized(0xffff_ffff, 'server')
  const first = made.authorized(1, 'client')
  const second = made.authorized(2, 'client')
  for (const peer of [host, first, second]) peer.ping()
  return { ...made, host, first, second }
}

/** The packet that a host gets for a client's data. */
export const toHost = (host: { readonly from: Endpoint }, connectionId: number, text: string) => ({
  side: 'server',
  to: host.from,
  bytes: 5 + text.length,
  packet: { kind: 'data', connectionId, payload: Buffer.from(text) },
})

/** The packet that a client gets for its host's data. */
export const toClient = (client: { readonly from: Endpoint }, text: string) => ({
  side: 'client',
  to: client.from,
  bytes: 1 + text.length,
  packet: { kind: 'data', connectionId: 0, payload: Buffer.from(text) },
})
