import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { cellsAround, cellsWithin, type SphereGrid } from './sphere.js'

/** A place: latitude in radians from the south pole, longitude as a fraction of a turn. */
interface Place {
  readonly north: number
  readonly turn: number
}
const place: fc.Arbitrary<Place> = fc.record({
  north: fc.oneof(
    fc.double({ min: 0, max: Math.PI, noNaN: true }),
    fc.constantFrom(0, 1e-9, 0.01, Math.PI - 0.01, Math.PI),
  ),
  turn: fc.oneof(
    fc.double({ min: 0, max: 1, noNaN: true, maxExcluded: true }),
    fc.constantFrom(0, 1e-9, 0.5, 0.999_999_9),
  ),
})
/** A place near another one, maybe across a pole or the date line. */
const beside = (near: Place, by: number) =>
  fc
    .tuple(fc.double({ min: -1, max: 1, noNaN: true }), fc.double({ min: -1, max: 1, noNaN: true }))
    .map(([up, on]): Place => {
      const north = near.north + up * by
      const over = north < 0 || north > Math.PI
      const turn = near.turn + (on * by) / (2 * Math.PI * Math.max(0.05, Math.sin(near.north))) + (over ? 0.5 : 0)
      return { north: north < 0 ? -north : north > Math.PI ? 2 * Math.PI - north : north, turn: ((turn % 1) + 1) % 1 }
    })
const two = fc
  .double({ min: 2e-4, max: 2, noNaN: true })
  .chain((chord) =>
    place.chain((one) =>
      fc.record({ chord: fc.constant(chord), one: fc.constant(one), other: fc.oneof(beside(one, chord), place) }),
    ),
  )

const pointOf = ({ north, turn }: Place) => {
  const [latitude, longitude] = [north - Math.PI / 2, (turn - 0.5) * 2 * Math.PI]
  return [Math.cos(latitude) * Math.cos(longitude), Math.cos(latitude) * Math.sin(longitude), Math.sin(latitude)]
}
const apart = (one: Place, other: Place) =>
  Math.hypot(...pointOf(one).map((at, axis) => at - (pointOf(other)[axis] as number)))

const bandOf = ({ bandsPerRadian }: SphereGrid, { north }: Place, shift: number) =>
  Math.floor(north * bandsPerRadian + shift)
const inBand = (grid: SphereGrid, { turn }: Place, band: number, shift: number) =>
  Math.floor(turn * (grid.counts[band] as number) + shift) % (grid.counts[band] as number)

describe('cells', () => {
  test('two places in one cell are within the chord', () => {
    fc.assert(
      fc.property(two, fc.constantFrom(0, 0.5), ({ chord, one, other }, shift) => {
        const grid = cellsWithin(chord, shift)
        if (grid === undefined) return
        const [band, same] = [bandOf(grid, one, shift), bandOf(grid, other, shift)]
        if (band !== same || inBand(grid, one, band, shift) !== inBand(grid, other, band, shift)) return
        expect(apart(one, other)).toBeLessThanOrEqual(chord)
      }),
      // Few, to save time: `pnpm fuzz` tries others.
      { numRuns: 1500 },
    )
  })

  test('places within the chord are in the same cell or in adjacent cells', () => {
    fc.assert(
      fc.property(two, ({ chord, one, other }) => {
        if (apart(one, other) > chord) return
        const grid = cellsAround(chord)
        const band = bandOf(grid, other, 0)
        expect(Math.abs(band - bandOf(grid, one, 0))).toBeLessThanOrEqual(1)
        const many = grid.counts[band] as number
        const between = Math.abs(inBand(grid, one, band, 0) - inBand(grid, other, band, 0))
        expect(Math.min(between, many - between)).toBeLessThanOrEqual(1)
      }),
      // Few, to save time: `pnpm fuzz` tries others.
      { numRuns: 1500 },
    )
  })

  test('too fine a grid is refused', () => {
    expect(cellsWithin(1e-5, 0)).toBeUndefined()
  })
})
