// pure: tickets as records of what pairs are made by, so that they are read one after the other
import type { Columns } from './columns.js'
import { grown } from './growing.js'
import type { Model, Slot } from './model.js'
import { units } from './scales.js'

/** Numbers of a record: the key and the slot are integers, the others 32-bit floats. */
export const RECORD = 6
/** The sort key. */
export const KEY = 0
export const SLOT = 1
/** Latitude, longitude and the first value, in `STEPS` per strictest limit. */
export const NORTH = 2
export const EAST = 3
export const VALUE = 4
/** The cosine of the latitude. */
export const COSINE = 5

/** Parts of a strictest limit in which places, values and costs are given. */
export const STEPS = 1024
/** A value that no other is near to, for tickets that match any: searches are better for these. */
const ANY = STEPS * 2 ** 16

/** Two views of the same memory: integers are read from one, floats from the other. */
export interface Records {
  readonly integers: Int32Array
  readonly floats: Float32Array
}

export function createRecords(): Records {
  return recordsOf(new Int32Array(0))
}

/** Records of a greater capacity. They may be in the same memory, so those given must not be used any more. */
export function grownRecords({ integers }: Records, capacity: number): Records {
  return recordsOf(grown(integers, RECORD * capacity))
}

function recordsOf(integers: Int32Array): Records {
  return { integers, floats: new Float32Array(integers.buffer, 0, integers.length) }
}

/** Copies the records that `records` lists from `from` to `until`, to `into` and the records after it. */
export function copyRecords(
  { integers }: Records,
  records: Int32Array,
  from: number,
  until: number,
  { integers: to }: Records,
  into: number,
): void {
  for (let at = from; at < until; at++) copyRecord(integers, records[at] as number, to, into + at - from)
}

/** Copies one record, field by field: it has as many as `RECORD` says. */
export function copyRecord(from: Int32Array, at: number, to: Int32Array, into: number): void {
  const source = RECORD * at
  const target = RECORD * into
  to[target] = from[source] as number
  to[target + 1] = from[source + 1] as number
  to[target + 2] = from[source + 2] as number
  to[target + 3] = from[source + 3] as number
  to[target + 4] = from[source + 4] as number
  to[target + 5] = from[source + 5] as number
}

/**
 * Reads slots into records from `to` on and returns where they end. Tickets with more than one player take no part, nor
 * do those without a place if places matter.
 * @param left is told the slots that take no part.
 */
export type ReadRecords = (slots: Int32Array, records: Records, to: number, left: (slot: Slot) => void) => number

export function createReadRecords(model: Model<never>, columns: Columns): ReadRecords {
  const unit = units(model)
  const places = model.radius !== undefined
  const perRadian = places ? STEPS / unit.chord : 0
  const perTurn = 2 * Math.PI * perRadian
  const perValue = model.spans.length === 0 ? 0 : STEPS / unit.width

  return (slots, { integers, floats }, to, left) => {
    const { coarse, size } = columns
    let record = RECORD * to
    for (let at = 0; at < slots.length; at++) {
      const slot = slots[at] as Slot
      const latitude = coarse[4 * slot] as number
      if (size[slot] !== 1 || (places && Number.isNaN(latitude))) {
        left(slot)
        continue
      }
      const value = coarse[4 * slot + 2] as number
      integers[record + SLOT] = slot
      floats[record + NORTH] = places ? latitude * perRadian : 0
      floats[record + EAST] = places ? (coarse[4 * slot + 1] as number) * perTurn : 0
      floats[record + VALUE] = value === Infinity ? ANY : value * perValue
      floats[record + COSINE] = places ? (coarse[4 * slot + 3] as number) : 0
      record += RECORD
    }
    return record / RECORD
  }
}
