// pure: the passes of matching in bulk, from the closest limits to the widest
import type { Model } from './model.js'
import { limitScales } from './scales.js'
import { cellsWithin, type SphereGrid } from './sphere.js'

/** One pass over all tickets: it matches tickets of the same cell whose values are within the width. */
export interface Pass {
  readonly grid: SphereGrid | undefined
  /** How far the cells are moved north and east, as a fraction of a cell. */
  readonly shift: number
  readonly width: number
  /** Tickets below this level take no part, so that the others may be matched by this level's limits. */
  readonly level: number
  /** Whether later passes find every match that this pass finds. */
  readonly fine: boolean
}

/** Fractions of the strictest limits on places and on values: the nearest tickets are matched first. */
const FINE = [
  [0.14, 0.25],
  [0.3, 0.5],
  [0.6, 1],
] as const

/**
 * The passes of a model: one per limit, and a second one with the cells moved by half a cell, for tickets that a cell
 * border divides in the first.
 */
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
