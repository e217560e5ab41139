import { type Coordinates, greatCircleKm } from '@muster/core'
import { middleOf, backoffMs } from '@muster/core/internal'
import type { Clock, Random } from '@muster/core/clock'
import type { Allocations, AllocatorListener } from './allocations.js'
import {
  type Allocation,
  type FoundMatch,
  type Order,
  type Placement,
  type PlacementAttempt,
  matchTag,
} from './records/index.js'
import type { ServerLifecycle } from './server-lifecycle.js'
import type { Governor } from './server-limits.js'
import type { Sources } from './sources/index.js'

/** Most creates for one match; then its tickets return to the queue. */
const MOST_TRIES = 4
/** Kilometres around a beacon in which a server has about its latency: some 3 ms more (our choice). */
const NEAR_KM = 300

/** @param placements that the match's rules chose, the best first; none: near its players. */
export function firstAttempt(requireCachedLocations: boolean, [best]: readonly Placement[] = []): PlacementAttempt {
  return { cachedOnly: requireCachedLocations, at: best?.coordinates, placement: best }
}

/** What is known of places other than those that were tried. */
export interface Elsewhere {
  /** That the match's rules chose, the best first. The server goes to none but these, if there are any. */
  readonly placements: readonly Placement[]
  /** Where there is capacity; undefined if that is not known. */
  readonly places: readonly Coordinates[] | undefined
  /** Where the players are, if that is known. */
  readonly players: Coordinates | undefined
}

/**
 * What to ask for next: first the same without the restriction, if only cached locations were wanted; then place by
 * place: those that the rules chose, in their order, or else those that have capacity, the nearest to the players
 * first. Undefined when that is exhausted.
 * @param tries the placements requested so far, at least one.
 */
export function nextAttempt(tries: readonly PlacementAttempt[], elsewhere: Elsewhere): PlacementAttempt | undefined {
  const { placements, places = [], players } = elsewhere
  if (tries.length >= MOST_TRIES) return undefined
  if (tries.every(({ cachedOnly }) => cachedOnly)) return firstAttempt(false, placements)
  if (placements.length > 0) return nextPlacement(tries, elsewhere)
  const distance = (place: Coordinates) => (players === undefined ? 0 : greatCircleKm(players, place))
  const at = places.filter(untried(tries)).toSorted((one, other) => distance(one) - distance(other))[0]
  return at && { cachedOnly: false, at, placement: undefined }
}

function nextPlacement(
  tries: readonly PlacementAttempt[],
  { placements, places }: Elsewhere,
): PlacementAttempt | undefined {
  const isUntried = untried(tries)
  const hasCapacity = (at: Coordinates) =>
    places === undefined || places.some((place) => greatCircleKm(at, place) <= NEAR_KM)
  const next = placements.find(({ coordinates }) => isUntried(coordinates) && hasCapacity(coordinates))
  return next && { cachedOnly: false, at: next.coordinates, placement: next }
}

const untried = (tries: readonly PlacementAttempt[]) => (place: Coordinates) =>
  !tries.some(({ at }) => at !== undefined && isSame(at, place))

const isSame = (one: Coordinates, other: Coordinates) =>
  one.latitude === other.latitude && one.longitude === other.longitude

/** Where the players of a match are, as far as that is known. */
export const middleOfMatch = ({ tickets }: Pick<FoundMatch, 'tickets'>): Coordinates | undefined =>
  middleOf(tickets.flatMap(({ place, players }) => place ?? players.flatMap(({ coordinates }) => coordinates ?? [])))

