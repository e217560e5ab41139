// pure: which list of an index a ticket is in
import type { SphereGrid } from './sphere.js'

/** In place of a cell or a band, where a ticket has no place or goes with any value. */
export const NOWHERE = -2
export const ANY = 0x5bd1e995
/** In place of a band, where the list is that of a network. */
export const NETWORK = 0x2545f491

/** The list of a key, a cell and a band. */
export const listAt = (key: number, cell: number, band: number): number =>
  listOf(partOfCell(cell), partOfBand(key, band))

/** The same in parts, for who asks for each of many cells and many bands. */
export function listOf(ofCell: number, ofBand: number): number {
  const mixed = Math.imul(ofCell ^ ofBand, 0x27d4eb2f)
  return mixed ^ (mixed >>> 15)
}
export const partOfCell = (cell: number): number => Math.imul(cell, 0x9e3779b1)
export const partOfBand = (key: number, band: number): number =>
  Math.imul(band, 0x85ebca6b) ^ Math.imul(key, 0xc2b2ae35)

/** The remainder of 2³² bands: those that share a number are told apart by the comparison. */
export function bandOf(value: number, width: number): number {
  if (width === Infinity) return 0
  if (value === Infinity) return ANY
  return (width > 0 ? Math.floor(value / width) : Math.floor(value)) | 0
}

export function cellOf({ bandsPerRadian, counts, offsets }: SphereGrid, north: number, turn: number): number {
  const band = (north * bandsPerRadian) | 0
  const many = counts[band] as number
  const cell = (turn * many) | 0
  return (offsets[band] as number) + (cell === many ? 0 : cell)
}

/** Its own cell and those around it. */
export function cellsNear(
  { bandsPerRadian, bands, counts, offsets }: SphereGrid,
  north: number,
  turn: number,
  into: Int32Array,
): number {
  const own = (north * bandsPerRadian) | 0
  const end = Math.min(bands - 1, own + 1)
  let to = 0
  for (let band = Math.max(0, own - 1); band <= end; band++) {
    const many = counts[band] as number
    const offset = offsets[band] as number
    let cell = (turn * many) | 0
    if (cell === many) cell = 0
    into[to++] = offset + cell
    if (many > 1) into[to++] = offset + (cell === 0 ? many - 1 : cell - 1)
    if (many > 2) into[to++] = offset + (cell === many - 1 ? 0 : cell + 1)
  }
  return to
}
