import type { Coordinates } from '@muster/core'
import type { Clock, Random } from '@muster/core/clock'
import { backoffMs } from '@muster/core/runtime'
import type { Allocations } from './allocations.js'
import type { Governor } from './governor.js'
import type { AllocatorListener } from './listener.js'
import { middleOfMatch, nextAttempt, type Elsewhere } from './placement-attempts.js'
import type { Allocation, Order } from './records/allocation.js'
import { placesWithCapacity, type LocationService } from './records/deployment-service.js'
import { matchTag } from './records/tags.js'
import type { ServerLifecycle } from './server-lifecycle.js'

/** Tries other places for matches that found no capacity. */
export interface FurtherAttempts {
  /** Whether there may be another place for the match. */
  arePossible(allocation: Allocation): boolean
  /** Plans the next attempt: the deployment of the last one is gone. */
  plan(allocation: Allocation): Promise<void>
  /** Begins the attempts that are due. */
  advance(now: number): void
}

export interface FurtherAttemptsOptions {
  /** Tells where there is capacity. Without it, a match is not tried elsewhere. */
  readonly locations: LocationService | undefined
  readonly allocations: Allocations
  readonly governor: Governor
  readonly lifecycle: Pick<ServerLifecycle, 'fail' | 'end'>
  readonly clock: Clock
  readonly random: Random
  /** Writes the intent of the attempt to the journal, and goes on if that succeeds. */
  readonly writeDown: (allocation: Allocation, goOn: () => void) => Promise<void>
  /** Sends the create when its turn comes. */
  readonly ask: (allocation: Allocation) => void
  readonly problem: AllocatorListener['problem']
}

/** Waits between two attempts of a match. */
const RETRY = { baseMs: 250, capMs: 2000, jitter: 0.5 }

export function createFurtherAttempts(options: FurtherAttemptsOptions): FurtherAttempts {
  const { locations, allocations, governor, lifecycle, clock, random, writeDown, ask, problem } = options
  /** Matches that wait for another attempt, and its time in epoch milliseconds. */
  const waiting = new Map<Allocation, number>()

  /** Undefined if that is not known. */
  const placesFor = async (allocation: Allocation, { deploy }: Order): Promise<readonly Coordinates[] | undefined> => {
    if (locations === undefined) return undefined
    try {
      return await placesWithCapacity(locations, deploy)
    } catch (error) {
      problem('list', error, allocation)
      return undefined
    }
  }

  return {
    arePossible: (allocation) =>
      locations !== undefined || nextAttempt(allocation.tries, elsewhereOf(allocation, undefined)) !== undefined,

    plan: async (allocation) => {
      const { order, matchId } = allocation
      const places = order === undefined ? undefined : await placesFor(allocation, order)
      const next = nextAttempt(allocation.tries, elsewhereOf(allocation, places))
      if (next === undefined) lifecycle.fail(allocation, 'no-capacity', true)
      if (next === undefined || allocation.unwanted !== undefined) return lifecycle.end(allocation)
      allocation.tries = [...allocation.tries, next]
      allocations.enter(allocation, 'creating')
      allocation.tag = matchTag(matchId, allocation.tries.length)
      await writeDown(allocation, () => {
        waiting.set(allocation, clock.now() + backoffMs(allocation.tries.length - 1, random(), RETRY))
      })
    },

    advance: (now) => {
      for (const [allocation, at] of waiting) {
        if (allocation.unwanted === undefined && (at > now || !governor.mayCreate(now))) continue
        waiting.delete(allocation)
        governor.planned(allocation, now)
        ask(allocation)
      }
    },
  }
}

const elsewhereOf = (
  { placements = [], order }: Allocation,
  places: readonly Coordinates[] | undefined,
): Elsewhere => ({
  placements,
  places,
  players: order && middleOfMatch(order),
})
