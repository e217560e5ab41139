// pure: places on the earth, and the place or network of a ticket
import { addressPrefix, EARTH_RADIUS_KM, type Coordinates } from '@muster/core'
import type { Player } from './player.js'

/**
 * The squared chord (straight line on a sphere of radius 1) between two places `km` kilometres apart. Infinity from
 * half the earth's circumference on.
 */
export const chordSquared = (km: number): number =>
  km >= Math.PI * EARTH_RADIUS_KM ? Infinity : (2 * Math.sin(km / EARTH_RADIUS_KM / 2)) ** 2

/** The kilometres along the surface for a squared chord: the inverse of `chordSquared`. */
export const kmOf = (squared: number): number => 2 * EARTH_RADIUS_KM * Math.asin(Math.min(1, Math.sqrt(squared) / 2))

export function pointOf({ latitude, longitude }: Coordinates): readonly [x: number, y: number, z: number] {
  const up = (latitude * Math.PI) / 180
  const around = (longitude * Math.PI) / 180
  const flat = Math.cos(up)
  return [flat * Math.cos(around), flat * Math.sin(around), Math.sin(up)]
}

const toDegrees = (radians: number) => (radians * 180) / Math.PI

/**
 * The middle of several places on the sphere; a party's place is the middle of its players' places. Where there is no
 * middle, such as for the two poles, the first place. Undefined for no places.
 */
export function middleOf(places: readonly Coordinates[]): Coordinates | undefined {
  if (places.length < 2) return places[0]
  let [x, y, z] = [0, 0, 0]
  for (const place of places) {
    const point = pointOf(place)
    x += point[0]
    y += point[1]
    z += point[2]
  }
  const flat = x * x + y * y
  if (flat + z * z < 1e-18) return places[0]
  return { latitude: toDegrees(Math.atan2(z, Math.sqrt(flat))), longitude: toDegrees(Math.atan2(y, x)) }
}

/** The network of the first player with a known address: used where no coordinates are known. */
export function networkOf(players: readonly Player[]): string | undefined {
  for (const { ip } of players) if (ip !== undefined) return addressPrefix(ip)
  return undefined
}
