import { ENROLLED } from '../records/index.js'
import type { Sources } from '../sources/index.js'
import type { BlockedBy } from './allocator-options.js'
import type { Fleet } from './fleet.js'
import type { SpendingLimiter } from './spending-limiter.js'

interface CreationRoomOptions {
  readonly sources: Pick<Sources, 'of' | 'orphans' | 'blockedBy'>
  readonly fleet: Pick<Fleet, 'count' | 'countOf' | 'startingCount'>
  readonly spendingLimiter: Pick<SpendingLimiter, 'room' | 'blockedBy'>
  /**
   * Returns true if the store cannot be read or written. A server that it cannot record would be lost after a crash.
   */
  readonly isBroken: () => boolean
  /** Number of matches that look for a server and will need a new one. */
  readonly needed: () => number
}

/** How many servers may be created now. */
export class CreationRoom {
  readonly #options: CreationRoomOptions

  constructor(options: CreationRoomOptions) {
    this.#options = options
  }

  /** Returns the number of servers that exist or may exist, including orphans, because they cost as much. */
  count(): number {
    return this.#options.fleet.count() + this.#options.sources.orphans()
  }

  /** Returns the number of servers that a source may create. @param coming number that will be created in addition */
  of(source: string | undefined, now: number, coming = 0): number {
    const { sources, fleet, spendingLimiter, isBroken } = this.#options
    if (isBroken() || source === ENROLLED) return 0
    const { breaker, orphans } = sources.of(source)
    const all = { count: this.count() + coming, startingCount: fleet.startingCount() + coming }
    return Math.min(breaker.room(fleet.countOf(source) + orphans() + coming, now), spendingLimiter.room(all, now))
  }

  /** Returns the number of servers of a source that may be created in addition to those that matches need. */
  besideMatches(source: string | undefined, now: number): number {
    return this.of(source, now, this.#options.needed())
  }

  /** Returns why no server could be created at the last call of `of`. Undefined if one could. */
  blockedBy(): BlockedBy | undefined {
    const { sources, spendingLimiter, isBroken } = this.#options
    return isBroken() ? 'store' : (sources.blockedBy() ?? spendingLimiter.blockedBy())
  }
}
