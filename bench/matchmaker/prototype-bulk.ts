import { cellOf, Cells, CLASSES_PER_SKILL } from './prototype-cells.js'
import type { Columns } from './prototype-columns.js'
import type { RadixSort } from './prototype-sort.js'

/** One pass over the tickets that have reached a step: matches within a cell and a difference in skill. */
interface Pass {
  readonly cells: Cells
  readonly skill: number
  readonly step: number
}

/** Of a cell of which no two points are farther apart. */
const pass = (km: number, skill: number, step: number, shift = 0): Pass => ({
  cells: new Cells(km / Math.SQRT2, shift),
  skill,
  step,
})

/** From the nearest to the farthest. Cells that are shifted hold those whom the borders of the others part. */
const PASSES: readonly Pass[] = [
  pass(70, 12, 0),
  pass(150, 25, 0),
  pass(300, 50, 0),
  pass(500, 50, 0),
  pass(500, 50, 0, 0.5),
  pass(1000, 100, 1),
  pass(1000, 100, 1, 0.5),
  pass(2000, 200, 2),
  pass(2000, 200, 2, 0.5),
  pass(5000, 400, 3),
  pass(5000, 400, 3, 0.5),
]

/** Matches as they are made: the tickets of one after the other. */
export interface Matches {
  readonly tickets: Int32Array
  count: number
}

/** Makes matches of tickets that are next to each other in the order of cell and skill. Returns the tickets left. */
export function matchWithinCells(columns: Columns, size: number, matches: Matches, radix: RadixSort): Uint32Array {
  const { count, skill } = columns
  let left: Uint32Array = new Uint32Array(count)
  for (let ticket = 0; ticket < count; ticket++) left[ticket] = ticket
  const keys = new Uint32Array(count)
  const reached = new Uint32Array(count)
  const isMatched = new Uint8Array(count)
  for (const { cells, skill: limit, step } of PASSES) {
    const many = keysOf(columns, left, cells, step, reached, keys)
    if (many < size) continue
    const sorted = radix.sort(keys, many, cells.bits, reached)
    matchNeighbours(sorted, radix.keys(), skill, limit, size, matches, isMatched)
    left = unmatched(left, isMatched)
  }
  return left
}

/** Writes the tickets that have reached a step, and their keys. Returns how many they are. */
function keysOf(
  { latitude, longitude, skill, step }: Columns,
  tickets: Uint32Array,
  cells: Cells,
  from: number,
  reached: Uint32Array,
  keys: Uint32Array,
): number {
  let many = 0
  for (let at = 0; at < tickets.length; at++) {
    const ticket = tickets[at] as number
    if ((step[ticket] as number) < from) continue
    reached[many] = ticket
    keys[many] = cells.key(latitude[ticket] as number, longitude[ticket] as number, skill[ticket] as number)
    many += 1
  }
  return many
}

function unmatched(tickets: Uint32Array, isMatched: Uint8Array): Uint32Array {
  let kept = 0
  for (let at = 0; at < tickets.length; at++) {
    const ticket = tickets[at] as number
    if (isMatched[ticket] === 0) tickets[kept++] = ticket
  }
  return tickets.subarray(0, kept)
}

/** Goes along the sorted tickets with a window as wide as a match. */
function matchNeighbours(
  sorted: Uint32Array,
  keys: Uint32Array,
  skill: Float32Array,
  limit: number,
  size: number,
  matches: Matches,
  isMatched: Uint8Array,
): void {
  const classes = Math.ceil(limit * CLASSES_PER_SKILL)
  for (let at = 0; at <= sorted.length - size;) {
    const first = keys[at] as number
    const last = keys[at + size - 1] as number
    const isNear = last - first <= classes && cellOf(first) === cellOf(last)
    if (!isNear || spread(sorted, at, size, skill) > limit) {
      at += 1
      continue
    }
    let to = matches.count * size
    const end = at + size
    for (; at < end; at++) {
      const ticket = sorted[at] as number
      matches.tickets[to++] = ticket
      isMatched[ticket] = 1
    }
    matches.count += 1
  }
}

/** The order within a class of skill is any, so the difference is that of the extremes. */
function spread(sorted: Uint32Array, from: number, size: number, skill: Float32Array): number {
  let [least, most] = [Infinity, -Infinity]
  for (let at = from; at < from + size; at++) {
    const value = skill[sorted[at] as number] as number
    if (value < least) least = value
    if (value > most) most = value
  }
  return most - least
}
