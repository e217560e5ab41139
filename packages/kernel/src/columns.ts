// pure: tickets and openings as columns of numbers
import { grown } from './growing.js'
import type { Entry, Opening, Slot } from './model.js'

/**
 * A ticket that no round has tried yet. `FRESH`, `AWAKE`, `DEFERRED` and `SETTLED` are the states of a ticket between
 * rounds.
 */
export const FRESH = 0
/** A ticket that a round found no match for and the next round must try again. */
export const AWAKE = 1
/** A ticket that had no turn in a round; in the next it comes before the others. */
export const DEFERRED = 3
/** A ticket that a round found no match for: a new try is useless until something near it changes. */
export const SETTLED = 2

// The fields of a slot read most often lie side by side in `rows`, so that they share cache lines.

/** The point on the sphere of radius 1; NaN where it is unknown. */
export const X = 0
export const Y = 1
export const Z = 2
export const SINCE = 3
/** The interned number of the ticket's key. */
export const KEY = 4
/** The time until which the ticket's `level` is valid; see `levels.ts`. */
export const UNTIL = 5
/**
 * Low and high of each span, in turn. Infinity and −Infinity where the ticket matches any value: these change no
 * minimum or maximum.
 */
export const VALUES = 6

/**
 * One entry per slot in each column. The columns are replaced when they grow, so do not keep a reference to one across
 * an `add`. Slots are reused, the last freed first.
 */
export interface Columns {
  /** `stride` numbers per slot, at the offsets `X` to `VALUES`. */
  rows: Float64Array
  readonly stride: number
  level: Uint8Array
  /**
   * Four numbers per slot, read for all tickets: the latitude in radians from the south pole; the longitude as a
   * fraction of a turn eastwards from 180° west; the low value of the first span; the cosine of the latitude. Rounded
   * to 32 bits: some 2 m.
   */
  coarse: Float32Array
  priority: Float64Array
  size: Uint16Array
  /** The interned number of the network; −1 for none. */
  network: Int32Array
  /** Hash of the key's text, which does not depend on the order in which keys were interned. */
  keyHash: Int32Array
  /** The largest ticket size ever put, in players. */
  largest: number
  /**
   * Serial number of the ticket, growing with each `add`: a ticket added after a round began is not in that round. 0
   * for a free slot.
   */
  born: Float64Array
  /** `FRESH`, `AWAKE`, `DEFERRED` or `SETTLED`. */
  standing: Uint8Array
  /** Searches for the ticket given up before they had seen all candidates, since the ticket last relaxed. */
  tries: Uint8Array
  /** 1 if the ticket was matched since the last round began. */
  taken: Uint8Array
  /** The last round in which a search proved that no match can hold the ticket. */
  refusedIn: Float64Array
  /** The round in which the ticket last had a turn; the one before its first deferral if it had none; 0 before both. */
  turnIn: Float64Array
  readonly ids: string[]
  /** Slots from here on have never been used. */
  end: number
  /**
   * The lowest and highest value of the first span ever put; `ranges` tells whether any value of any span was a range.
   */
  lowest: number
  highest: number
  ranges: boolean
  /** Serial number of the last `put`. */
  births: number
  bytes(): number
  /** Writes a ticket (`size` at least 1) or an opening (`size` 0) into a free slot. */
  put(row: Row, key: number, network: number, size: number): Slot
  /** Ends the slot's ticket or opening. The slot keeps its numbers until it is reused. */
  leave(slot: Slot): void
  /** Gives a slot free for another ticket or opening. */
  reuse(slot: Slot): void
  placeOf(slot: Slot): readonly [x: number, y: number, z: number] | undefined
  /** Low and high of each span, in turn; NaN where the ticket matches any value. */
  valuesOf(slot: Slot): number[]
}

type Row = Pick<Entry<unknown> | Opening<unknown>, 'id' | 'since' | 'priority' | 'key' | 'place' | 'values'>

const FIRST = 64

