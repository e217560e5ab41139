import type { Clock } from '@muster/core/clock'
import type { Awaitable } from '@muster/core/internal'
import type { Store } from '@muster/hosting'
import type { Player } from '@muster/hosting/internal'

const recordOf = ({ group, version }: StoredGroup) => ({ key: group.id, value: JSON.stringify({ version, group }) })

/**
 * Stores groups for one process, or for many. Every change is atomic, and fails if the group has changed since it was
 * read. Records are plain JSON data. They hold players' addresses, so protect the store accordingly. Every store must
 * pass `group-store-suite.fixture.ts`.
 */
export interface GroupStore {
  /** Reads a group. Every read restarts the time for which an idle group is kept. */
  find(id: string): Promise<StoredGroup | undefined>
  /** Returns the forming group of the player. Groups that are searching do not count. */
  gathering(playerId: string): Promise<StoredGroup | undefined>
  /**
   * Stores a group at version 1. Returns false, and changes nothing, if there are too many groups, or a player gathers
   * in another group.
   */
  create(group: Group): Promise<boolean>
  /**
   * Replaces the version that was read; a group without members is deleted. Returns false, and changes nothing, if
   * `version` is not the current one, or a player who was not in the group gathers in another one.
   */
  replace(group: Group, version: number): Promise<boolean>
  /** Returns the number of groups, as this process last knew it. */
  size(): number
}

export interface GroupStoreOptions {
  readonly clock: Clock
  /** Milliseconds for which a group is kept without requests about it. */
  readonly idleMs: number
  readonly mostGroups: number
  /** True if the ticket of a searching group can still be read. */
  readonly isAlive: (group: Group) => Awaitable<boolean>
  /** The store of the matchmaker, so that groups outlive the process. Default: they do not. */
  readonly store?: Pick<Store, 'records'> | undefined
}

/**
 * Returns the maximum number of milliseconds between two calls that count as time without requests. A longer gap is
 * mostly a pause of the process, in which no member could send a request.
 */
export const longestGapMs = (idleMs: number): number => Math.max(5000, idleMs / 2)

/** Creates a store that keeps groups in memory and, if `store` is given, writes them to it too. */
export function createGroupStore({ clock, idleMs, mostGroups, isAlive, store }: GroupStoreOptions): GroupStore {
  /** Groups by id, with `heardMs` at the last request about each. The least recently used come first. */
  const groups = new Map<string, StoredGroup & { readonly at: number }>()
  const byPlayer = new Map<string, string>()
  /** Ids of ended groups. The least recently used come first. */
  const ended = new Set<string>()

  let [calledAt, heardMs] = [clock.now(), 0]
  /** Returns the milliseconds for which this process could get requests. */
  const heard = () => {
    const now = clock.now()
    heardMs += Math.min(now - calledAt, longestGapMs(idleMs))
    calledAt = now
    return heardMs
  }
  const forget = ({ group }: StoredGroup) => {
    groups.delete(group.id)
    for (const { player } of group.members) if (byPlayer.get(player.id) === group.id) byPlayer.delete(player.id)
  }
  const keep = ({ group, version }: StoredGroup) => {
    groups.delete(group.id)
    groups.set(group.id, { group, version, at: heard() })
    if (ended.delete(group.id) || group.isEnded === true) ended.add(group.id)
  }
  const sweep = async () => {
    const now = heard()
    for (const id of ended) {
      const kept = groups.get(id)
      if (kept !== undefined && now - kept.at < Math.min(idleMs, ENDED_GROUP_MS)) break
      ended.delete(id)
      if (kept === undefined) continue
      forget(kept)
      records?.remove(id)
    }
    for (const kept of groups.values()) {
      if (now - kept.at < idleMs) return
      const alive = kept.group.searchingSince !== undefined && (await isAlive(kept.group))
      if (groups.get(kept.group.id) !== kept) continue
      if (alive) {
        keep(kept)
      } else {
        forget(kept)
        records?.remove(kept.group.id)
      }
    }
  }
  const enter = (stored: StoredGroup) => {
    keep(stored)
    const { id, members, searchingSince } = stored.group
    if (searchingSince === undefined) for (const { player } of members) byPlayer.set(player.id, id)
  }

  const isTaken = ({ id, members }: Group, before?: Group): boolean =>
    members.some(({ player }) => {
      const other = byPlayer.get(player.id)
      const isNew = before === undefined || playerIn(before, player.id) === undefined
      return isNew && other !== undefined && other !== id
    })

  const records = store?.records('group', function* () {
    for (const stored of groups.values()) yield recordOf(stored)
  })
  for (const { value } of records?.stored() ?? []) enter(JSON.parse(value) as StoredGroup)

  const groupStore: GroupStore = {
    find: async (id) => {
      await sweep()
      const kept = groups.get(id)
      if (kept !== undefined) keep(kept)
      return kept && { group: kept.group, version: kept.version }
    },
    gathering: async (playerId) => {
      const id = byPlayer.get(playerId)
      return id === undefined ? undefined : groupStore.find(id)
    },
    create: async (group) => {
      await sweep()
      if (groups.size >= mostGroups || isTaken(group)) return false
      const stored = { group, version: 1 }
      records?.write([recordOf(stored)])
      enter(stored)
      return true
    },
    replace: async (group, version) => {
      const before = groups.get(group.id)
      if (before?.version !== version || isTaken(group, before.group)) return false
      const stored = group.members.length > 0 ? { group, version: version + 1 } : undefined
      if (stored === undefined) records?.remove(group.id)
      else records?.write([recordOf(stored)])
      forget(before)
      if (stored !== undefined) enter(stored)
      return true
    },
    size: () => groups.size,
  }
  return groupStore
}

