/** Counters of all datagrams since the start; they can be read at any time. */
export interface PacketCounters {
  /** Datagrams received. */
  received: number
  /** Pings answered, whatever the answer was. */
  answered: number
  /**
   * Datagrams accepted for relaying to the host or a client; those later counted by `sendQueue` and `fault` are
   * included.
   */
  relayed: number
  /** Bytes of payload of the relayed datagrams. */
  relayedBytes: number
  /** Datagrams that were not relayed, by reason. */
  readonly dropped: {
    /** Datagrams that are not a packet, or longer than a packet may be. */
    malformed: number
    /**
     * Packets of no user of the session, and with pinned sources packets of a user from another address. Such pings may
     * have been answered, and are then counted as answered too.
     */
    invalidToken: number
    /** Data of a user who is not connected, not valid yet, or connected from another endpoint. */
    notConnected: number
    /** Data of a client while no host is connected. */
    noHost: number
    /** Data of a host for a client that is not connected. */
    noClient: number
    /** Data above one user's rate limit. */
    userRate: number
    /** Data above the session's rate limit. */
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
