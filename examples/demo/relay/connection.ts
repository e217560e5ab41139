import { systemClock } from '@muster/core/clock'
import { createPeer } from '@muster/emulator/peer'
import type { RelayCredentials } from '@muster/relay'
import type { Latencies } from './latencies.js'
import { createPacketLog, NO_PACKETS, type PacketCount } from './packet-log.js'
import { readPacket, writePacket } from './packet.js'
import { within } from './within.js'

/** A player's end of a relay session. */
export interface Connection {
  /** For a client: true if packets reach the host and come back. For the host: true if the relay has found it valid. */
  readonly linked: boolean
  /** Sends the next packet of a client. */
  send(): void
  /** Stops sending, because the session is about to end for this player. Packets that are under way may get lost. */
  stop(): void
  /** Stops sending. Resolves once no packet is under way, or after 1 s. */
  drain(): Promise<void>
  /** Resolves with true once the relay accepts no packet of this player any more, or with false after some 5 s. */
  refused(): Promise<boolean>
  /** Closes the connection. @returns what happened to a client's packets. */
  close(): PacketCount
}

const DRAIN_MS = 1000
/** Number of packets that a peer sends to check that it is refused. None of them may come back. */
const PROBES = 5
const PROBE_MS = 50
/** Maximum number of rounds of `PROBES` packets. */
const PATIENCE = 20

/**
 * Connects, and begins to play once connected. @param toHost measured times in one direction, from a client through the
 * relay to its host.
 */
export function openConnection(credentials: RelayCredentials, toHost: Latencies): Connection {
  return credentials.role === 'host' ? hostConnection(credentials, toHost) : clientConnection(credentials)
}

/** Ignores an error: a peer that is refused is never linked, which the simulation of its lobby detects. */
const quietly = () => {}

/** Creates the connection of a host, which sends every packet back. */
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

/**
 * Creates the connection of a client. It sends greetings until the host answers, because the host may connect later.
 * Then every packet is numbered, and must come back.
 */
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
  /**
   * Resolves with true if the relay ignores this peer. The relay need not say so, because it limits its answers to
   * unknown tokens.
   */
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
