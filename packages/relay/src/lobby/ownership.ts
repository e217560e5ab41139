import type { ListedSession } from '../sessions/orphans.js'
import { sessionOf, type Lobby } from './lobby.js'
import { parseRunKey } from './runner.js'
import type { LobbyStore } from './store.js'

/**
 * Decides whether a lobby owns a session. Sessions that no lobby has opened count as owned, because their owner is
 * unknown here.
 */
export function createOwnership(store: LobbyStore): (session: ListedSession) => Promise<boolean> {
  return async ({ id, label }) => {
    const key = parseRunKey(label)
    if (key === undefined) return true
    const lobby = (await store.get(key.lobbyId))?.lobby
    return lobby !== undefined && has(lobby, id, key.term)
  }
}

const has = (lobby: Lobby, sessionId: string, term: number): boolean =>
  sessionOf(lobby)?.id === sessionId ||
  lobby.retired.some(({ id }) => id === sessionId) ||
  // The session is just being opened; or whoever opens the lobby's session again is about to delete this one.
  (lobby.run?.status === 'allocating' && lobby.run.term === term)
