import { greatCircleKm } from '@muster/core'
import { isEnrolled, type Server } from '../records/index.js'
import { KM_PER_MS, SAME_PLACE_KM } from './added-latency.js'
import type { Pool } from './pool-definition.js'
import type { PoolPlace } from './pool-place.js'

/** A server of a pool, as the pool sees it. */
export type PooledServer = ReturnType<typeof newPooledServer>

/**
 * @param createdAt epoch milliseconds
 * @param isAdopted true if an earlier process created it, so that its boot was not measured
 */
export const newPooledServer = (server: Server, place: PoolPlace, createdAt: number, isAdopted: boolean) => ({
  server,
  place,
  createdAt,
  isAdopted,
  isUp: false,
  isDraining: false,
  /** Epoch milliseconds since when the server has been idle. Infinity while it is not. */
  idleSince: Infinity,
  /** Epoch milliseconds since when nobody has been on the server, listed or not. Infinity while somebody is on it. */
  emptySince: Infinity,
})

/** A check of a location of a pool: all of its servers there, and the target number of warm ones. */
export interface PlaceCheck {
  readonly definition: Pool
  readonly place: PoolPlace
  readonly all: readonly PooledServer[]
  readonly goal: number
  /** Epoch milliseconds. */
  readonly now: number
}

/** The servers of a location by their role in the pool. */
export interface SortedStock {
  /** Of a previous version or source. */
  readonly outdated: PooledServer[]
  /** Empty servers: `here` at the location, `misplaced` away from it. */
  readonly here: PooledServer[]
  readonly misplaced: PooledServer[]
  ready: number
  playing: number
}

export const hasServedAll = ({ server }: PooledServer, { reuse }: Pool): boolean =>
  server.matchesServed >= reuse.maxMatches

/** Servers by their place, in one pass: a pool may have thousands. */
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

/** Returns the expected number of servers in use that become free within a boot. They need no replacement. */
export const returning = (playing: number, { demand }: PoolPlace): number =>
  Math.floor(playing * Math.min(1, demand.bootSeconds() / demand.matchSeconds()))

/**
 * True if the first request for the server was near its location. A server that was created for players elsewhere is no
 * stock there. The actual location does not count: otherwise a location would never be filled if the service has
 * nothing near it.
 */
export function isThere({ server, place }: PooledServer, { detourMs }: Pool): boolean {
  const at = server.tries[0]?.at ?? server.near
  if (at === undefined || place.coordinates === undefined) return true
  return greatCircleKm(at, place.coordinates) <= Math.max(SAME_PLACE_KM, detourMs * KM_PER_MS)
}
