import type { Clock } from '@muster/core/clock'
import { growingTo, unlessAborted } from '@muster/core/internal'
import { LRUCache } from 'lru-cache'
import { PartitionFull } from '../partition-errors.js'
import type { OrdersNotice } from '../rpc.js'

interface FollowerWait {
  readonly version: number
  readonly waitMs: number
  readonly signal?: AbortSignal | undefined
}

/**
 * Maximum number of servers' requests that a process holds (our choice): ten times as many as one account has servers.
 */
export const MOST_WAITING = 20_000
/**
 * After a gap, all servers' requests are repeated: in this many portions, with this many milliseconds in between (our
 * choice).
 */
const PORTIONS = 20
const PORTION_MS = 100
/** Maximum number of notices that are kept for servers that do not wait yet. */
const MOST_NOTICED = 10_000

/** Holds game servers' requests until their orders change. */
export function createServerWaits(clock: Clock) {
  const waiting = new Map<string, () => void>()
  const noticed = new LRUCache<string, number>(growingTo(MOST_NOTICED))
  let isWaking = false
  /** True if there was a gap after the wake-up started: requests that were sent before the gap are repeated. */
  let isAgain = false
  const closing = new AbortController()
  const wakeInPortions = async (): Promise<void> => {
    isAgain = true
    if (isWaking) return
    isWaking = true
    while (isAgain) {
      isAgain = false
      const all = [...waiting.values()]
      const size = Math.ceil(all.length / PORTIONS)
      for (let from = 0; from < all.length && !closing.signal.aborted; from += size) {
        for (const end of all.slice(from, from + size)) end()
        if (from + size < all.length) await clock.sleep(PORTION_MS, closing.signal).catch(() => {})
      }
    }
    isWaking = false
  }

  return {
    /** Called when a server reports. The response contains all earlier changes, so their notices are dropped. */
    reporting: (server: string) => void noticed.delete(server),
    /**
     * Resolves once the orders of a server may have another version, or the time is over. A later call for the same
     * server ends an earlier one. Rejects with `signal.reason`.
     * @throws {PartitionFull}
     */
    wait: async (server: string, { version, waitMs, signal }: FollowerWait): Promise<void> => {
      waiting.get(server)?.()
      waiting.delete(server)
      const known = noticed.get(server)
      if (known !== undefined && known !== version) return
      if (waiting.size >= MOST_WAITING)
        throw new PartitionFull('Too many game servers wait at this process. Retry later.')
      const ending = new AbortController()
      const end = () => ending.abort()
      waiting.set(server, end)
      const over = clock.sleep(waitMs, ending.signal).catch(() => {})
      try {
        await unlessAborted(over, signal)
      } finally {
        end()
        if (waiting.get(server) === end) waiting.delete(server)
      }
    },
    /** Handles the leader's notice that the orders of a server have another version. */
    noticed: (notice: OrdersNotice | undefined) => {
      if (notice === undefined) return
      noticed.set(notice.server, notice.version)
      waiting.get(notice.server)?.()
    },
    /** Called when any server's orders may have changed. All waiting requests are repeated, in portions. */
    missed: () => void wakeInPortions(),
    /** Ends all waits. */
    close: () => {
      closing.abort()
      for (const end of waiting.values()) end()
    },
    size: () => waiting.size,
  }
}
