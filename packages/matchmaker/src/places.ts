// pure: where a ticket is
import { addressPrefix, type Coordinates } from '@muster/core'
import { pointOf } from './queues/rules/sphere.js'
import type { Player } from './tickets/ticket.js'

const toDegrees = (radians: number) => (radians * 180) / Math.PI

/**
 * The middle of several places on the sphere: a party is where its players' middle is. Of places that
 * have no middle, such as the two poles, the first. Undefined for none.
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

/** The network of the first player whose address is known: what remains when no place is. */
export function networkOf(players: readonly Player[]): string | undefined {
  for (const { ip } of players) if (ip !== undefined) return addressPrefix(ip)
  return undefined
}