export function createColumns(spans: number): Columns {
  const free: Slot[] = []
  // A multiple of 4 numbers keeps rows to as few cache lines as possible.
  const stride = 4 * Math.ceil((VALUES + 2 * spans) / 4)
  let capacity = 0

  const columns: Columns = {
    rows: new Float64Array(0),
    stride,
    level: new Uint8Array(0),
    coarse: new Float32Array(0),
    priority: new Float64Array(0),
    size: new Uint16Array(0),
    network: new Int32Array(0),
    keyHash: new Int32Array(0),
    largest: 1,
    born: new Float64Array(0),
    standing: new Uint8Array(0),
    tries: new Uint8Array(0),
    taken: new Uint8Array(0),
    refusedIn: new Float64Array(0),
    turnIn: new Float64Array(0),
    ids: [],
    end: 0,
    births: 0,
    lowest: Infinity,
    highest: -Infinity,
    ranges: false,
    bytes: () => capacity * (8 * stride + 1 + 16 + 8 + 2 + 8 + 8 + 2 + 1 + 16),

    put: (row, key, network, size) => {
      const slot = free.pop() ?? columns.end++
      if (slot >= capacity) grow()
      writePlace(columns, slot, row.place)
      columns.rows[slot * stride + SINCE] = row.since
      columns.rows[slot * stride + KEY] = key
      columns.rows[slot * stride + UNTIL] = -Infinity
      columns.priority[slot] = row.priority
      columns.size[slot] = size
      columns.network[slot] = network
      columns.keyHash[slot] = hashOf(row.key)
      if (size > columns.largest) columns.largest = size
      for (let span = 0; span < spans; span++) {
        const low = row.values[2 * span]
        const high = row.values[2 * span + 1]
        if (low !== high) columns.ranges = true
        const any = low === undefined || high === undefined || Number.isNaN(low) || Number.isNaN(high)
        if (span === 0 && !any) {
          if (low < columns.lowest) columns.lowest = low
          if (high > columns.highest) columns.highest = high
        }
        const value = slot * stride + VALUES + 2 * span
        columns.rows[value] = any ? Infinity : low
        columns.rows[value + 1] = any ? -Infinity : high
      }
      columns.coarse[4 * slot + 2] = spans === 0 ? 0 : (columns.rows[slot * stride + VALUES] as number)
      columns.born[slot] = ++columns.births
      columns.standing[slot] = FRESH
      columns.tries[slot] = 0
      columns.taken[slot] = 0
      columns.refusedIn[slot] = 0
      columns.turnIn[slot] = 0
      columns.ids[slot] = row.id
      return slot
    },
    leave: (slot) => {
      columns.born[slot] = 0
      columns.ids[slot] = ''
    },
    reuse: (slot) => {
      free.push(slot)
    },
    placeOf: (slot) => {
      const at = (axis: number) => columns.rows[slot * stride + axis] as number
      return Number.isNaN(at(X)) ? undefined : [at(X), at(Y), at(Z)]
    },
    valuesOf: (slot) => {
      const first = slot * stride + VALUES
      return [...columns.rows.subarray(first, first + 2 * spans)].map((value) =>
        Math.abs(value) === Infinity ? NaN : value,
      )
    },
  }

  function grow(): void {
    capacity = Math.max(FIRST, 2 * capacity)
    columns.rows = grown(columns.rows, stride * capacity)
    columns.level = grown(columns.level, capacity)
    columns.coarse = grown(columns.coarse, 4 * capacity)
    columns.priority = grown(columns.priority, capacity)
    columns.size = grown(columns.size, capacity)
    columns.keyHash = grown(columns.keyHash, capacity)
    columns.network = grown(columns.network, capacity)
    columns.born = grown(columns.born, capacity)
    columns.tries = grown(columns.tries, capacity)
    columns.standing = grown(columns.standing, capacity)
    columns.taken = grown(columns.taken, capacity)
    columns.refusedIn = grown(columns.refusedIn, capacity)
    columns.turnIn = grown(columns.turnIn, capacity)
  }

  return columns
}

/** The 32-bit FNV-1a hash of a text. */
function hashOf(text: string): number {
  let hash = 0x811c9dc5
  for (let at = 0; at < text.length; at++) hash = Math.imul(hash ^ text.charCodeAt(at), 0x01000193)
  return hash
}

function writePlace(columns: Columns, slot: Slot, place: Row['place']): void {
  const isKnown = place !== undefined && place.every(Number.isFinite)
  const x = isKnown ? place[0] : NaN
  const y = isKnown ? place[1] : NaN
  const z = isKnown ? place[2] : NaN
  columns.rows[slot * columns.stride + X] = x
  columns.rows[slot * columns.stride + Y] = y
  columns.rows[slot * columns.stride + Z] = z
  columns.coarse[4 * slot] = Math.PI / 2 + Math.asin(Math.max(-1, Math.min(1, z)))
  columns.coarse[4 * slot + 1] = 0.5 + Math.atan2(y, x) / (2 * Math.PI)
  columns.coarse[4 * slot + 3] = Math.sqrt(x * x + y * y)
}
