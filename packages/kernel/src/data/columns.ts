// pure: tickets, and openings (free places of running matches), as columns of numbers
import type { Entry, Opening, Slot } from './model.js'

// States of a ticket between rounds.
/** No round has searched a match for the ticket yet. */
export const FRESH = 0
/** The next round searches a match for the ticket. */
export const DIRTY = 1
/** A round found no match for the ticket. It is skipped until a ticket near it changes. */
export const PARKED = 2
/** The last round ended before the ticket's turn. The next round takes the ticket before others of its priority. */
export const DEFERRED = 3

// The most frequently read fields of a slot are adjacent in `rows`, so that they share cache lines.

/** The location as a point on the unit sphere. NaN if unknown. */
export const X = 0
export const Y = 1
export const Z = 2
const SINCE = 3
/** The interned number of the ticket's key. */
export const KEY = 4
/** The time until which the ticket's `level` is valid, see `levels.ts`. */
export const UNTIL = 5
/**
 * Low and high of each span, alternating. For a ticket that accepts any value: Infinity and −Infinity, which do not
 * widen the range of a match.
 */
export const VALUES = 6

type TicketRow = Pick<Entry<unknown> | Opening<unknown>, 'id' | 'since' | 'priority' | 'key' | 'place' | 'values'>

const FIRST = 64
const NOWHERE = [Number.NaN, Number.NaN, Number.NaN] as const

/**
 * One entry per slot in each column. The columns are replaced when they grow, so do not keep a reference to one across
 * a `put`. The slot that was freed last is reused first.
 */
export class Columns {
  readonly spans: number
  /** A multiple of 4 numbers, so that a row takes as few cache lines as possible. */
  readonly stride: number
  /** `stride` numbers per slot, at the offsets `X` to `VALUES`. */
  rows = new Float64Array(0)
  level = new Uint8Array(0)
  priority = new Float64Array(0)
  /** Number of the ticket's players. 0 for an opening. */
  size = new Uint16Array(0)
  /** The interned number of the network. −1 for none. */
  network = new Int32Array(0)
  /** Grows with each `put`, so that a round recognizes tickets that came after it began. 0 for a free slot. */
  born = new Float64Array(0)
  /** `FRESH`, `DIRTY`, `PARKED` or `DEFERRED`. */
  state = new Uint8Array(0)
  /** Number of searches that were cut short since the ticket last relaxed. */
  cuts = new Uint8Array(0)
  /** The last round in which a search proved that the ticket has no match. */
  refusedIn = new Uint32Array(0)
  /** The last round in which the ticket had a turn. 0 if it had none. */
  turnIn = new Uint32Array(0)
  /** 1 if the ticket was matched since the last round began. */
  taken = new Uint8Array(0)
  /** A hash of the id. It decides among partners of equal cost, so that different tickets prefer different ones. */
  mix = new Int32Array(0)
  readonly ids: string[] = []
  /** Slots from this one on have never been used. */
  end = 0
  /** `born` of the last `put`. */
  births = 0
  /** `births` when the current round began. Later tickets are in none of its matches. */
  horizon = 0
  readonly #free: Slot[] = []

  constructor(spans: number) {
    this.spans = spans
    this.stride = 4 * Math.ceil((VALUES + 2 * spans) / 4)
  }

  get capacity(): number {
    return this.born.length
  }

  /** Writes a ticket (`size` at least 1) or an opening (`size` 0) into a free slot. */
  put(row: TicketRow, key: number, network: number, size: number): Slot {
    const slot = this.#free.pop() ?? this.end++
    if (slot >= this.capacity) this.#grow(Math.max(FIRST, 2 * this.capacity))
    const { rows } = this
    const at = slot * this.stride
    const [x, y, z] = row.place?.every(Number.isFinite) === true ? row.place : NOWHERE
    rows[at + X] = x
    rows[at + Y] = y
    rows[at + Z] = z
    rows[at + SINCE] = row.since
    rows[at + KEY] = key
    rows[at + UNTIL] = -Infinity
    for (let span = 0; span < this.spans; span++) {
      const low = row.values[2 * span] ?? Number.NaN
      const high = row.values[2 * span + 1] ?? Number.NaN
      const any = Number.isNaN(low) || Number.isNaN(high)
      rows[at + VALUES + 2 * span] = any ? Infinity : low
      rows[at + VALUES + 2 * span + 1] = any ? -Infinity : high
    }
    this.priority[slot] = row.priority
    this.size[slot] = size
    this.network[slot] = network
    this.born[slot] = ++this.births
    this.state[slot] = FRESH
    this.cuts[slot] = this.refusedIn[slot] = this.turnIn[slot] = this.taken[slot] = 0
    this.ids[slot] = row.id
    this.mix[slot] = hashOf(row.id)
    return slot
  }

