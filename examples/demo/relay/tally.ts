// pure: what the demo counts while it runs
import { NO_PACKETS, type PacketCount } from './packet-log.js'

export interface Tally {
  packets(count: PacketCount): void
  /** @param refused whether the relay refused the player from then on. */
  thrownOut(refused: boolean): void
  /** After a change of a lobby, not all of its players could play again in time. @param what how things stood then. */
  stuck(what: string): void
  readonly now: TallyCounts
}

export interface TallyCounts {
  readonly packets: PacketCount
  /** Kicked players whom the relay refuses. */
  readonly refused: number
  /** Kicked players whom it does not: must be 0. */
  readonly notRefused: number
  /** One line for each change after which not all could play again in time: must be empty. */
  readonly stuck: readonly string[]
}

export function createTally(): Tally {
  const now = { packets: NO_PACKETS, refused: 0, notRefused: 0, stuck: [] as string[] }
  return {
    packets: ({ sent, back, cutOff, lost }) => {
      const { packets } = now
      now.packets = {
        sent: packets.sent + sent,
        back: packets.back + back,
        cutOff: packets.cutOff + cutOff,
        lost: packets.lost + lost,
      }
    },
    thrownOut: (refused) => {
      now[refused ? 'refused' : 'notRefused'] += 1
    },
    stuck: (what) => void now.stuck.push(what),
    now,
  }
}
