import type { OperationId } from '@muster/core/api'

/** Counters of all datagrams since the start. They can be read at any time. */
export interface PacketCounters {
  /** Datagrams received. */
  received: number
  /** Number of pings that got any answer. */
  answered: number
  /**
   * Datagrams accepted for relaying to the host or a client, including those later counted by `sendQueue` and `fault`.
   */
  relayed: number
  /** Payload bytes of the relayed datagrams. */
  relayedBytes: number
  /** Numbers of datagrams that were not relayed, by reason. */
  readonly dropped: {
    /** Datagrams that are not packets, or longer than a packet may be. */
    malformed: number
    /**
     * Packets of users outside of the session. With `pinSource`, also packets of a user from another address. A ping
     * among them that was answered counts in `answered` too.
     */
    invalidToken: number
    /** Data of a user who is not connected, not valid yet, or connected from another endpoint. */
    notConnected: number
    /** Data of a client while no host is connected. */
    noHost: number
    /** Data of a host for a client that is not connected. */
    noClient: number
    /** Data that exceeds a user's rate limit. */
    userRate: number
    /** Data that exceeds the session's rate limit. */
    sessionRate: number
    /** Packets dropped because the send queue was full. */
    sendQueue: number
    /** Packets lost by a declared fault. */
    fault: number
  }
}

export const createPacketCounters = (): PacketCounters => ({
  received: 0,
  answered: 0,
  relayed: 0,
  relayedBytes: 0,
  dropped: {
    malformed: 0,
    invalidToken: 0,
    notConnected: 0,
    noHost: 0,
    noClient: 0,
    userRate: 0,
    sessionRate: 0,
    sendQueue: 0,
    fault: 0,
  },
})

/** Counters since the start of the emulator. They can be read at any time. */
export interface Counters {
  /** Number of requests of each operation, by the status of the response. */
  readonly requests: Partial<Record<OperationId, Record<number, number>>>
  /** Number of requests refused with 429, by the name of the limit. */
  readonly rejected: Record<string, number>
  /** Number of requests to an unknown route, or with a method that the route does not have. */
  unrouted: number
  /** Number of connections that a declared fault ended without a response. */
  dropped: number
  readonly webhooks: {
    /** Number of webhook calls made. */
    sent: number
    /** Number of webhook calls with a 2xx response. */
    delivered: number
    /** Number of webhook calls with another status, a late response, or none. Failed calls are not repeated. */
    failed: number
    /** Number of webhook calls that were not made, because their target is not on this machine (see `webhookHosts`). */
    refused: number
  }
  /** The packets of the relay sessions. */
  readonly packets: PacketCounters
}

export const createCounters = (): Counters => ({
  requests: {},
  rejected: {},
  unrouted: 0,
  dropped: 0,
  webhooks: { sent: 0, delivered: 0, failed: 0, refused: 0 },
  packets: createPacketCounters(),
})
