import type { Coordinates } from '@muster/core'
import { messageOf, middleOf, scrub } from '@muster/core/internal'
import type { Locate } from '../locate/index.js'
import type { Player } from '@muster/hosting/internal'
import { coordinates } from './ticket-input.js'

export type PlayerLocation = Coordinates | undefined

/** Finds the middle of the players' locations. Synchronous unless `locate` is asynchronous. */
export type LocatePlayers = (players: readonly Player[]) => PlayerLocation | Promise<PlayerLocation>

/**
 * Uses the coordinates of the players who have them, and calls `locate` for the others. If `locate` fails or returns an
 * invalid value, the player's location is unknown.
 * @param problem receives failures, without the address.
 */
export function createLocating(locate: Locate | undefined, problem: (error: Error) => void): LocatePlayers {
  const failed = (error: unknown): undefined => {
    problem(new Error(scrub(`locate failed: ${messageOf(error)}`)))
  }
  const checked = (place: PlayerLocation): PlayerLocation =>
    place === undefined || coordinates.safeParse(place).success
      ? place
      : failed('the answer is not a latitude and a longitude')

  const placeOf = (player: Player): PlayerLocation | Promise<PlayerLocation> => {
    if (player.coordinates !== undefined || player.ip === undefined || locate === undefined) return player.coordinates
    try {
      const found = locate(player.ip)
      return found instanceof Promise ? found.then(checked, failed) : checked(found)
    } catch (error) {
      return failed(error)
    }
  }

  return (players) => {
    const [first] = players
    if (players.length === 1 && first !== undefined) return placeOf(first)
    const places = players.map(placeOf)
    return places.some((place) => place instanceof Promise)
      ? Promise.all(places).then((all) => middleOf(all.filter(isKnown)))
      : middleOf((places as readonly PlayerLocation[]).filter(isKnown))
  }
}

const isKnown = (place: PlayerLocation) => place !== undefined
