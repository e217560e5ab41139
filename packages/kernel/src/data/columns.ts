// pure: tickets and openings as columns of numbers
import { grown } from './growing.js'
import type { Entry, Opening, Slot } from './model.js'

// States of a ticket between rounds.
/** No round has searched for it. */
export const FRESH = 0
/** The next round searches for it. */
export const DIRTY = 1
/** A round found no match for it: skipped until something near it changes. */
export const PARKED = 2
/** The last round ended before its turn: in the next round it comes before others of its priority. */
export const DEFERRED = 3

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
/** Low and high of each span, in turn. Infinity and −Infinity where any value fits: these change no extent. */
export const VALUES = 6

/**
 * One entry per slot in each column. The columns are replaced when they grow, so do not keep a reference to one across
 * an `add`. Slots are reused, the last freed first.
 */
export interface Columns {
  /** `stride` numbers per slot, at the offsets `X` to `VALUES`. */
  rows: Float64Array
  readonly stride: number
  readonly spans: number
  level: Uint8Array
  priority: Float64Array
  /** Players of the ticket; 0 for an opening. */
  size: Uint16Array
  /** The interned number of the network; −1 for none. */
  network: Int32Array
  /** Grows with each `put`, so that a round can tell tickets that came after its begin; 0 for a free slot. */
  born: Float64Array
  /** `FRESH`, `DIRTY`, `PARKED` or `DEFERRED`. */
  state: Uint8Array
  /** Searches cut short since the ticket last relaxed. */
  cuts: Uint8Array
  /** The last round in which a search proved that no match can hold the ticket. */
  refusedIn: Uint32Array
  /** The last round in which the ticket had a turn; 0 if it had none. */
  turnIn: Uint32Array
  /** 1 if the ticket was matched since the last round began. */
  taken: Uint8Array
  /** A hash of the id: of partners that cost the same, each ticket prefers others. */
  mix: Int32Array
  readonly ids: string[]
  /** Slots from here on have never been used. */
  end: number
  /** The most players of a ticket ever put. */
  largest: number
  /** `born` of the last `put`. */
  births: number
  /** `births` as the current round began: who came later is in none of its matches. */
  horizon: number
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
    spans,
    level: new Uint8Array(0),
    priority: new Float64Array(0),
    size: new Uint16Array(0),
    network: new Int32Array(0),
    born: new Float64Array(0),
    state: new Uint8Array(0),
    cuts: new Uint8Array(0),
    refusedIn: new Uint32Array(0),
    turnIn: new Uint32Array(0),
    taken: new Uint8Array(0),
    mix: new Int32Array(0),
    ids: [],
    end: 0,
    largest: 1,
    births: 0,
    horizon: 0,
    bytes: () => capacity * (8 * stride + 1 + 8 + 2 + 4 + 8 + 12 + 3),

    put: (row, key, network, size) => {
      const slot = free.pop() ?? columns.end++
      if (slot >= capacity) grow()
      const { rows } = columns
      const at = slot * stride
      const [x, y, z] = row.place?.every(Number.isFinite) === true ? row.place : NOWHERE
      rows[at + X] = x
      rows[at + Y] = y
      rows[at + Z] = z
      rows[at + SINCE] = row.since
      rows[at + KEY] = key
      rows[at + UNTIL] = -Infinity
      for (let span = 0; span < spans; span++) {
        const low = row.values[2 * span] ?? Number.NaN
        const high = row.values[2 * span + 1] ?? Number.NaN
        const any = Number.isNaN(low) || Number.isNaN(high)
        rows[at + VALUES + 2 * span] = any ? Infinity : low
        rows[at + VALUES + 2 * span + 1] = any ? -Infinity : high
      }
      columns.priority[slot] = row.priority
      columns.size[slot] = size
      columns.network[slot] = network
      columns.born[slot] = ++columns.births
      columns.state[slot] = FRESH
      columns.cuts[slot] = 0
      columns.refusedIn[slot] = 0
      columns.turnIn[slot] = 0
      columns.taken[slot] = 0
      columns.ids[slot] = row.id
      columns.mix[slot] = hashOf(row.id)
      if (size > columns.largest) columns.largest = size
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
        Math.abs(value) === Infinity ? Number.NaN : value,
      )
    },
  }

  function grow(): void {
    capacity = Math.max(FIRST, 2 * capacity)
    columns.rows = grown(columns.rows, stride * capacity)
    columns.level = grown(columns.level, capacity)
    columns.priority = grown(columns.priority, capacity)
    columns.size = grown(columns.size, capacity)
    columns.network = grown(columns.network, capacity)
    columns.born = grown(columns.born, capacity)
    columns.state = grown(columns.state, capacity)
    columns.cuts = grown(columns.cuts, capacity)
    columns.refusedIn = grown(columns.refusedIn, capacity)
    columns.turnIn = grown(columns.turnIn, capacity)
    columns.taken = grown(columns.taken, capacity)
    columns.mix = grown(columns.mix, capacity)
  }

  return columns
}

const NOWHERE = [Number.NaN, Number.NaN, Number.NaN] as const

/** The 32-bit FNV-1a hash of a text. */
function hashOf(text: string): number {
  let hash = 0x811c9dc5
  for (let at = 0; at < text.length; at++) hash = Math.imul(hash ^ text.charCodeAt(at), 0x01000193)
  return hash
}

/** Whether one slot comes before another among the members of a match: the longer wait, then who came first. */
export function isOlder({ rows, stride, born }: Columns, one: Slot, other: Slot): boolean {
  const difference = (rows[one * stride + SINCE] as number) - (rows[other * stride + SINCE] as number)
  return difference < 0 || (difference === 0 && (born[one] as number) < (born[other] as number))
}

/** Whether the ticket or opening is in the pool, and was there when the round began. */
export function isPresent({ born, horizon }: Columns, slot: Slot): boolean {
  const birth = born[slot] as number
  return birth > 0 && birth <= horizon
}

/** The same, and whether it has no match yet. */
export const isFree = (columns: Columns, slot: Slot): boolean =>
  columns.taken[slot] === 0 && isPresent(columns, slot)

/** Keys and networks as small numbers, reused once nobody has them. */
export class Interner {
  readonly #byText = new Map<string, { readonly number: number; uses: number }>()
  readonly #texts: (string | undefined)[] = []
  readonly #free: number[] = []

  take(text: string): number {
    const known = this.#byText.get(text)
    if (known !== undefined) {
      known.uses += 1
      return known.number
    }
    const number = this.#free.pop() ?? this.#texts.length
    this.#texts[number] = text
    this.#byText.set(text, { number, uses: 1 })
    return number
  }

  drop(number: number): void {
    const text = this.#texts[number] as string
    const known = this.#byText.get(text)
    if (known === undefined) return
    known.uses -= 1
    if (known.uses > 0) return
    this.#byText.delete(text)
    this.#texts[number] = undefined
    this.#free.push(number)
  }
}
