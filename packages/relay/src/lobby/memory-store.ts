import { has } from './attributes.js'
import type { Lobby } from './lobby.js'
import { isListed, type LobbyStore, type StoredLobby } from './store.js'

interface Kept extends StoredLobby {
  readonly dueAt: number
  /** Rises with every lobby created; pages go by it. */
  readonly number: number
}

/** Keeps lobbies in this process: they are gone when it is. */
export function createMemoryLobbyStore(): LobbyStore {
  // In the order of creation, and so by number.
  const lobbies = new Map<string, Kept>()
  const idsByCode = new Map<string, string>()
  const watchers = new Map<string, Set<() => void>>()
  let last = 0

  const tell = (id: string) => {
    for (const changed of watchers.get(id) ?? []) changed()
  }
  const get = (id: string | undefined): StoredLobby | undefined => (id === undefined ? undefined : lobbies.get(id))

  return {
    create: async (lobby, dueAt) => {
      if (lobbies.has(lobby.id) || idsByCode.has(lobby.code)) return false
      last += 1
      lobbies.set(lobby.id, { version: 1, lobby, dueAt, number: last })
      idsByCode.set(lobby.code, lobby.id)
      return true
    },
    get: async (id) => get(id),
    getByCode: async (code) => get(idsByCode.get(code)),
    replace: async (lobby, version, dueAt) => {
      const kept = lobbies.get(lobby.id)
      if (kept?.version !== version) return false
      lobbies.set(lobby.id, { version: version + 1, lobby, dueAt, number: kept.number })
      tell(lobby.id)
      return true
    },
    delete: async (id, version) => {
      const kept = lobbies.get(id)
      if (kept?.version !== version) return false
      lobbies.delete(id)
      idsByCode.delete(kept.lobby.code)
      tell(id)
      return true
    },
    due: async (now, limit) =>
      [...lobbies.values()]
        .filter(({ dueAt }) => dueAt <= now)
        .toSorted((a, b) => a.dueAt - b.dueAt)
        .slice(0, limit)
        .map(({ lobby }) => lobby.id),
    listPublic: async ({ data, minFree, limit, after }) => {
      const fits = (lobby: Lobby) =>
        isListed(lobby) && lobby.maxPlayers - lobby.members.length >= minFree && has(lobby.data, data)
      const found = [...lobbies.values()]
        .filter(({ number, lobby }) => (after === undefined || number < Number(after)) && fits(lobby))
        .toReversed()
      const page = found.slice(0, limit)
      return { lobbies: page.map(({ lobby }) => lobby), next: found.length > limit ? String(page.at(-1)?.number) : undefined }
    },
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
