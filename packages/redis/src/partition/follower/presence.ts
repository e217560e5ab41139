import type { Clock } from '@muster/core/clock'
import { createTicker } from '@muster/core/internal'
import { Unavailable, type PresenceReport } from '@muster/matchmaker'
import { cut } from '../../connection/index.js'
import { type PackedPresence, packPresence } from '../rpc.js'

export interface PresenceBatchesOptions {
  readonly tell: (reports: readonly PackedPresence[]) => Promise<void>
  readonly clock: Clock
  readonly problem: (error: unknown) => void
}

const EVERY_MS = 1000
/**
 * Maximum number of presence reports that are buffered while there is no leader (our choice). Each client is reported
 * again soon.
 */
export const MOST_HELD = 200_000
/** Maximum characters of one request, commas included. Even at three bytes each, they fit into an RPC request. */
const LONGEST = 64 * 1024

/** Reports the clients of this process to the leader, many at a time. */
export function createPresenceBatches({ tell, clock, problem }: PresenceBatchesOptions) {
  /** As JSON, so that a client seen twice is reported once. */
  let held = new Set<string>()

  const tellHeld = async () => {
    const texts = held
    held = new Set()
    try {
      const pieces = cut(texts, ({ length }) => length + 1, LONGEST)
      await Promise.all(pieces.map((piece) => tell(piece.map((text) => JSON.parse(text) as PackedPresence))))
    } catch (error) {
      // Without a leader the reports are dropped, because the next leader restarts every client's time.
      if (!(error instanceof Unavailable)) problem(error)
    }
  }
  const telling = createTicker({ clock, everyMs: EVERY_MS, tick: tellHeld, isNeeded: () => held.size > 0 })

  return {
    /** Records that clients are present. The leader gets it within about a second. */
    note: (reports: readonly PresenceReport[]) => {
      for (const report of reports) {
        if (held.size >= MOST_HELD) break
        held.add(JSON.stringify(packPresence(report)))
      }
      telling.wake()
    },
    close: telling.stop,
  }
}
