// pure: which of a client's packets came back
/** What happened to numbered packets that a host should send back. */
export interface PacketCount {
  readonly sent: number
  /** Number of packets that came back. */
  readonly back: number
  /**
   * Number of packets that did not come back because they were under way when the session ended for this client. For
   * example, its host has left or the client was kicked.
   */
  readonly cutOff: number
  /** Number of packets that did not come back for an unknown reason. */
  readonly lost: number
}

export const NO_PACKETS: PacketCount = { sent: 0, back: 0, cutOff: 0, lost: 0 }

export interface PacketLog {
  /** Records that a packet is sent. Returns the packet's number, from 1. */
  sent(now: number): number
  back(number: number): void
  /** Records that packets may not come back from now on. Only the first call counts. */
  disturb(now: number): void
  /** Number of packets that are under way. */
  readonly underWay: number
  count(): PacketCount
}

/**
 * A packet that was sent this many milliseconds before the session ended had enough time to come back. On an idle
 * machine it takes less than a millisecond. The rest is for busy machines.
 */
const GRACE_MS = 3000

export function createPacketLog(): PacketLog {
  const underWay = new Map<number, number>()
  let last = 0
  let disturbedAt = Infinity
  return {
    sent: (now) => {
      last += 1
      underWay.set(last, now)
      return last
    },
    back: (number) => {
      underWay.delete(number)
    },
    disturb: (now) => {
      disturbedAt = Math.min(disturbedAt, now)
    },
    get underWay() {
      return underWay.size
    },
    count: () => {
      const cutOff = [...underWay.values()].filter((sentAt) => sentAt > disturbedAt - GRACE_MS).length
      return { sent: last, back: last - underWay.size, cutOff, lost: underWay.size - cutOff }
    },
  }
}
