// pure: which of a client's packets came back
/** What became of numbered packets that a host sends back. */
export interface PacketCount {
  readonly sent: number
  /** Came back. */
  readonly back: number
  /** Did not, and were under way when the session ended for this client: its host left, it was kicked, and the like. */
  readonly cutOff: number
  /** Did not, and nothing explains it. */
  readonly lost: number
}

export const NO_PACKETS: PacketCount = { sent: 0, back: 0, cutOff: 0, lost: 0 }

export interface PacketLog {
  /** The next packet's number, from 1. */
  sent(now: number): number
  back(number: number): void
  /** From now on packets may not come back. Only the first time counts. */
  disturb(now: number): void
  /** Packets under way. */
  readonly underWay: number
  count(): PacketCount
}

/**
 * A packet that was sent this long before the session ended for a client had the time to come back. On a
 * machine with nothing else to do it takes less than a millisecond; the rest is for machines that are busy.
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
