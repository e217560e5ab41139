// pure: levels of a queue whose limits adapt: by wait and head start
import type { Columns } from './columns.js'
import { grown } from './growing.js'
import { levelAt } from './level-at.js'
import type { Model, Slot } from './model.js'

/** The region of tickets and openings that have no head start. */
const NONE = 255

/** The head starts of all regions, and the region of each slot. For models with `adaptive`. */
export interface HeadStarts {
  /** Whether any of them grew: then `grownBy` tells by how much. */
  set(headStarts: Float64Array): boolean
  /** Milliseconds by which the last `set` has grown the head start of a slot; 0 if it has not. */
  grownBy(slot: Slot): number
  enter(slot: Slot, region: number | undefined): void
  /** The level of a ticket. @param before its level so far, below which it never falls. */
  levelAfter(slot: Slot, waitedMs: number, before: number): number
  /** Milliseconds of waiting at which the next level begins, unless head starts change. */
  nextAfter(slot: Slot, level: number): number
  /** Milliseconds by which the ticket's level is ahead of its wait. */
  aheadOf(slot: Slot, level: number, waitedMs: number): number
}

export function createHeadStarts(
  { levels, lastResortLevel }: Pick<Model<never>, 'levels' | 'lastResortLevel'>,
  columns: Pick<Columns, 'level'>,
): HeadStarts {
  const lastResortMs = levels[lastResortLevel] ?? Infinity
  const loosest = Math.min(levels.length, lastResortLevel) - 1
  let headStarts = new Float64Array(NONE + 1)
  let growth = new Float64Array(NONE + 1)
  let regions = new Uint8Array(0)
  const of = (slot: Slot) => headStarts[regions[slot] as number] as number

  return {
    set: (to) => {
      const before = headStarts
      headStarts = new Float64Array(NONE + 1)
      headStarts.set(to.subarray(0, NONE))
      growth = headStarts.map((headStart, region) => Math.max(0, headStart - (before[region] as number)))
      return growth.some((ms) => ms > 0)
    },
    grownBy: (slot) => growth[regions[slot] as number] as number,
    enter: (slot, region = NONE) => {
      if (slot >= regions.length) regions = grown(regions, columns.level.length)
      regions[slot] = region
    },
    levelAfter: (slot, waitedMs, before) => {
      if (waitedMs >= lastResortMs) return lastResortLevel
      return Math.max(before, Math.min(loosest, levelAt(levels, waitedMs + of(slot))))
    },
    nextAfter: (slot, level) => {
      const next = level < loosest ? (levels[level + 1] as number) - of(slot) : Infinity
      return level < lastResortLevel ? Math.min(next, lastResortMs) : Infinity
    },
    aheadOf: (slot, level, waitedMs) => {
      if (level === lastResortLevel) return 0
      return level === 0 ? of(slot) : Math.max(of(slot), (levels[level] as number) - waitedMs)
    },
  }
}
