import type { Clock } from '@muster/core/clock'
import type { Group } from './group.js'
import type { Awaitable } from './service.js'

/** A group with the version of its record: 1 at first, and one more with each change. */
export interface StoredGroup {
  readonly version: number
  readonly group: Group
}

/**
 * Stores groups for one process, or for many. Every change is one atomic step: it happens completely, and only if the
 * group has not been changed since it was read. Records are plain data (JSON can hold all of it) with players'
 * addresses, so protect the store accordingly. Every store must pass `group-store-suite.fixture.ts`.
 */
export interface GroupStore {
  /** Reads a group; that begins the time anew for which a group is kept without requests about it. */
  find(id: string): Promise<StoredGroup | undefined>
  /** The group in which the player gathers; groups that search do not count. */
  gathering(playerId: string): Promise<StoredGroup | undefined>
  /** Stores a group at version 1. Returns false, and changes nothing, if there are too many groups. */
  create(group: Group): Promise<boolean>
  /**
   * Replaces the version that was read; a group without members is deleted. Returns false, and changes nothing, if that
   * is no longer the present version.
   */
  replace(group: Group, version: number): Promise<boolean>
  /** Number of groups, as this process last knew it. */
  size(): number
}

export interface GroupStoreOptions {
  readonly clock: Clock
  /** Milliseconds for which a group is kept without requests about it. */
  readonly idleMs: number
  readonly mostGroups: number
  /** Whether the ticket of a group that searches can still be read. */
  readonly isAlive: (group: Group) => Awaitable<boolean>
}

interface Kept extends StoredGroup {
  /** Epoch milliseconds of the last request about it. */
  readonly at: number
}

/** Creates a store that keeps groups in memory. */
export function createGroupStore({ clock, idleMs, mostGroups, isAlive }: GroupStoreOptions): GroupStore {
  /** Groups by id; groups without requests for longest come first. */
  const groups = new Map<string, Kept>()
  const byPlayer = new Map<string, string>()

  const forget = ({ group }: StoredGroup) => {
    groups.delete(group.id)
    for (const { player } of group.members) if (byPlayer.get(player.id) === group.id) byPlayer.delete(player.id)
  }
  const keep = ({ group, version }: StoredGroup) => {
    groups.delete(group.id)
    groups.set(group.id, { group, version, at: clock.now() })
  }
  const sweep = async () => {
    const now = clock.now()
    for (const kept of groups.values()) {
      if (now - kept.at < idleMs) return
      const alive = kept.group.searchingSince !== undefined && (await isAlive(kept.group))
      if (groups.get(kept.group.id) !== kept) continue
      if (alive) keep(kept)
      else forget(kept)
    }
  }
  const enter = (stored: StoredGroup) => {
    keep(stored)
    const { id, members, searchingSince } = stored.group
    if (searchingSince === undefined) for (const { player } of members) byPlayer.set(player.id, id)
  }

  const store: GroupStore = {
    find: async (id) => {
      await sweep()
      const kept = groups.get(id)
      if (kept !== undefined) keep(kept)
      return kept && { group: kept.group, version: kept.version }
    },
    gathering: async (playerId) => {
      const id = byPlayer.get(playerId)
      return id === undefined ? undefined : store.find(id)
    },
    create: async (group) => {
      await sweep()
      if (groups.size >= mostGroups) return false
      enter({ group, version: 1 })
      return true
    },
    replace: async (group, version) => {
      const before = groups.get(group.id)
      if (before?.version !== version) return false
      forget(before)
      if (group.members.length > 0) enter({ group, version: version + 1 })
      return true
    },
    size: () => groups.size,
  }
  return store
}
