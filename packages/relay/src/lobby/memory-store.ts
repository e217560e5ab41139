import { type Lobby, type Member, memberOf } from './lobby.js'
import { createPublicIndex } from './public-index.js'
import type { LobbyStore, StoredLobby } from './store.js'

/** Finds ids that are due without a look at the others: a binary heap that knows the place of each id. */
interface DueIndex {
  /** Adds an id, or gives it another time. */
  set(id: string, dueAt: number): void
  delete(id: string): void
  /** At most `limit` ids that are due at `now`, the earliest first. Takes time by their number alone. */
  due(now: number, limit: number): readonly string[]
}

interface Entry {
  readonly id: string
  dueAt: number
}

const parentOf = (place: number) => (place - 1) >>> 1
const leftOf = (place: number) => 2 * place + 1

export function createDueIndex(): DueIndex {
  /** Each entry is due no earlier than its parent. */
  const heap: Entry[] = []
  const places = new Map<string, number>()
  const dueAtOf = (place: number) => heap[place]?.dueAt ?? Infinity

  const put = (entry: Entry, place: number) => {
    heap[place] = entry
    places.set(entry.id, place)
  }
  /** Moves an entry up or down from its place, to where it belongs. */
  const settle = (entry: Entry, from: number) => {
    let place = from
    while (place > 0 && dueAtOf(parentOf(place)) > entry.dueAt) {
      put(heap[parentOf(place)] as Entry, place)
      place = parentOf(place)
    }
    for (;;) {
      const left = leftOf(place)
      const earlier = dueAtOf(left + 1) < dueAtOf(left) ? left + 1 : left
      if (dueAtOf(earlier) >= entry.dueAt) break
      put(heap[earlier] as Entry, place)
      place = earlier
    }
    put(entry, place)
  }

  return {
    set: (id, dueAt) => {
      const place = places.get(id)
      if (place === undefined) return settle({ id, dueAt }, heap.length)
      const entry = heap[place] as Entry
      entry.dueAt = dueAt
      settle(entry, place)
    },
    delete: (id) => {
      const place = places.get(id)
      if (place === undefined) return
      places.delete(id)
      const moved = heap.pop() as Entry
      if (moved.id !== id) settle(moved, place)
    },
    due: (now, limit) => {
      const found: Entry[] = []
      const look = heap.length === 0 ? [] : [0]
      for (let place = look.pop(); place !== undefined; place = look.pop()) {
        if (dueAtOf(place) > now) continue
        found.push(heap[place] as Entry)
        const left = leftOf(place)
        if (left < heap.length) look.push(left)
        if (left + 1 < heap.length) look.push(left + 1)
      }
      return found
        .toSorted((a, b) => a.dueAt - b.dueAt)
        .slice(0, limit)
        .map(({ id }) => id)
    },
  }
}

/** Ids of the lobbies in which each player is a member. */
interface PlayerLobbies {
  enter(playerId: string, lobbyId: string): void
  leave(playerId: string, lobbyId: string): void
  of(playerId: string): readonly string[]
}

const NONE: readonly string[] = []

function createPlayerLobbies(): PlayerLobbies {
  /** Most players are in one lobby: then the value is its id, without an array. */
  const byPlayer = new Map<string, string | readonly string[]>()

  const idsOf = (playerId: string): readonly string[] => {
    const ids = byPlayer.get(playerId) ?? NONE
    return typeof ids === 'string' ? [ids] : ids
  }

  return {
    enter: (playerId, lobbyId) => {
      const ids = idsOf(playerId)
      if (ids.length === 0) byPlayer.set(playerId, lobbyId)
      else if (!ids.includes(lobbyId)) byPlayer.set(playerId, [...ids, lobbyId])
    },
    leave: (playerId, lobbyId) => {
      const left = idsOf(playerId).filter((id) => id !== lobbyId)
      const [only] = left
      if (only === undefined) byPlayer.delete(playerId)
      else byPlayer.set(playerId, left.length === 1 ? only : left)
    },
    of: idsOf,
  }
}

/** A record is changed in place, because what is replaced in an old object has to be collected. */
interface Kept {
  version: number
  lobby: Lobby
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
  const byPlayer = createPlayerLobbies()
  const watchers = new Map<string, Set<() => void>>()
  let last = 0

  const tell = (id: string) => {
    const told = watchers.get(id)
    if (told !== undefined) for (const changed of told) changed()
  }
  /** Updates the indexes after a lobby has changed. */
  const follow = (number: number, before: Lobby | undefined, after: Lobby | undefined) => {
    listed.change(number, before, after)
    for (const { id } of membersBeyond(before, after)) byPlayer.leave(id, (before as Lobby).id)
    for (const { id } of membersBeyond(after, before)) byPlayer.enter(id, (after as Lobby).id)
  }
  /** The record, if it has this version. */
  const present = (id: string, version: number): Kept | undefined => {
    const kept = lobbies.get(id)
    return kept?.version === version ? kept : undefined
  }
  const get = (id: string | undefined): StoredLobby | undefined => {
    const kept = id === undefined ? undefined : lobbies.get(id)
    return kept && { version: kept.version, lobby: kept.lobby }
  }

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
      const kept = present(lobby.id, version)
      if (kept === undefined) return false
      const before = kept.lobby
      kept.version += 1
      kept.lobby = lobby
      dueIndex.set(lobby.id, dueAt)
      follow(kept.number, before, lobby)
      tell(lobby.id)
      return true
    },
    noteSeen: async (lobby, version, playerId, dueAt) => {
      const kept = present(lobby.id, version)
      const member: { lastSeenAt: number } | undefined = kept && memberOf(kept.lobby, playerId)
      const seen = memberOf(lobby, playerId)
      if (kept === undefined || member === undefined || seen === undefined) return false
      kept.version += 1
      member.lastSeenAt = seen.lastSeenAt
      dueIndex.set(lobby.id, dueAt)
      return true
    },
    delete: async (id, version) => {
      const kept = present(id, version)
      if (kept === undefined) return false
      lobbies.delete(id)
      dueIndex.delete(id)
      idsByCode.delete(kept.lobby.code)
      follow(kept.number, kept.lobby, undefined)
      tell(id)
      return true
    },
    due: async (now, limit) => dueIndex.due(now, limit),
    listPublic: async (query) => listed.page(query),
    idsOf: async (playerId) => byPlayer.of(playerId),
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

/** Members whom the other state of the lobby lacks: usually none. */
function membersBeyond(lobby: Lobby | undefined, other: Lobby | undefined): readonly Member[] {
  if (lobby === undefined) return NOBODY
  if (other === undefined) return lobby.members
  const isMissing = ({ id }: Member, place: number) =>
    other.members[place]?.id !== id && memberOf(other, id) === undefined
  return lobby.members.some(isMissing) ? lobby.members.filter(isMissing) : NOBODY
}

const NOBODY: readonly Member[] = []
