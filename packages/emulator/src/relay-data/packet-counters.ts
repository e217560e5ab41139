/** What has come of all datagrams since the start; to be read at any time. */
export interface PacketCounters {
  /** Datagrams that came in. */
  received: number
  /** Pings answered, whatever the answer was. */
  answered: number
  /** Datagrams to be sent on, to the host or to a client; those that `sendQueue` and `fault` count are among them. */
  relayed: number
  /** Their bytes of payload. */
  relayedBytes: number
  /** Datagrams that ended at the relay, by the reason. */
  readonly dropped: {
    /** Not a packet, or longer than a packet may be. */
    malformed: number
    /**
     * Of no user of this session, and with pinned sources a user's from elsewhere. Pings among them may have been
     * answered.
     */
    invalidToken: number
    /** Data of a user who is not connected, not valid yet, or elsewhere. */
    notConnected: number
    /** Data of a client while there is no host. */
    noHost: number
    /** Data of a host for a client that there is not (any more). */
    noClient: number
    /** More than one user may send. */
    userRate: number
    /** More than one session may send. */
    sessionRate: number
    /** The machine could not send as fast. */
    sendQueue: number
    /** Lost by a declared fault. */
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
