// pure: what making many matches at once needs and gives
import type { Columns } from './columns.js'
import type { Levels } from './levels.js'
import type { Model, Slot } from './model.js'
import type { Packing } from './packing.js'

/** Makes many matches at once. */
export interface Bulk {
  /**
   * Makes matches of the first `count` slots, which all have one key, and moves the slots left over to the beginning of
   * `slots`. Yields how many tickets' worth of work it has done; returns how many slots are left over.
   */
  run(slots: Int32Array, count: number): Generator<number, number>
  bytes(): number
}

export interface BulkInput {
  readonly model: Model<never>
  readonly columns: Columns
  readonly levels: Levels
  readonly packing: Packing
  /**
   * Proposes `count` slots from `at` on as matches, one after the other, that keep the distance and difference rules
   * and fill the teams. Marks their members as `taken`.
   */
  group(slots: Int32Array, at: number, count: number): void
  /** Makes the proposed matches; those that other rules refuse are dropped. Returns how many. */
  settle(): Generator<number, number>
  free(slot: Slot): boolean
  /** Whether any ticket or opening has been removed since the round began. */
  disturbed(): boolean
}

/** Tickets looked at between two pauses. */
const AT_ONCE = 16_384

/**
 * Drops tickets that are matched or gone. The others keep their order, that of memory. Yields how much work it has
 * done; returns how many are left.
 */
export function* keepFree(
  { columns, disturbed, free }: BulkInput,
  slots: Int32Array,
  count: number,
): Generator<number, number> {
  let { taken } = columns
  let isDisturbed = disturbed()
  let still = 0
  for (let at = 0; at < count; at++) {
    if (at % AT_ONCE === AT_ONCE - 1) {
      yield AT_ONCE >> 3
      taken = columns.taken
      isDisturbed = disturbed()
    }
    const slot = slots[at] as Slot
    if (taken[slot] === 1 || (isDisturbed && !free(slot))) continue
    slots[still++] = slot
  }
  return still
}
