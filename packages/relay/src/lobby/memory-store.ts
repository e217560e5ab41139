import { createDueIndex } from './due-index.js'
import { memberOf, type Lobby, type Member } from './lobby.js'
import { createPublicIndex } from './public-index.js'
import type { LobbyStore, StoredLobby } from './store.js'

interface Kept extends StoredLobby {
  /** Increases with every lobby created; pages are cut by this number. */
  readonly number: number
}

/** Keeps lobbies in this process's memory; they are lost when the process ends. */
export function createMemoryLobbyStore(): LobbyStore {
  // In the order of creation, and so in ascending order of their numbers.
  const lobbies = new Map<string, Kept>()
  const idsByCode = new Map<string, string>()
  const dueIndex = createDueIndex()
  const listed = createPublicIndex()
  const idsByPlayer = new Map<string, Set<string>>()
  const watchers = new Map<string, Set<() => void>>()
  let last = 0

  const tell = (id: string) => {
    for (const changed of watchers.get(id) ?? []) changed()
  }
  /** Updates the indexes after a lobby has changed. */
  const follow = (number: number, before: Lobby | undefined, after: Lobby | undefined) => {
    listed.change(number, before, after)
    for (const { id } of membersBeyond(before, after)) leave(id, (before as Lobby).id)
    for (const { id } of membersBeyond(after, before)) enter(id, (after as Lobby).id)
  }
  const enter = (playerId: string, lobbyId: string) => {
    const ids = idsByPlayer.get(playerId)
    if (ids === undefined) idsByPlayer.set(playerId, new Set([lobbyId]))
    else ids.add(lobbyId)
  }
  const leave = (playerId: string, lobbyId: string) => {
    const ids = idsByPlayer.get(playerId)
    ids?.delete(lobbyId)
    if (ids?.size === 0) idsByPlayer.delete(playerId)
  }
  const get = (id: string | undefined): StoredLobby | undefined => (id === undefined ? undefined : lobbies.get(id))

  return {
    create: async (lobby, dueAt) => {
      if (lobbies.has(lobby.id) || idsByCode.has(lobby.code)) return false
      last += 1
      lobbies.set(lobby.id, { version: 1, lobby, number: last })
      dueIndex.set(lobby.id, dueAt)
      idsByCode.set(lobby.code, lobby.id)
      follow(last, undefined, lobby)
      return true
    },
    get: async (id) => get(id),
    getByCode: async (code) => get(idsByCode.get(code)),
    replace: async (lobby, version, dueAt) => {
      const kept = lobbies.get(lobby.id)
      if (kept?.version !== version) return false
      lobbies.set(lobby.id, { version: version + 1, lobby, number: kept.number })
      dueIndex.set(lobby.id, dueAt)
      follow(kept.number, kept.lobby, lobby)
      tell(lobby.id)
      return true
    },
    delete: async (id, version) => {
      const kept = lobbies.get(id)
      if (kept?.version !== version) return false
      lobbies.delete(id)
      dueIndex.delete(id)
      idsByCode.delete(kept.lobby.code)
      follow(kept.number, kept.lobby, undefined)
      tell(id)
      return true
    },
    due: async (now, limit) => dueIndex.due(now, limit),
    listPublic: async (query) => listed.page(query),
    idsOf: async (playerId) => [...(idsByPlayer.get(playerId) ?? [])],
    ids: async () => [...lobbies.keys()],
    watch: (id, changed) => {
      const listeners = watchers.get(id) ?? new Set()
      watchers.set(id, listeners.add(changed))
      return () => {
        listeners.delete(changed)
        if (listeners.size === 0 && watchers.get(id) === listeners) watchers.delete(id)
      }
    },
  }
}

/** Members whom the other state of the lobby lacks: usually none, because most changes are heartbeats. */
function membersBeyond(lobby: Lobby | undefined, other: Lobby | undefined): readonly Member[] {
  if (lobby === undefined) return NOBODY
  if (other === undefined) return lobby.members
  const isMissing = ({ id }: Member, place: number) =>
    other.members[place]?.id !== id && memberOf(other, id) === undefined
  return lobby.members.some(isMissing) ? lobby.members.filter(isMissing) : NOBODY
}

const NOBODY: readonly Member[] = []
