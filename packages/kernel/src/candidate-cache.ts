// pure: the candidates for a match, side by side in memory
import type { Columns } from './columns.js'
import { grown } from './growing.js'
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
  put(slot: Slot): Candidate
}

const FIRST = 64

export function createCandidateCache(columns: Columns, levels: Levels): CandidateCache {
  const { stride } = columns

  const cache: CandidateCache = {
    rows: new Float64Array(FIRST * stride),
    level: new Uint8Array(FIRST),
    slots: new Int32Array(FIRST),
    sizes: new Uint16Array(FIRST),
    count: 0,
    put: (slot) => {
      if (cache.count === cache.slots.length) grow()
      const candidate = cache.count++
      const { rows } = cache
      const { rows: from } = columns
      const to = candidate * stride
      const own = slot * stride
      for (let at = 0; at < stride; at++) rows[to + at] = from[own + at] as number
      cache.level[candidate] = levels.of(slot)
      cache.slots[candidate] = slot
      cache.sizes[candidate] = columns.size[slot] as number
      return candidate
    },
  }

  const grow = () => {
    const most = 2 * cache.slots.length
    cache.rows = grown(cache.rows, most * stride)
    cache.level = grown(cache.level, most)
    cache.slots = grown(cache.slots, most)
    cache.sizes = grown(cache.sizes, most)
  }

  return cache
}
