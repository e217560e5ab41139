import type { Clock } from '@muster/core/clock'
import type { Awaitable } from '@muster/core/runtime'
import type { Group, StoredGroup } from './group.js'
import { createGroupLog } from './group-log.js'
import type { Store } from '@muster/servers'

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
  /** The ticket log, so that groups outlive the process. Default: they do not. */
  readonly log?: Pick<Store, 'records'> | undefined
}

interface Kept extends StoredGroup {
  /** Epoch milliseconds of the last request about it. */
  readonly at: number
}

/** Creates a store that keeps groups in memory and, with a log, in a file as well. */
export function createGroupStore({ clock, idleMs, mostGroups, isAlive, log }: GroupStoreOptions): GroupStore {
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
      if (alive) {
        keep(kept)
      } else {
        forget(kept)
        keeper?.remove(kept.group.id)
      }
    }
  }
  const enter = (stored: StoredGroup) => {
    keep(stored)
    const { id, members, searchingSince } = stored.group
    if (searchingSince === undefined) for (const { player } of members) byPlayer.set(player.id, id)
  }

  const keeper = log && createGroupLog(log, () => groups.values())
  for (const stored of keeper?.stored() ?? []) enter(stored)

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
      const stored = { group, version: 1 }
      keeper?.write(stored)
      enter(stored)
      return true
    },
    replace: async (group, version) => {
      const before = groups.get(group.id)
      if (before?.version !== version) return false
      const stored = group.members.length > 0 ? { group, version: version + 1 } : undefined
      if (stored === undefined) keeper?.remove(group.id)
      else keeper?.write(stored)
      forget(before)
      if (stored !== undefined) enter(stored)
      return true
    },
    size: () => groups.size,
  }
  return store
}
