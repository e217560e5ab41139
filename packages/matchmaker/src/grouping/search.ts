// pure: finds companions for one ticket, the nearest first
import { at, type Field } from './field.js'
import { fill } from './fill.js'
import type { DistanceStep } from './reach.js'
import { createShelves } from './shelves.js'

export interface Search {
  /** Tickets that make a full match with this one; undefined if there are none now. */
  companions(anchor: number): number[] | undefined
}

/**
 * Candidates of one size that are gathered at most, so that a crowd costs no more than it must. By size,
 * because otherwise many parties that fit nobody would hide the few tickets that fit.
 */
const mostOfSize = (size: number, room: number) => Math.max(32, 4 * Math.floor(room / size))

/** More than any distance there is, the same for all, and finite, so that it can be compared. */
const UNKNOWN_DISTANCE = 9

export function createSearch(field: Field, distance: readonly DistanceStep[], matchSize: number): Search {
  const { size, compatible } = field
  const sizeOf = (position: number) => at(size, position)
  const { sizes, looksFor } = createShelves(field, distance)
  /** Which anchor last met a ticket, so that none becomes a candidate twice. */
  const metBy = new Int32Array(field.count).fill(-1)
  /** How far a candidate is from the anchor that met it. */
  const apart = new Float64Array(field.count)
  const nearestFirst = (one: number, other: number) => at(apart, one) - at(apart, other) || one - other

  return {
    companions: (anchor) => {
      const room = matchSize - sizeOf(anchor)
      if (room === 0) return []
      const found: number[] = []
      metBy[anchor] = anchor

      /** Takes up candidates of one size. Lists are shared, so others may be on them, and the same one twice. */
      const meeting = (wanted: number) => {
        let left = mostOfSize(wanted, room)
        return (other: number): boolean => {
          if (left === 0) return false
          if (metBy[other] === anchor || sizeOf(other) !== wanted || !compatible(anchor, other)) return true
          metBy[other] = anchor
          const squared = field.squared(anchor, other)
          apart[other] = Number.isNaN(squared) ? UNKNOWN_DISTANCE : squared
          found.push(other)
          left -= 1
          return true
        }
      }

      const meetings = sizes.filter((wanted) => wanted <= room).map((wanted) => ({ wanted, meet: meeting(wanted) }))
      for (const look of looksFor(anchor)) {
        const before = found.length
        for (const { wanted, meet } of meetings) look(anchor, wanted, meet)
        const companions = found.length === before ? undefined : fill(found.toSorted(nearestFirst), room, sizeOf, compatible)
        if (companions !== undefined) return companions
      }
      return undefined
    },
  }
}
