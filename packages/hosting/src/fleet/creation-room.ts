import { ENROLLED } from '../records/index.js'
import type { Sources } from '../sources/index.js'
import type { BlockedBy } from './allocator-options.js'
import type { Fleet } from './fleet.js'
import type { SpendingLimiter } from './spending-limiter.js'

interface CreationRoomOptions {
  readonly sources: Pick<Sources, 'of' | 'orphans' | 'blockedBy'>
  readonly fleet: Pick<Fleet, 'count' | 'countOf' | 'startingCount'>
  readonly spendingLimiter: Pick<SpendingLimiter, 'room' | 'blockedBy'>
  /** Returns true if the store cannot be read or written. A crash would lose a server that cannot be stored. */
  readonly isBroken: () => boolean
  /** Number of waiting matches for which a server must be created. */
  readonly needed: () => number
}

/** Computes how many servers may be created now. */
export class CreationRoom {
  readonly #options: CreationRoomOptions

  constructor(options: CreationRoomOptions) {
    this.#options = options
  }

  /** Returns the number of servers that exist or may exist, including orphans, because they cost as much. */
  count(): number {
    return this.#options.fleet.count() + this.#options.sources.orphans()
  }

  /** Returns how many servers may be created now at a source. @param coming number of servers to reserve for others */
  of(source: string | undefined, now: number, coming = 0): number {
    const { sources, fleet, spendingLimiter, isBroken } = this.#options
    if (isBroken() || source === ENROLLED) return 0
    const { breaker, orphans } = sources.of(source)
    const all = { count: this.count() + coming, startingCount: fleet.startingCount() + coming }
    return Math.min(breaker.room(fleet.countOf(source) + orphans() + coming, now), spendingLimiter.room(all, now))
  }

  /** Returns how many servers may be created now at a source, besides those for waiting matches. */
  besideMatches(source: string | undefined, now: number): number {
    return this.of(source, now, this.#options.needed())
  }

  /** Returns why `of` has last allowed no server. Undefined if it has allowed one. */
  blockedBy(): BlockedBy | undefined {
    const { sources, spendingLimiter, isBroken } = this.#options
    return isBroken() ? 'store' : (sources.blockedBy() ?? spendingLimiter.blockedBy())
  }
}
