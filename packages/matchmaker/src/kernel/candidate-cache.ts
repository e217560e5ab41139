// pure: the candidates for a match, side by side in memory
import { copied, type Columns } from './columns.js'
import type { Levels } from './levels.js'
import type { Slot } from './model.js'

/** Index of a candidate in the cache. */
export type Candidate = number

/**
 * Copies of the candidates' rows. Each candidate is compared with many others, and in the columns their rows are far
 * apart; the copies lie side by side, so they fit the processor's cache. The arrays are replaced when they grow.
 */
export interface CandidateCache {
  /** As in `Columns`. */
  rows: Float64Array
  level: Uint8Array
  slots: Int32Array
  /** Players of each candidate. */
  sizes: Uint16Array
  /** The next candidate gets this index. Lowering it forgets the candidates from there on. */
  count: number
  receive(slot: Slot): Candidate
}

const FIRST = 64

export function createCandidateCache(columns: Columns, levels: Levels): CandidateCache {
  const { stride } = columns

  const guests: CandidateCache = {
    rows: new Float64Array(FIRST * stride),
    level: new Uint8Array(FIRST),
    slots: new Int32Array(FIRST),
    sizes: new Uint16Array(FIRST),
    count: 0,
    receive: (slot) => {
      if (guests.count === guests.slots.length) grow()
      const guest = guests.count++
      const { rows } = guests
      const { rows: from } = columns
      const to = guest * stride
      const own = slot * stride
      for (let at = 0; at < stride; at++) rows[to + at] = from[own + at] as number
      guests.level[guest] = levels.of(slot)
      guests.slots[guest] = slot
      guests.sizes[guest] = columns.size[slot] as number
      return guest
    },
  }

  const grow = () => {
    const most = 2 * guests.slots.length
    guests.rows = copied(new Float64Array(most * stride), guests.rows)
    guests.level = copied(new Uint8Array(most), guests.level)
    guests.slots = copied(new Int32Array(most), guests.slots)
    guests.sizes = copied(new Uint16Array(most), guests.sizes)
  }

  return guests
}
