import type { Coordinates } from '@muster/core'
import type { Clock } from '@muster/core/clock'
import type { Locate } from '../tickets/locate/locate.js'
import type { Player } from '../player.js'
import type { RecordedEvent } from './lines.js'

/** Where players are, as far as it could be found out. */
export type Places = ReadonlyMap<Player, Coordinates | undefined>

/** Writes an event down as of the time when it began, at once or when it is known where the players are. */
export type Note = (event: (places: Places) => RecordedEvent, players?: readonly Player[]) => void

/**
 * Gives the function to call before something is asked of the matchmaker; what that gives is called if it was done.
 * So the numbers of the lines follow the order of the calls, even where one leads to another.
 */
export function createLineWriter(write: (line: string) => void, clock: Clock, locate: Locate | undefined): () => Note {
  let lines = 0
  let warned = false

  const writeLine = (value: object) => {
    try {
      write(`${JSON.stringify(value)}\n`)
    } catch (error) {
      // Once: whatever it is, it may well happen with every line.
      if (!warned) process.emitWarning(`tickets are not recorded: ${String(error)}`, 'MusterWarning')
      warned = true
    }
  }

  return () => {
    const [at, n] = [Math.floor(clock.now()), lines]
    lines += 1
    return (event, players = []) => {
      const finish = (places: Places) => writeLine({ at, n, ...event(places) })
      const places = placesOf(players, locate)
      if (places instanceof Promise) void places.then(finish)
      else finish(places)
    }
  }
}

/** What goes wrong here goes wrong in the matchmaker too, which tells of it. */
function placesOf(players: readonly Player[], locate: Locate | undefined): Places | Promise<Places> {
  const placeOf = ({ ip, coordinates }: Player) => {
    if (coordinates !== undefined || ip === undefined || locate === undefined) return coordinates
    try {
      const place = locate(ip)
      return place instanceof Promise ? place.catch(() => undefined) : place
    } catch {
      return undefined
    }
  }
  const found = players.map(placeOf)
  const paired = (places: readonly (Coordinates | undefined)[]): Places =>
    new Map(players.map((player, index) => [player, places[index]]))
  return found.some((place) => place instanceof Promise)
    ? Promise.all(found).then(paired)
    : paired(found as readonly (Coordinates | undefined)[])
}
