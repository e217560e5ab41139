// pure: the tickets that bring players of the kinds every match needs
import type { Columns } from './columns.js'
import { grown } from './growing.js'
import type { Levels } from './levels.js'
import type { Model, Need, Slot } from './model.js'
import { createNeighbours, type Part } from './neighbours.js'

/** Needs with an index of their own at most; needs of single roles are listed before those of several. */
const INDEXED = 8

/**
 * Counts each ticket's players of each needed kind, and keeps an index of the tickets with any for each of the first
 * needs, so that these tickets are found however many others there are.
 */
export class Supply<Facts> {
  readonly needs: readonly Need<Facts>[]
  /** The indexes for the first needs. */
  readonly parts: readonly Part[]
  readonly #columns: Columns
  #counts = new Uint16Array(0)

  constructor(model: Model<Facts>, columns: Columns, levels: Levels) {
    this.#columns = columns
    this.needs = (model.checks?.needs ?? []).filter(({ atLeast }) => atLeast.some((count) => count > 0))
    this.parts = this.needs.slice(0, INDEXED).map((_, need) => ({
      index: createNeighbours(model as unknown as Model<never>, columns, levels),
      holds: (slot) => this.of(slot, need) > 0,
    }))
  }

  /** Counts a new ticket's players of each needed kind. */
  add(slot: Slot, facts: Facts): void {
    const many = this.needs.length
    if ((slot + 1) * many > this.#counts.length)
      this.#counts = grown(this.#counts, Math.max(64, 2 * (slot + 1)) * many)
    for (let need = 0; need < many; need++)
      this.#counts[slot * many + need] = (this.needs[need] as Need<Facts>).countOf(facts)
  }

  /** Players of a ticket that are of the needed kind. */
  of(slot: Slot, need: number): number {
    return this.#counts[slot * this.needs.length + need] as number
  }

  /** Whether the indexes surely hold too few players of some kind for any match at a level. */
  isShort(level: number): boolean {
    for (const [need, { index }] of this.parts.entries()) {
      if (index.count * this.#columns.largest < ((this.needs[need] as Need<Facts>).atLeast[level] as number))
        return true
    }
    return false
  }

  bytes(): number {
    return this.parts.reduce((sum, { index }) => sum + index.bytes(), this.#counts.byteLength)
  }
}
