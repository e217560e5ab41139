// pure: tickets and openings as columns of numbers
import type { Entry, Opening, Slot } from './model.js'

/** Where a ticket stands between rounds. */
export const FRESH = 0
/** A round has passed it over, and the next must try it again. */
export const AWAKE = 1
/** A round has found nobody for it: no use in trying before something near it changes. */
export const SETTLED = 2

/**
 * One entry per slot in each column. The columns are replaced when they grow: who holds one across an `add` holds an
 * old one. Slots are used again, the last freed first.
 */
export interface Columns {
  /** The point on the sphere of radius 1; not a number where it is unknown. */
  x: Float64Array
  y: Float64Array
  z: Float64Array
  /** The same in radians from the south pole, and as a part of a turn eastwards from 180° west. Rounded: some 2 m. */
  north: Float32Array
  turn: Float32Array
  since: Float64Array
  priority: Float64Array
  size: Uint16Array
  /** Numbers of texts; −1 for none. */
  key: Int32Array
  network: Int32Array
  /** Low and high of each span, in turn. Infinity and −Infinity where it goes with anything, which no minimum or maximum notices. */
  values: Float64Array
  /** Grows with each `add`: who comes after the beginning of a round is not in it. 0 for a free slot. */
  born: Float64Array
  /** See `FRESH`. */
  standing: Uint8Array
  /** The round in which it was grouped. */
  takenIn: Float64Array
  readonly ids: string[]
  /** Slots from here on have never been used. */
  end: number
  /** Of the first span, over all that ever were; and whether any had a low and a high that differ. */
  lowest: number
  highest: number
  ranges: boolean
  /** Of the last `put`. */
  births: number
  readonly bytes: number
  /** Writes a row. */
  put(row: Row, key: number, network: number, size: number): Slot
  free(slot: Slot): void
  placeOf(slot: Slot): readonly [x: number, y: number, z: number] | undefined
  /** Not a number where it goes with anything. */
  valuesOf(slot: Slot): number[]
}

type Row = Pick<Entry<unknown> | Opening<unknown>, 'id' | 'since' | 'priority' | 'place' | 'values'>

const FIRST = 64

export function createColumns(spans: number): Columns {
  const free: Slot[] = []
  let capacity = 0

  const columns: Columns = {
    x: new Float64Array(0),
    y: new Float64Array(0),
    z: new Float64Array(0),
    north: new Float32Array(0),
    turn: new Float32Array(0),
    since: new Float64Array(0),
    priority: new Float64Array(0),
    size: new Uint16Array(0),
    key: new Int32Array(0),
    network: new Int32Array(0),
    values: new Float64Array(0),
    born: new Float64Array(0),
    standing: new Uint8Array(0),
    takenIn: new Float64Array(0),
    ids: [],
    end: 0,
    births: 0,
    lowest: Infinity,
    highest: -Infinity,
    ranges: false,
    get bytes() {
      return capacity * (5 * 8 + 2 * 4 + 2 + 2 * 4 + spans * 16 + 8 + 1 + 8 + 8)
    },

    put: (row, key, network, size) => {
      const slot = free.pop() ?? columns.end++
      if (slot >= capacity) grow()
      writePlace(columns, slot, row.place)
      columns.since[slot] = row.since
      columns.priority[slot] = row.priority
      columns.size[slot] = size
      columns.key[slot] = key
      columns.network[slot] = network
      for (let span = 0; span < spans; span++) {
        const [low, high] = [row.values[2 * span], row.values[2 * span + 1]]
        if (low !== high) columns.ranges = true
        const any = low === undefined || high === undefined || Number.isNaN(low) || Number.isNaN(high)
        if (span === 0 && !any) {
          if (low < columns.lowest) columns.lowest = low
          if (high > columns.highest) columns.highest = high
        }
        columns.values[2 * (slot * spans + span)] = any ? Infinity : low
        columns.values[2 * (slot * spans + span) + 1] = any ? -Infinity : high
      }
      columns.born[slot] = ++columns.births
      columns.standing[slot] = FRESH
      columns.takenIn[slot] = 0
      columns.ids[slot] = row.id
      return slot
    },
    free: (slot) => {
      columns.born[slot] = 0
      columns.ids[slot] = ''
      free.push(slot)
    },
    placeOf: (slot) => {
      const [x, y, z] = [columns.x[slot] as number, columns.y[slot] as number, columns.z[slot] as number]
      return Number.isNaN(x) ? undefined : [x, y, z]
    },
    valuesOf: (slot) => {
      const values: number[] = []
      for (let at = 2 * spans * slot; at < 2 * spans * (slot + 1); at++) {
        const value = columns.values[at] as number
        values.push(Math.abs(value) === Infinity ? NaN : value)
      }
      return values
    },
  }

  function grow(): void {
    capacity = Math.max(FIRST, 2 * capacity)
    columns.x = copied(new Float64Array(capacity), columns.x)
    columns.y = copied(new Float64Array(capacity), columns.y)
    columns.z = copied(new Float64Array(capacity), columns.z)
    columns.north = copied(new Float32Array(capacity), columns.north)
    columns.turn = copied(new Float32Array(capacity), columns.turn)
    columns.since = copied(new Float64Array(capacity), columns.since)
    columns.priority = copied(new Float64Array(capacity), columns.priority)
    columns.size = copied(new Uint16Array(capacity), columns.size)
    columns.key = copied(new Int32Array(capacity), columns.key)
    columns.network = copied(new Int32Array(capacity), columns.network)
    columns.values = copied(new Float64Array(2 * spans * capacity), columns.values)
    columns.born = copied(new Float64Array(capacity), columns.born)
    columns.standing = copied(new Uint8Array(capacity), columns.standing)
    columns.takenIn = copied(new Float64Array(capacity), columns.takenIn)
  }

  return columns
}

/** The beginning of `to` becomes `from`. */
export function copied<Column extends { set(from: ArrayLike<number>): void }>(to: Column, from: ArrayLike<number>): Column {
  to.set(from)
  return to
}

function writePlace(columns: Columns, slot: Slot, place: Row['place']): void {
  const [x, y, z] = place !== undefined && place.every(Number.isFinite) ? place : [NaN, NaN, NaN]
  columns.x[slot] = x
  columns.y[slot] = y
  columns.z[slot] = z
  columns.north[slot] = Math.PI / 2 + Math.asin(Math.max(-1, Math.min(1, z)))
  columns.turn[slot] = 0.5 + Math.atan2(y, x) / (2 * Math.PI)
}
