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
    /** Of clients to their hosts. */
    readonly sent: number
    /** As the relay counted them: there and back. */
    readonly relayed: number
    /** Under way when the session ended for their client. */
    readonly cutOff: number
    /** Did not come back, and nothing explains it: must be at most 1 in 1,000, since UDP may lose packets. */
    readonly lost: number
  }
  /** One way, in microseconds, with everything in one process. */
  readonly latency: {
    /** From a client through the relay to its host. */
    readonly relayed: Spread
    /** The same packets between two sockets without a relay, meanwhile. */
    readonly direct: Spread
    /** The difference of both. */
    readonly added: Spread
  }
  /** Kicked players whom the relay refused, and whom it did not: the latter must be 0. */
  readonly kicked: Pick<TallyCounts, 'refused' | 'notRefused'>
  /** Lobbies whose players could not play again soon after a change: must be 0. */
  readonly stuck: number
  /** Lobbies that did not come to their end in time, or failed: must be 0. */
  readonly unfinished: number
  /** How stuck lobbies stood, and why others failed, if they did. */
  readonly problems: readonly string[]
  readonly sessionsOpened: number
  /** Where the demo was stopped before its end: how many sessions were open then. */
  readonly interruptedWith: number | undefined
  /** What the declared faults did; empty without `--faults`. */
  readonly faults: readonly FaultReport[]
  /** Sessions that the service still has at the end: must be 0. */
  readonly sessionsLeft: number
  readonly seconds: number
  readonly seed: number
}

/** The kernel of a busy machine drops datagrams. */
const LOST_SHARE = 1 / 1000

export const isGood = ({ packets, kicked, stuck, unfinished, sessionsLeft }: RelayResult): boolean =>
  packets.sent > 0 &&
  packets.lost <= packets.sent * LOST_SHARE &&
  [kicked.notRefused, stuck, unfinished, sessionsLeft].every((count) => count === 0)
