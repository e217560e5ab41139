import type { Clock, Random } from '@muster/core/clock'
import { createTimers } from '../timers.js'
import { throughBadNetwork } from './bad-network.js'
import { createInvalidTokens } from './invalid-tokens.js'
import type { PacketCounters } from './packet-counters.js'
import type { Side } from './packet.js'
import type { LineOrder, RelayData, RelayLine } from './relay-data.js'
import type { RelayDataSettings } from './relay-data-settings.js'
import { createSessionTraffic, type Send } from './session-traffic.js'
import { openUdpPorts, type UdpPorts } from './udp-ports.js'

export interface UdpRelayDeps {
  readonly clock: Clock
  /** The source of random choices for packet faults. */
  readonly random: Random
  /** How many times faster the service's own durations pass. Durations of the peers' protocol are not sped up. */
  readonly speed: number
  readonly counters: PacketCounters
}

/** Bytes queued for sending at one port, at most; further packets are dropped. */
const SEND_QUEUE_BYTES = 1024 * 1024

export function createUdpRelay(
  settings: RelayDataSettings,
  { clock, random, speed, counters }: UdpRelayDeps,
): RelayData {
  const lines = new Set<RelayLine>()
  const sessionSettings = { ...settings, authDelayMs: settings.authDelayMs / speed }
  const invalidTokens = createInvalidTokens()
  let closed = false

  const sendFrom =
    (ports: UdpPorts): Send =>
    (side, datagram, start, { port, address }) => {
      const socket = ports[side]
      if (socket.getSendQueueSize() > SEND_QUEUE_BYTES) counters.dropped.sendQueue++
      // The socket makes a view of its own of an offset and a length, after checking them, which takes longer.
      else socket.send(start === 0 ? datagram : datagram.subarray(start), port, address)
    }

  const createLine = (ports: UdpPorts, { token, fault }: LineOrder): RelayLine => {
    const timers = createTimers(clock, 1)
    const direct = sendFrom(ports)
    const send = fault === undefined ? direct : throughBadNetwork(fault, { random, timers, counters }, direct)
    const traffic = createSessionTraffic({
      sessionToken: token,
      settings: sessionSettings,
      counters,
      invalidTokens,
      send,
    })

    const listenAt = (side: Side) => {
      ports[side].on('message', (datagram, from) => traffic.receive(side, datagram, from, clock.now()))
    }
    listenAt('server')
    listenAt('client')

    const line: RelayLine = {
      serverPort: ports.server.address().port,
      clientPort: ports.client.address().port,
      authorize: traffic.authorize,
      revoke: traffic.revoke,
      connected: () => traffic.connected(clock.now()),
      close: async () => {
        if (!lines.delete(line)) return
        timers.close()
        await ports.close()
      },
    }
    lines.add(line)
    return line
  }

  return {
    ip: settings.publicIp,
    open: async (order) => {
      // Every failure means the same to the caller: no relay is available.
      const ports = await openUdpPorts(settings.host).catch(() => undefined)
      if (ports === undefined) return undefined
      if (!closed) return createLine(ports, order)
      await ports.close()
      return undefined
    },
    close: async () => {
      closed = true
      await Promise.all(Array.from(lines, (line) => line.close()))
    },
  }
}
