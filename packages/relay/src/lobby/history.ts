// pure: the events of a lobby that are kept
import type { Happening, LobbyEvent } from './event.js'
import { lobbyWith, type Lobby } from './lobby.js'

/** Number of events kept for players who come back; a player who has missed more gets a snapshot instead. */
const KEPT = 64

/** The lobby with one more event. */
export function withEvent(lobby: Lobby, now: number, happening: Happening, to?: string): Lobby {
  const seq = lobby.seq + 1
  const event: LobbyEvent = { ...happening, seq, at: now, to }
  const kept = lobby.events.length < KEPT ? lobby.events : lobby.events.slice(1 - KEPT)
  // A list that is pushed to keeps room for more events, and each lobby keeps a list.
  const events = kept.toSpliced(kept.length, 0, event)
  return lobbyWith(lobby, { seq, events })
}

/** The events after `seq`; undefined if some of them are no longer kept. */
export function eventsAfter({ events, seq: last }: Lobby, seq: number): readonly LobbyEvent[] | undefined {
  if (seq > last || (events[0]?.seq ?? 1) > seq + 1) return undefined
  return events.filter((event) => event.seq > seq)
}
