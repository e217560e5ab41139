import { type Coordinates, greatCircleKm } from '@muster/core'
import { middleOf, backoffMs } from '@muster/core/internal'
import type { Clock, Random } from '@muster/core/clock'
import type { AllocatorListener, Fleet } from './fleet.js'
import {
  type FoundMatch,
  type Order,
  type Placement,
  type PlacementAttempt,
  type Server,
  matchTag,
} from '../records/index.js'
import type { ServerLifecycle } from './server-lifecycle.js'
import type { Governor } from './server-limits.js'
import type { Sources } from '../sources/index.js'

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
  readonly fleet: Fleet
  readonly governor: Governor
  readonly lifecycle: Pick<ServerLifecycle, 'fail' | 'end'>
  readonly clock: Clock
  readonly random: Random
  /** Servers of its source that exist or may exist, besides its own. */
  readonly othersOf: (server: Server) => number
  /** Writes the intent of the attempt to the store, and calls `goOn` if that succeeds. */
  readonly writeDown: (server: Server, goOn: () => void) => Promise<void>
  /** Sends the create when its turn comes. */
  readonly ask: (server: Server) => void
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
  const { sources, fleet, governor, lifecycle, clock, random, othersOf, writeDown, ask, problem } = options
  /** Matches that wait for another attempt. */
  const waiting = new Map<Server, Due>()

  /** Undefined if that is not known. */
  const placesFor = async (server: Server, { deploy }: Order): Promise<readonly Coordinates[] | undefined> => {
    try {
      return await sources.of(server.source).capacity?.(deploy)
    } catch (error) {
      problem('list', error, server)
      return undefined
    }
  }

  return {
    /** Whether there may be another place for the match. */
    arePossible: (server: Server) =>
      sources.of(server.source).capacity !== undefined ||
      nextAttempt(server.tries, elsewhereOf(server, undefined)) !== undefined,

    /** Plans the next attempt: the deployment of the last one is gone. */
    plan: async (server: Server) => {
      const { order, id } = server
      const places = order === undefined ? undefined : await placesFor(server, order)
      const next = nextAttempt(server.tries, elsewhereOf(server, places))
      if (next === undefined) lifecycle.fail(server, 'no-capacity', true)
      if (next === undefined || server.unwanted !== undefined) return lifecycle.end(server)
      server.tries = [...server.tries, next]
      fleet.enter(server, 'creating')
      server.tag = matchTag(id, server.tries.length)
      await writeDown(server, () => {
        waiting.set(server, { at: clock.now() + backoffMs(server.tries.length - 1, random(), RETRY) })
      })
    },

    /** Sends a create of which nothing came once more, when the service may take it. */
    repeat: (server: Server) => void waiting.set(server, { at: clock.now() + REPEAT_MS }),

    /**
     * Holds back a create whose turn has come while its source may be asked for nothing.
     * @param maxMs milliseconds after which its tickets return to the queue
     */
    holdBack: (server: Server, maxMs: number) => {
      const at = clock.now()
      waiting.set(server, { at, heldUntil: at + maxMs })
    },

    /** Begins the attempts that are due. */
    advance: (now: number) => {
      for (const [server, { at, heldUntil }] of waiting) {
        const { gate } = sources.of(server.source)
        const hasRoom = heldUntil === undefined || gate.room(othersOf(server), now) > 0
        const isDue = hasRoom && Math.max(at, gate.pausedUntil()) <= now && governor.mayCreate(now)
        const isOver = heldUntil !== undefined && now >= heldUntil
        if (server.unwanted === undefined && !isDue && !isOver) continue
        waiting.delete(server)
        if (server.unwanted === undefined && !isDue) {
          lifecycle.fail(server, 'unavailable', false)
          lifecycle.end(server)
          continue
        }
        governor.planned(server)
        gate.planned(server, now)
        ask(server)
      }
    },
  }
}

const elsewhereOf = ({ placements = [], order }: Server, places: readonly Coordinates[] | undefined): Elsewhere => ({
  placements,
  places,
  players: order && middleOfMatch({ tickets: order.near ?? order.tickets }),
})