export interface FurtherAttemptsOptions {
  readonly sources: Pick<Sources, 'of'>
  readonly allocations: Allocations
  readonly governor: Governor
  readonly lifecycle: Pick<ServerLifecycle, 'fail' | 'end'>
  readonly clock: Clock
  readonly random: Random
  /** Servers of the allocation's source that exist or may exist, besides its own. */
  readonly othersOf: (allocation: Allocation) => number
  /** Writes the intent of the attempt to the store, and calls `goOn` if that succeeds. */
  readonly writeDown: (allocation: Allocation, goOn: () => void) => Promise<void>
  /** Sends the create when its turn comes. */
  readonly ask: (allocation: Allocation) => void
  readonly problem: AllocatorListener['problem']
}

/** Milliseconds until a create that was not taken is sent again, at least. */
const REPEAT_MS = 1000
/** Waits between two attempts of a match. */
const RETRY = { baseMs: 250, capMs: 2000, jitter: 0.5 }

/** When an attempt is due. Epoch milliseconds. */
interface Due {
  readonly at: number
  /** Undefined if its source did not hold it back. */
  readonly heldUntil?: number
}

/** Tries other places for matches that found no capacity. */
export function createFurtherAttempts(options: FurtherAttemptsOptions) {
  const { sources, allocations, governor, lifecycle, clock, random, othersOf, writeDown, ask, problem } = options
  /** Matches that wait for another attempt. */
  const waiting = new Map<Allocation, Due>()

  /** Undefined if that is not known. */
  const placesFor = async (allocation: Allocation, { deploy }: Order): Promise<readonly Coordinates[] | undefined> => {
    try {
      return await sources.of(allocation.source).capacity?.(deploy)
    } catch (error) {
      problem('list', error, allocation)
      return undefined
    }
  }

  return {
    /** Whether there may be another place for the match. */
    arePossible: (allocation: Allocation) =>
      sources.of(allocation.source).capacity !== undefined ||
      nextAttempt(allocation.tries, elsewhereOf(allocation, undefined)) !== undefined,

    /** Plans the next attempt: the deployment of the last one is gone. */
    plan: async (allocation: Allocation) => {
      const { order, matchId } = allocation
      const places = order === undefined ? undefined : await placesFor(allocation, order)
      const next = nextAttempt(allocation.tries, elsewhereOf(allocation, places))
      if (next === undefined) lifecycle.fail(allocation, 'no-capacity', true)
      if (next === undefined || allocation.unwanted !== undefined) return lifecycle.end(allocation)
      allocation.tries = [...allocation.tries, next]
      allocations.enter(allocation, 'creating')
      allocation.tag = matchTag(matchId, allocation.tries.length)
      await writeDown(allocation, () => {
        waiting.set(allocation, { at: clock.now() + backoffMs(allocation.tries.length - 1, random(), RETRY) })
      })
    },

    /** Sends a create of which nothing came once more, when the service may take it. */
    repeat: (allocation: Allocation) => void waiting.set(allocation, { at: clock.now() + REPEAT_MS }),

    /**
     * Holds back a create whose turn has come while its source may be asked for nothing.
     * @param maxMs milliseconds after which its tickets return to the queue
     */
    holdBack: (allocation: Allocation, maxMs: number) => {
      const at = clock.now()
      waiting.set(allocation, { at, heldUntil: at + maxMs })
    },

    /** Begins the attempts that are due. */
    advance: (now: number) => {
      for (const [allocation, { at, heldUntil }] of waiting) {
        const { gate } = sources.of(allocation.source)
        const hasRoom = heldUntil === undefined || gate.room(othersOf(allocation), now) > 0
        const isDue = hasRoom && Math.max(at, gate.pausedUntil()) <= now && governor.mayCreate(now)
        const isOver = heldUntil !== undefined && now >= heldUntil
        if (allocation.unwanted === undefined && !isDue && !isOver) continue
        waiting.delete(allocation)
        if (allocation.unwanted === undefined && !isDue) {
          lifecycle.fail(allocation, 'unavailable', false)
          lifecycle.end(allocation)
          continue
        }
        governor.planned(allocation)
        gate.planned(allocation, now)
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
  players: order && middleOfMatch({ tickets: order.near ?? order.tickets }),
})