export interface GroupMember {
  /** The member's id, which cannot be guessed. */
  readonly id: string
  readonly player: Player
  readonly ready: boolean
}

/**
 * Players who form a party for a match. When all are ready, they become one ticket with the group's id. Its players are
 * the members, in their order. From then on the ticket holds the state, and nobody can join or leave.
 */
export interface Group {
  /** The group's id, which cannot be guessed: anyone who knows it may join. */
  readonly id: string
  readonly profile: string
  /** Members in the order in which they joined; the first is the owner. */
  readonly members: readonly GroupMember[]
  /** When the search began, in epoch milliseconds of the matchmaker's clock; undefined while the group forms. */
  readonly searchingSince: number | undefined
  /** True once the group's ticket was created. If that ticket is missing later, it has ended. Default false. */
  readonly isStarted?: boolean | undefined
  /** True once its ticket was cancelled. A store keeps the group for `ENDED_GROUP_MS` after the last read. */
  readonly isEnded?: boolean | undefined
}

/**
 * Milliseconds for which an ended group is kept (our choice): as long as its ticket can be read by default. A player
 * may create and cancel several groups a second.
 */
export const ENDED_GROUP_MS = 60_000

/** A group with the version of its record: 1 at first, raised by every change. */
export interface StoredGroup {
  readonly version: number
  readonly group: Group
}

export const isComplete = ({ members }: Group): boolean => members.length > 0 && members.every(({ ready }) => ready)

export const memberOf = ({ members }: Group, memberId: string): GroupMember | undefined =>
  members.find(({ id }) => id === memberId)

export const playerIn = ({ members }: Group, playerId: string): GroupMember | undefined =>
  members.find(({ player }) => player.id === playerId)

/** Adds a member. A player who already is a member keeps their position. */
export function withMember(group: Group, member: GroupMember): Group {
  const { members } = group
  const known = members.some(({ id }) => id === member.id)
  return {
    ...group,
    members: known ? members.map((one) => (one.id === member.id ? member : one)) : [...members, member],
  }
}

export const withoutMember = (group: Group, memberId: string): Group => ({
  ...group,
  members: group.members.filter(({ id }) => id !== memberId),
})
