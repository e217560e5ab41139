// pure: those who are thought of for a match, side by side
import { copied, type Columns } from './columns.js'
import type { Levels } from './levels.js'
import type { Slot } from './model.js'

/** The number of a guest. */
export type Candidate = number

/**
 * Copies of rows. Each guest is compared with many others, and where the columns have its row others of the round have
 * theirs between: here all that is compared is in the cache. The arrays are replaced when they grow.
 */
export interface CandidateCache {
  /** As in `Columns`. */
  rows: Float64Array
  level: Uint8Array
  slots: Int32Array
  /** Players. */
  sizes: Uint16Array
  /** The next guest gets this number. Set it back to forget those from there on. */
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
