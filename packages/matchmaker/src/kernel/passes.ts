// pure: in which order, and how closely, tickets are looked at in bulk
import type { Model } from './model.js'
import { limitScales } from './scales.js'
import { cellsWithin, type SphereGrid } from './sphere.js'

/** One look at all tickets: those of the same cell, within this width. */
export interface Pass {
  readonly grid: SphereGrid | undefined
  /** As a part of a cell. */
  readonly shift: number
  readonly width: number
  /** Tickets below this level do not take part: what is allowed at it is allowed among the others. */
  readonly level: number
  /** Whether others find all that it finds. */
  readonly fine: boolean
}

/** Parts of the strictest limits on places and on values: the nearest are matched first, and then farther ones. */
const FINE = [
  [0.14, 0.25],
  [0.3, 0.5],
  [0.6, 1],
] as const

/** Each limit twice, the second time with the cells moved by half: who is divided by a border the first time is not then. */
export function passesOf(model: Model<never>): Pass[] {
  const passes: Pass[] = []
  const add = (chord: number, shift: number, width: number, level: number, fine = false) => {
    const grid = chord === Infinity ? undefined : cellsWithin(chord, shift)
    if (grid !== undefined || chord === Infinity) passes.push({ grid, shift, width, level, fine })
  }
  for (const { chord, width, level } of limitScales(model)) {
    if (level === 0) for (const [near, similar] of FINE) add(chord * near, 0, width * similar, 0, true)
    add(chord, 0, width, level)
    if (chord !== Infinity) add(chord, 0.5, width, level)
  }
  return passes
}