  /** Ends the slot's ticket or opening. The slot keeps its values until it is reused. */
  leave(slot: Slot): void {
    this.born[slot] = 0
    this.ids[slot] = ''
  }

  /** Makes a slot available to another ticket or opening. */
  reuse(slot: Slot): void {
    this.#free.push(slot)
  }

  sinceOf(slot: Slot): number {
    return this.rows[slot * this.stride + SINCE] as number
  }

  keyOf(slot: Slot): number {
    return this.rows[slot * this.stride + KEY] as number
  }

  placeOf(slot: Slot): readonly [x: number, y: number, z: number] | undefined {
    const at = (axis: number) => this.rows[slot * this.stride + axis] as number
    return Number.isNaN(at(X)) ? undefined : [at(X), at(Y), at(Z)]
  }

  /** Low and high of each span, alternating. NaN if the ticket matches any value. */
  valuesOf(slot: Slot): number[] {
    const first = slot * this.stride + VALUES
    const values = [...this.rows.subarray(first, first + 2 * this.spans)]
    return values.map((value) => (Math.abs(value) === Infinity ? Number.NaN : value))
  }

  #grow(capacity: number): void {
    this.rows = grown(this.rows, this.stride * capacity)
    this.level = grown(this.level, capacity)
    this.priority = grown(this.priority, capacity)
    this.size = grown(this.size, capacity)
    this.network = grown(this.network, capacity)
    this.born = grown(this.born, capacity)
    this.state = grown(this.state, capacity)
    this.cuts = grown(this.cuts, capacity)
    this.refusedIn = grown(this.refusedIn, capacity)
    this.turnIn = grown(this.turnIn, capacity)
    this.taken = grown(this.taken, capacity)
    this.mix = grown(this.mix, capacity)
  }
}

/** Returns the 32-bit FNV-1a hash of a string. */
function hashOf(text: string): number {
  let hash = 0x811c9dc5
  for (let at = 0; at < text.length; at++) hash = Math.imul(hash ^ text.charCodeAt(at), 0x01000193)
  return hash
}

/**
 * True if one slot comes before another among the members of a match: by the longer wait, then by the earlier `put`.
 */
export function isOlder(columns: Columns, one: Slot, other: Slot): boolean {
  const difference = columns.sinceOf(one) - columns.sinceOf(other)
  return difference < 0 || (difference === 0 && (columns.born[one] as number) < (columns.born[other] as number))
}

/** True if the ticket or opening is in the pool and was there when the round began. */
export function isPresent({ born, horizon }: Columns, slot: Slot): boolean {
  const birth = born[slot] as number
  return birth > 0 && birth <= horizon
}

/** True if `isPresent` holds and the slot has no match yet. */
export const isFree = (columns: Columns, slot: Slot): boolean => columns.taken[slot] === 0 && isPresent(columns, slot)

/** Maps keys and networks to small numbers, which are reused once no ticket has them. */
export class Interner {
  readonly #byText = new Map<string, { readonly number: number; readonly text: string; uses: number }>()
  readonly #byNumber: { readonly number: number; readonly text: string; uses: number }[] = []
  readonly #free: number[] = []

  /** Number of interned values. */
  get size(): number {
    return this.#byText.size
  }

  acquire(text: string): number {
    const known = this.#byText.get(text) ?? { number: this.#free.pop() ?? this.#byNumber.length, text, uses: 0 }
    if (known.uses++ === 0) {
      this.#byText.set(text, known)
      this.#byNumber[known.number] = known
    }
    return known.number
  }

  drop(number: number): void {
    const known = this.#byNumber[number]
    if (known === undefined || --known.uses > 0) return
    this.#byText.delete(known.text)
    this.#free.push(number)
  }
}

export type Column = Float64Array | Float32Array | Int32Array | Uint32Array | Uint16Array | Uint8Array

/** Returns a longer column with the same numbers, followed by zeros. */
export function grown<Of extends Column>(column: Of, length: number): Of {
  const larger = new (column.constructor as new (length: number) => Of)(length)
  larger.set(column)
  return larger
}
