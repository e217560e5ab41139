import type { ListedSession } from '../sessions/orphans.js'
import { sessionOf, type Lobby } from './lobby.js'
import { parseRunKey } from './runner.js'
import type { LobbyStore } from './store.js'

/**
 * Says whether a session is some lobby's; or of no lobby's making, and so for somebody else to judge.
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
  // It is just being opened, or about to be cleared away by whoever opens it again.
  (lobby.run?.status === 'allocating' && lobby.run.term === term)
