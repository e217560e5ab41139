// pure: areas of the earth
import type { Coordinates } from '@muster/core'

/** Divides the earth into areas of so many degrees, by number. */
export interface Areas {
  of(place: Coordinates): number
  middleOf(area: number): Coordinates
}

export function createAreas(degrees: number): Areas {
  const rows = Math.ceil(180 / degrees)
  const columns = Math.ceil(360 / degrees)
  const within = (index: number, count: number) => Math.min(count - 1, Math.max(0, Math.floor(index)))
  /** The last row and column may be narrower. */
  const middle = (index: number, all: number) => (index * degrees + Math.min(all, (index + 1) * degrees)) / 2
  return {
    of: ({ latitude, longitude }) =>
      within((latitude + 90) / degrees, rows) * columns + within((longitude + 180) / degrees, columns),
    middleOf: (area) => ({
      latitude: middle(Math.floor(area / columns), 180) - 90,
      longitude: middle(area % columns, 360) - 180,
    }),
  }
}
