// pure: how far players are from the middle of their match
import { greatCircleKm, type Coordinates } from '@muster/core'

const RADIANS = Math.PI / 180

/** The middle of several places on the sphere; the first of them if there is none, as for opposite places. */
function middleOf(places: readonly Coordinates[]): Coordinates | undefined {
  if (places.length < 2) return places[0]
  let [x, y, z] = [0, 0, 0]
  for (const { latitude, longitude } of places) {
    const flat = Math.cos(latitude * RADIANS)
    x += flat * Math.cos(longitude * RADIANS)
    y += flat * Math.sin(longitude * RADIANS)
    z += Math.sin(latitude * RADIANS)
  }
  if (x * x + y * y + z * z < 1e-18) return places[0]
  return { latitude: Math.atan2(z, Math.hypot(x, y)) / RADIANS, longitude: Math.atan2(y, x) / RADIANS }
}

/** Kilometres from each place to the middle of all; NaN for an unknown place. */
export function distancesOf(places: readonly (Coordinates | undefined)[]): number[] {
  const middle = middleOf(places.filter((place) => place !== undefined))
  return places.map((place) =>
    place === undefined || middle === undefined ? Number.NaN : greatCircleKm(place, middle),
  )
}
