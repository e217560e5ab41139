import { systemClock } from '@muster/core/clock'
import { createPeer } from '@muster/emulator/peer'
import type { RelayCredentials } from '@muster/relay'
import type { Latencies } from './latencies.js'
import { createPacketLog, NO_PACKETS, type PacketCount } from './packet-log.js'
import { readPacket, writePacket } from './packet.js'
import { within } from './within.js'

/** One player's end of one relay session. */
export interface Connection {
  /** Whether packets go to the host and back; of the host, whether the relay has found it valid. */
  readonly linked: boolean
  /** A client's next packet. */
  send(): void
  /** The session is about to end for this player: sends nothing more, and what is under way may get lost. */
  stop(): void
  /** Sends nothing more, and waits a while for what is under way. */
  drain(): Promise<void>
  /** Whether the relay takes nothing of this player any more, within a while. */
  refused(): Promise<boolean>
  /** @returns what became of a client's packets. */
  close(): PacketCount
}

const DRAIN_MS = 1000
/** Packets that a refused peer sends, one after the other; none comes back. */
const PROBES = 5
const PROBE_MS = 50
/** Rounds of probes. */
const PATIENCE = 20

/** Connects, and begins to play as soon as that is done. @param toHost one way, from a client through the relay. */
export function openConnection(credentials: RelayCredentials, toHost: Latencies): Connection {
  return credentials.role === 'host' ? hostConnection(credentials, toHost) : clientConnection(credentials)
}

/** A peer that is refused is never linked, which the lobby's director notices. */
const quietly = () => {}

/** Sends every packet back to where it came from. */
function hostConnection(credentials: RelayCredentials, toHost: Latencies): Connection {
  const peer = createPeer({ ...credentials, role: 'host' })
  peer.onMessage(({ connectionId, data }) => {
    toHost.add(performance.now() - readPacket(data).sentAt)
    if (peer.state === 'valid') peer.send(connectionId, data)
  })
  peer.connect().catch(quietly)
  return {
    get linked() {
      return peer.state === 'valid'
    },
    send: () => {},
    stop: () => {},
    drain: async () => {},
    refused: async () => true,
    close: () => {
      peer.close()
      return NO_PACKETS
    },
  }
}

/** Greets until the host answers, who may connect later. From then on every packet is numbered and must come back. */
function clientConnection(credentials: RelayCredentials): Connection {
  const peer = createPeer({ ...credentials, role: 'client' })
  const log = createPacketLog()
  const now = { linked: false, silent: false, heard: 0 }
  peer.onMessage(({ data }) => {
    now.linked = true
    now.heard += 1
    log.back(readPacket(data).number)
  })
  peer.connect().catch(quietly)
  /** The relay need not say so: it answers only this many of those that it does not know. */
  const isDeaf = async () => {
    const { heard } = now
    for (let probe = 0; probe < PROBES && peer.state === 'valid'; probe += 1) {
      peer.send(writePacket(0, performance.now()))
      await systemClock.sleep(PROBE_MS)
    }
    return peer.state === 'invalid' || now.heard === heard
  }
  return {
    get linked() {
      return now.linked
    },
    send: () => {
      if (now.silent || peer.state !== 'valid') return
      const at = performance.now()
      peer.send(writePacket(now.linked ? log.sent(at) : 0, at))
    },
    stop: () => {
      now.silent = true
      log.disturb(performance.now())
    },
    drain: async () => {
      now.silent = true
      await within(DRAIN_MS, () => log.underWay === 0)
    },
    refused: async () => {
      for (let round = 0; round < PATIENCE; round += 1) if (await isDeaf()) return true
      return false
    },
    close: () => {
      peer.close()
      return log.count()
    },
  }
}
