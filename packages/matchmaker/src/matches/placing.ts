import { greatCircleKm } from '@muster/core'
import type { BeaconDirectory, KnownBeacons } from '../beacons.js'
import { bestBeacons } from '../queues/rules/best-beacons.js'
import type { Placed } from '../events.js'
import { type Allocation, type Placement, placementOf } from '@muster/servers'
import type { Match } from '../tickets/records.js'

/**
 * The places for the server of a match that its latency rule chooses, the best first; none: near its players, by their
 * addresses.
 */
export type FindPlacements = () => readonly Placement[] | Promise<readonly Placement[]>

export interface PlacingOptions {
  /** Undefined if it is not known where beacons are. */
  readonly beacons: BeaconDirectory | undefined
  /** It is not known where the beacons of a match are. */
  readonly unplaced: (match: Match, error: Error) => void
}

/** @returns undefined for a match whose queue has no latency rule. */
export function createPlacing({ beacons, unplaced }: PlacingOptions): (match: Match) => FindPlacements | undefined {
  return (match) => {
    const { queue, seated, expansionMs } = match
    if (beacons === undefined || !queue.rules.some(({ kind }) => kind === 'latency')) return undefined
    const players = seated.flatMap((ticket) => ticket.players)

    const placementsIn = (known: KnownBeacons | undefined): readonly Placement[] => {
      const best = bestBeacons(queue.rules, players, expansionMs, queue.targetWaitMs)
      if (known === undefined || best === undefined) return []
      const placements = best.beacons.flatMap(({ name, worstMs, meanMs }) => {
        const coordinates = known.places.get(name)
        return coordinates === undefined ? [] : { beacon: name, coordinates, worstMs, meanMs, limitMs: best.limitMs }
      })
      if (placements.length === 0 && best.beacons.length > 0) {
        const names = best.beacons.map(({ name }) => JSON.stringify(name)).join(', ')
        unplaced(
          match,
          new Error(
            `the server is placed by its players' addresses: it is not known where these beacons are: ${names}`,
          ),
        )
      }
      return placements
    }

    return () => {
      const known = beacons.known()
      return known instanceof Promise ? known.then(placementsIn) : placementsIn(known)
    }
  }
}

/** What was promised of the place of a server that is READY, and what became of it. */
export function placedOf(allocation: Allocation): Placed | undefined {
  const placement = placementOf(allocation)
  if (placement === undefined) return undefined
  const { latitude, longitude } = allocation.assignment?.location ?? {}
  const isKnown = latitude !== undefined && longitude !== undefined
  return { ...placement, offKm: isKnown ? greatCircleKm(placement.coordinates, { latitude, longitude }) : undefined }
}
