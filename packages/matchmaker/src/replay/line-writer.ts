import type { Coordinates } from '@muster/core'
import type { Clock } from '@muster/core/clock'
import type { Locate } from '../tickets/locate/locate.js'
import type { Player } from '@muster/servers'
import type { RecordedEvent } from './lines.js'

/** The places of players, as far as they are known. */
export type Places = ReadonlyMap<Player, Coordinates | undefined>

/** Writes an event with the time at which it began: at once, or when the players' places are known. */
export type Note = (event: (places: Places) => RecordedEvent, players?: readonly Player[]) => void

/**
 * Returns a function to call before a command; the function that it returns is called if the command succeeded. So the
 * line numbers follow the order in which commands began, even if one command causes another.
 */
export function createLineWriter(write: (line: string) => void, clock: Clock, locate: Locate | undefined): () => Note {
  let lines = 0
  let warned = false

  const writeLine = (value: object) => {
    try {
      write(`${JSON.stringify(value)}\n`)
    } catch (error) {
      // Warned once only, because the cause probably affects every line.
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

/** Locates players. Errors of `locate` are ignored here, because the matchmaker meets and reports the same errors. */
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
