import type { DeploymentListEntry } from '@muster/core/api'
import type { Clock } from '@muster/core/clock'
import { priorities, type DeploymentService } from './records/deployment-service.js'
import type { Allocation } from './records/allocation.js'
import { hasTag, taggedWith } from './records/tags.js'

/** Looks, by tag, for deployments whose id was lost with the answer to their create. */
export interface Finder {
  begin(allocation: Allocation): void
  /** Something says that it exists: looks at once. */
  hint(allocation: Allocation): void
  /** It was found, or does not matter any more. */
  end(allocation: Allocation): void
  /** Begins the looks that are due. */
  advance(now: number): void
  /** From now on, what several looks did not find is given up. */
  giveUpSooner(): void
}

export interface FinderOptions {
  readonly service: DeploymentService
  readonly clock: Clock
  /** Milliseconds for which a list may not show yet what was created. */
  readonly listLagMs: number
  /** A deployment with the tag of a match. */
  readonly found: (entry: DeploymentListEntry) => void
  /** The players have waited long enough for it; it is still looked for. */
  readonly late: (allocation: Allocation) => void
  /** There is no such deployment. */
  readonly absent: (allocation: Allocation) => void
  readonly problem: (error: unknown, allocation: Allocation) => void
}

interface Search {
  readonly allocation: Allocation
  readonly lostAt: number
  /** Looks that were answered. */
  looks: number
  /** Epoch milliseconds; Infinity while a look is under way. */
  nextAt: number
}

/** The first look is at this part of `listLagMs` after the loss, and each further one at twice the time of the one before. */
const FIRST_LOOK = 1 / 16
/** After so many looks, the last of them at `listLagMs`, the players are let go. */
const LOOKS_FOR_PLAYERS = 5
/** The same if looks fail: after so many times `listLagMs`. */
const LAGS_FOR_PLAYERS = 4
/** After so many looks, the last of them at eight times `listLagMs`, there is no such deployment. */
const LOOKS_IN_ALL = 8
const RETRY_MS = 1000
const TIMEOUT_MS = 10_000

export function createFinder({ service, clock, listLagMs, found, late, absent, problem }: FinderOptions): Finder {
  const searches = new Map<Allocation, Search>()
  let enoughLooks = LOOKS_IN_ALL

  const look = async (search: Search): Promise<void> => {
    const { allocation, lostAt } = search
    search.nextAt = Infinity
    try {
      const options = { timeoutMs: TIMEOUT_MS, priority: priorities.find }
      const { data } = await service.list({ query: taggedWith(allocation.tag), limit: 10 }, options)
      search.looks += 1
      search.nextAt = lostAt + FIRST_LOOK * 2 ** search.looks * listLagMs
      for (const entry of data) if (hasTag(entry, allocation.tag)) found(entry)
    } catch (error) {
      search.nextAt = clock.now() + RETRY_MS
      problem(error, allocation)
    }
  }

  return {
    begin: (allocation) => {
      const lostAt = clock.now()
      searches.set(allocation, { allocation, lostAt, looks: 0, nextAt: lostAt + FIRST_LOOK * listLagMs })
    },
    hint: (allocation) => {
      const search = searches.get(allocation)
      if (search !== undefined) search.nextAt = Math.min(search.nextAt, clock.now())
    },
    end: (allocation) => void searches.delete(allocation),
    advance: (now) => {
      for (const search of searches.values()) {
        const { allocation, looks, lostAt, nextAt } = search
        if (looks >= LOOKS_FOR_PLAYERS || now - lostAt >= LAGS_FOR_PLAYERS * listLagMs) late(allocation)
        if (looks >= enoughLooks) {
          searches.delete(allocation)
          absent(allocation)
        } else if (nextAt <= now) {
          void look(search)
        }
      }
    },
    giveUpSooner: () => {
      enoughLooks = LOOKS_FOR_PLAYERS
    },
  }
}
