// pure: makes many matches at once: pairs of neighbours on a curve, larger matches cell by cell
import type { Bulk, BulkInput } from './bulk-input.js'
import { createCellBulk } from './cell-bulk.js'
import { createPairBulk } from './pair-bulk.js'

/**
 * With more tickets than this, pairs too are made by cells: that takes a fifth less time, though the pairs cost a third
 * more (decision 0080).
 */
const MOST_PAIRED = 150_000

export function createBulk(input: BulkInput): Bulk {
  const { model, columns, packing } = input
  const cells = createCellBulk(input)
  if (packing.players !== 2) return cells
  const pairs = createPairBulk(input)

  return {
    bytes: () => cells.bytes() + pairs.bytes(),
    *run(slots, count) {
      if (count > MOST_PAIRED) return yield* cells.run(slots, count)
      const left = yield* pairs.run(slots, count)
      // Parties, and tickets that other rules keep from their best partners, may still be matched by cells.
      if (columns.largest === 1 && model.checks === undefined) return left
      return yield* cells.run(slots, left)
    },
  }
}
