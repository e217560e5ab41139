// pure: the counts of the demo while it runs
import { NO_PACKETS, type PacketCount } from './packet-log.js'

export interface Tally {
  packets(count: PacketCount): void
  /** Records that a player was kicked. @param refused true if the relay refused the player afterwards. */
  thrownOut(refused: boolean): void
  /**
   * Records that not all players of a lobby could play again in time after a change. @param what the state of the
   * lobby.
   */
  stuck(what: string): void
  readonly now: TallyCounts
}

export interface TallyCounts {
  readonly packets: PacketCount
  /** Number of kicked players whom the relay refused. */
  readonly refused: number
  /** Number of kicked players whom the relay did not refuse: must be 0. */
  readonly notRefused: number
  /** A line for each change after which not all players could play again in time: must be empty. */
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
