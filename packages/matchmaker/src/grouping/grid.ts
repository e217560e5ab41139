// pure: finds what is near a ticket without looking at every other one
import { createChains } from './chains.js'
import { at, type Field } from './field.js'
import { chordOf } from './reach.js'

/** An index of tickets by place, for one radius. */
export interface Grid {
  /** Files a ticket in front of those filed before. */
  insert(position: number): void
  /**
   * Visits every filed ticket of this size within the radius, and some others, until `visit` gives false.
   * One may be visited twice.
   */
  near(position: number, size: number, visit: (other: number) => boolean): void
}

/**
 * Cuts the cube around the earth into cells as wide as the radius: whatever is within it lies in the same
 * cell or one of the 26 around it, at the poles and the date line as anywhere. Cells, by size of ticket,
 * are hashed into a number of lists; that two may share one costs some comparisons and no correctness.
 */
export function createGrid(km: number, field: Field): Grid {
  const { count, x, y, z, size } = field
  // A little wider, so that rounding cannot put a neighbour two cells away.
  const width = chordOf(km) * (1 + 1e-9)
  const mask = 2 ** Math.ceil(Math.log2(count + 1)) - 1
  const cells = createChains(mask + 1, field)

  const along = (axis: Float64Array, position: number) => Math.floor((at(axis, position) + 1) / width)
  const cellOf = (i: number, j: number, k: number, players: number) =>
    (Math.imul(i, 73_856_093) ^ Math.imul(j, 19_349_663) ^ Math.imul(k, 83_492_791) ^ Math.imul(players, 50_331_653)) & mask

  return {
    insert: (position) =>
      cells.insert(cellOf(along(x, position), along(y, position), along(z, position), at(size, position)), position),
    near: (position, players, visit) => {
      const [i, j, k] = [along(x, position), along(y, position), along(z, position)]
      for (let di = -1; di <= 1; di++) {
        for (let dj = -1; dj <= 1; dj++) {
          for (let dk = -1; dk <= 1; dk++) {
            if (!cells.visit(cellOf(i + di, j + dj, k + dk, players), visit)) return
          }
        }
      }
    },
  }
}
