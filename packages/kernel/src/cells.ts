// pure: computes which list of an index holds a ticket
import type { SphereGrid } from './sphere.js'

/** `NOWHERE` stands for the cell of a ticket without a place, `ANY` for the band of a ticket that matches any value. */
export const NOWHERE = -2
export const ANY = 0x5bd1e995
/** Stands for the band in the lists by network. */
export const NETWORK = 0x2545f491

/** The list (a 32-bit hash) of a key, a cell and a band. */
export const listAt = (key: number, cell: number, band: number): number =>
  listOf(partOfCell(cell), partOfBand(key, band))

/** `listAt` in two parts, for callers that combine many cells with many bands. */
export function listOf(ofCell: number, ofBand: number): number {
  const mixed = Math.imul(ofCell ^ ofBand, 0x27d4eb2f)
  return mixed ^ (mixed >>> 15)
}
export const partOfCell = (cell: number): number => Math.imul(cell, 0x9e3779b1)
export const partOfBand = (key: number, band: number): number =>
  Math.imul(band, 0x85ebca6b) ^ Math.imul(key, 0xc2b2ae35)

/**
 * The band of a value, modulo 2³²: tickets of different bands with the same number are told apart when their values are
 * compared.
 */
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

/** Writes the cell of a place and the cells around it to `into`; returns how many, at most nine. */
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

/** The cells that hold any place near one of a cell: it, and those beside it in its own and in the two next bands. */
export function cellsAroundCell({ bands, counts, offsets }: SphereGrid, cell: number): number[] {
  let own = 0
  for (let above = bands; above - own > 1;) {
    const middle = (own + above) >>> 1
    if ((offsets[middle] as number) <= cell) own = middle
    else above = middle
  }
  const inOwn = counts[own] as number
  const at = cell - (offsets[own] as number)
  const found: number[] = []
  for (let band = Math.max(0, own - 1); band <= Math.min(bands - 1, own + 1); band++) {
    const many = counts[band] as number
    // From the cell west of the one at the west border, to the cell east of the one at the east border.
    const west = Math.floor((at * many) / inOwn) - 1
    const east = Math.floor(((at + 1) * many) / inOwn) + 1
    for (let each = west; each <= Math.min(east, west + many - 1); each++)
      found.push((offsets[band] as number) + ((each + many) % many))
  }
  return found
}
