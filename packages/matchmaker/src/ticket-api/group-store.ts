import type { Clock } from '@muster/core/clock'
import { Problem } from '@muster/core/http'
import type { Group } from './group.js'

export interface GroupStore {
  find(id: string): Group | undefined
  /** The group in which the player gathers; groups that search do not count. */
  gathering(playerId: string): Group | undefined
  /**
   * Keeps a group and restarts its `idleMs`; a group without members is deleted.
   * @throws {Problem} 503 if there are too many groups.
   */
  put(group: Group): void
  size(): number
}

export interface GroupStoreOptions {
  readonly clock: Clock
  /** Milliseconds for which a group is kept without requests about it. */
  readonly idleMs: number
  readonly mostGroups: number
  /** Whether the ticket of a group that searches can still be read. */
  readonly isAlive: (group: Group) => boolean
}

/** Creates a store that keeps groups in memory. */
export function createGroupStore({ clock, idleMs, mostGroups, isAlive }: GroupStoreOptions): GroupStore {
  /** Groups by id; groups without requests for longest come first. */
  const groups = new Map<string, { readonly group: Group; readonly at: number }>()
  const byPlayer = new Map<string, string>()

  const forget = (group: Group) => {
    groups.delete(group.id)
    for (const { player } of group.members) if (byPlayer.get(player.id) === group.id) byPlayer.delete(player.id)
  }
  const keep = (group: Group) => {
    groups.delete(group.id)
    groups.set(group.id, { group, at: clock.now() })
  }
  const sweep = () => {
    const now = clock.now()
    for (const { group, at } of groups.values()) {
      if (now - at < idleMs) return
      if (group.searching && isAlive(group)) keep(group)
      else forget(group)
    }
  }

  const store: GroupStore = {
    find: (id) => {
      sweep()
      const found = groups.get(id)?.group
      if (found === undefined) return undefined
      if (found.searching && !isAlive(found)) {
        forget(found)
        return undefined
      }
      keep(found)
      return found
    },
    gathering: (playerId) => {
      const id = byPlayer.get(playerId)
      return id === undefined ? undefined : store.find(id)
    },
    put: (group) => {
      sweep()
      const before = groups.get(group.id)?.group
      if (before === undefined && groups.size >= mostGroups) {
        throw new Problem(503, 'busy', 'there are too many groups: try again', { retryAfterMs: 5000 })
      }
      if (before !== undefined) forget(before)
      if (group.members.length === 0) return
      keep(group)
      if (!group.searching) for (const { player } of group.members) byPlayer.set(player.id, group.id)
    },
    size: () => groups.size,
  }
  return store
}
