// pure: a crowd of tickets and their points
import type { Slot } from '../data/model.js'
import type { PoolParts } from '../data/parts.js'
import type { RoundState } from '../round/state.js'
import type { Draft } from '../search/draft.js'

/** Fewer tickets than this are searched one by one. */
export const CROWD = 500

export interface BulkCrowd {
  readonly slots: Int32Array
  /** The location and the first value of each ticket: four numbers in units of cost. */
  readonly points: Float64Array
  /** True if tickets have locations. */
  readonly byPlace: boolean
}

/** The parts that make matches of a crowd. */
export interface CrowdParts<Facts> extends PoolParts<Facts> {
  readonly draft: Draft<Facts>
  readonly state: RoundState
  /** Number of players of a full match. */
  readonly players: number
  /** Team index of each player slot in a match of single players. */
  readonly singles: readonly number[]
}

/** `NOBODY` replaces the index of a partner if there is none. `MATCHED`: the ticket is matched. */
export const NOBODY = -1
export const MATCHED = -2

/** Returns the tickets of a crowd that are not marked as matched. Reuses the same memory. */
export function unmatched({ slots, points, byPlace }: BulkCrowd, marks: Int32Array): BulkCrowd {
  let count = 0
  for (let at = 0; at < slots.length; at++) {
    if (marks[at] === MATCHED) continue
    slots[count] = slots[at] as Slot
    copyPoint(points, at, points, count++)
  }
  return { slots: slots.subarray(0, count), points, byPlace }
}

/** Copies the point of a ticket to another index. */
export function copyPoint(points: Float64Array, from: number, into: Float64Array, to: number): void {
  into[4 * to] = points[4 * from] as number
  into[4 * to + 1] = points[4 * from + 1] as number
  into[4 * to + 2] = points[4 * from + 2] as number
  into[4 * to + 3] = points[4 * from + 3] as number
}
