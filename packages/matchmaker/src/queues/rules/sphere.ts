// pure: places as points on a sphere of radius 1
import { EARTH_RADIUS_KM, type Coordinates } from '@muster/core'

/** The square of the straight line between places so many kilometres apart; Infinity from half around the earth on. */
export const chordSquared = (km: number): number =>
  km >= Math.PI * EARTH_RADIUS_KM ? Infinity : (2 * Math.sin(km / EARTH_RADIUS_KM / 2)) ** 2

/** The kilometres along the surface that such a square stands for. */
export const kmOf = (squared: number): number => 2 * EARTH_RADIUS_KM * Math.asin(Math.min(1, Math.sqrt(squared) / 2))

export function pointOf({ latitude, longitude }: Coordinates): readonly [x: number, y: number, z: number] {
  const [up, around] = [(latitude * Math.PI) / 180, (longitude * Math.PI) / 180]
  const flat = Math.cos(up)
  return [flat * Math.cos(around), flat * Math.sin(around), Math.sin(up)]
}
