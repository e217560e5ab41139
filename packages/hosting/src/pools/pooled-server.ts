import { greatCircleKm } from '@muster/core'
import { isEnrolled, type Server } from '../records/index.js'
import { KM_PER_MS, SAME_PLACE_KM } from './added-latency.js'
import type { Pool } from './pool-definition.js'
import type { PoolPlace } from './pool-place.js'

/** A server of a pool and its role in the pool. */
export type PooledServer = ReturnType<typeof newPooledServer>

/**
 * Creates the entry of a server in its pool.
 * @param createdAt epoch milliseconds
 * @param isAdopted true for a server from before a restart, whose boot was not measured
 */
export const newPooledServer = (server: Server, place: PoolPlace, createdAt: number, isAdopted: boolean) => ({
  server,
  place,
  createdAt,
  isAdopted,
  isUp: false,
  isDraining: false,
  /** Epoch milliseconds since when the server is idle: unused and unlisted. Infinity otherwise. */
  idleSince: Infinity,
  /** Epoch milliseconds since when the server has no match and no player, even if it is listed. Infinity otherwise. */
  emptySince: Infinity,
})

/** The servers of a pool at one location, and the target number of warm ones. */
export interface PlaceCheck {
  readonly definition: Pool
  readonly place: PoolPlace
  readonly all: readonly PooledServer[]
  readonly goal: number
  readonly now: number
}

/** The servers of a location by their role. Draining servers are left out. */
export interface SortedStock {
  /** Servers of a previous version or source. */
  readonly outdated: PooledServer[]
  /** Servers without a match or a player: `here` for the location, `misplaced` for another one. */
  readonly here: PooledServer[]
  readonly misplaced: PooledServer[]
  ready: number
  playing: number
}

export const hasServedAll = ({ server }: PooledServer, { reuse }: Pool): boolean =>
  server.matchesServed >= reuse.maxMatches

/** Milliseconds after which a server that still prepares a match may hang (our choice). */
const SLOW_MS = 30_000

/** True if a server has been preparing a match for so long that it may hang. Further matches might wait there too. */
export const mayHang = ({ server: { guests, presence } }: PooledServer, now: number): boolean =>
  presence !== undefined &&
  [...guests].some(
    ({ isOpen, isPlaced, claim }) =>
      isOpen && !isPlaced && now - Math.max(claim?.at ?? 0, presence.registeredAt) >= SLOW_MS,
  )

/** Groups the servers of a pool by location, in one pass because there may be thousands. */
export function groupedByPlace(stock: Iterable<PooledServer>): ReadonlyMap<PoolPlace, readonly PooledServer[]> {
  const byPlace = new Map<PoolPlace, PooledServer[]>()
  for (const one of stock) {
    const here = byPlace.get(one.place)
    if (here === undefined) byPlace.set(one.place, [one])
    else here.push(one)
  }
  return byPlace
}

export function endIdleness(one: PooledServer, now: number): void {
  if (one.idleSince < Infinity && !isEnrolled(one.server)) one.place.idleMs += now - one.idleSince
  one.idleSince = Infinity
}

/** Returns how many of the servers in use will probably be free before a new one could boot. */
export const returning = (playing: number, { demand }: PoolPlace): number =>
  Math.floor(playing * Math.min(1, demand.bootSeconds() / demand.matchSeconds()))

/**
 * True if the server was requested near its location. A server that was created for distant players does not count as
 * warm there. The requested coordinates are compared, because the service may have no machine near the location.
 */
export function isThere({ server, place }: PooledServer, { detourMs }: Pool): boolean {
  const at = server.tries[0]?.at ?? server.near
  if (at === undefined || place.coordinates === undefined) return true
  return greatCircleKm(at, place.coordinates) <= Math.max(SAME_PLACE_KM, detourMs * KM_PER_MS)
}
