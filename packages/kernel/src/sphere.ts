// pure: divides the sphere into cells along the parallels
/** Bands of equal height from the south pole northwards, each divided into cells of equal width. */
export interface SphereGrid {
  readonly bandsPerRadian: number
  readonly bands: number
  /** `counts` is the number of cells in each band, `offsets` the number in all bands south of it. */
  readonly counts: Int32Array
  readonly offsets: Int32Array
  readonly cells: number
}

/** The least height of a cell in radians, some 600 m: with finer cells there would be too many. */
const FINEST = 1e-4
/** A margin in radians, greater than the rounding of places to 32 bits. */
const ROUNDING = 1e-6

/**
 * A grid in which any two places of one cell are within the chord. With Δ for differences and c for the greatest cosine
 * of a latitude in the band, chord² = 4·(sin²(Δlat/2) + cos·cos·sin²(Δlon/2)) ≤ Δlat² + (c·Δlon)², and each term is at
 * most half of chord² here. Undefined if the cells would be too fine.
 * @param shift how far the cells are moved north and east, as a fraction of a cell.
 */
export function cellsWithin(chord: number, shift: number): SphereGrid | undefined {
  const height = chord / Math.SQRT2 - ROUNDING
  if (height < FINEST) return undefined
  return gridOf(height, shift, (south, north) => {
    const widest = south <= Math.PI / 2 && north >= Math.PI / 2 ? 1 : Math.max(Math.sin(south), Math.sin(north))
    return Math.ceil((2 * Math.PI * widest) / height)
  })
}

/**
 * A grid in which any place within the chord of another lies in the same cell or one of the eight around it. From the
 * formula above, sin²(Δlon/2) ≤ (chord/2)² / (cos·cos), with the two latitudes in this band or its neighbours.
 */
export function cellsAround(chord: number): SphereGrid {
  const height = Math.max(FINEST, 2 * Math.asin(Math.min(1, chord / 2)) + ROUNDING)
  return gridOf(height, 0, (south, north) => {
    const narrowest = Math.min(Math.sin(Math.max(0, south - height)), Math.sin(Math.min(Math.PI, north + height)))
    const width = 2 * Math.asin(Math.min(1, Math.sin(Math.min(Math.PI, height) / 2) / Math.max(narrowest, 1e-12)))
    return Math.floor((2 * Math.PI) / width)
  })
}

function gridOf(height: number, shift: number, cellsOf: (south: number, north: number) => number): SphereGrid {
  const bands = Math.floor(Math.PI / height + shift) + 2
  const counts = new Int32Array(bands)
  const offsets = new Int32Array(bands)
  let cells = 0
  for (let band = 0; band < bands; band++) {
    const south = Math.max(0, (band - shift) * height)
    const north = Math.min(Math.PI, (band - shift + 1) * height)
    offsets[band] = cells
    counts[band] = south >= Math.PI ? 1 : Math.max(1, cellsOf(south, north))
    cells += counts[band] as number
  }
  return { bandsPerRadian: 1 / height, bands, counts, offsets, cells }
}
