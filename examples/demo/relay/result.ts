import type { FaultReport } from '../fault-report.js'
import type { Moves } from './board.js'
import type { Spread } from './latencies.js'
import type { TallyCounts } from './tally.js'

/** What `--relay --json` prints; the summary shows the same. */
export interface RelayResult {
  readonly lobbies: number
  readonly players: number
  readonly moves: Moves
  readonly packets: {
    /** Number of packets that clients sent to their hosts. */
    readonly sent: number
    /** Number of packets in both directions, as the relay counted them. */
    readonly relayed: number
    /** Number of packets that were under way when the session ended for their client. */
    readonly cutOff: number
    /**
     * Number of packets that did not come back for an unknown reason: must be at most 1 in 1,000, because UDP may lose
     * packets.
     */
    readonly lost: number
  }
  /** Times in one direction in microseconds, with everything in one process. */
  readonly latency: {
    /** Time from a client through the relay to its host. */
    readonly relayed: Spread
    /** Time of the same packets between two sockets without a relay, at the same time. */
    readonly direct: Spread
    /** Difference of `relayed` and `direct`. */
    readonly added: Spread
  }
  /** Number of kicked players whom the relay refused, and whom it did not refuse: the latter must be 0. */
  readonly kicked: Pick<TallyCounts, 'refused' | 'notRefused'>
  /** Number of lobbies whose players could not play again soon after a change: must be 0. */
  readonly stuck: number
  /** Number of lobbies that did not end in time, or failed: must be 0. */
  readonly unfinished: number
  /** The state of stuck lobbies, and why others failed. */
  readonly problems: readonly string[]
  readonly sessionsOpened: number
  /** Number of open sessions when the demo was stopped early; undefined otherwise. */
  readonly interruptedWith: number | undefined
  /** The effects of the declared faults; empty without `--faults`. */
  readonly faults: readonly FaultReport[]
  /** Number of sessions that the service still has at the end: must be 0. */
  readonly sessionsLeft: number
  readonly seconds: number
  readonly seed: number
}

/** Share of packets that may get lost, because the kernel of a busy machine drops datagrams. */
const LOST_SHARE = 1 / 1000

export const isGood = ({ packets, kicked, stuck, unfinished, sessionsLeft }: RelayResult): boolean =>
  packets.sent > 0 &&
  packets.lost <= packets.sent * LOST_SHARE &&
  [kicked.notRefused, stuck, unfinished, sessionsLeft].every((count) => count === 0)
