import type { Ticket } from '@muster/matchmaker'
import {
  afterEntries,
  type HostingEntry,
  type HostingRecord,
  keyOf,
  type Leader,
  type MatchRecord,
  putChanged,
  type ServerLog,
  type StoredFleet,
  TicketsGone,
} from '@muster/matchmaker/internal'
import type { HostingChange, PartitionStore } from '../store/index.js'
import type { Commits } from './commits.js'

interface PartitionServerLogOptions {
  /** The commits of the current lease epoch. */
  readonly commits: () => Pick<Commits, 'hosting'>
  /** Reads the existing records, the oldest first. */
  readonly load: () => Promise<StoredFleet>
  /** Returns the ids of a match's tickets that wait for nothing but its server. */
  readonly expected: (matchId: string) => readonly string[]
  readonly assigned: AssignedTickets
  /** Reports tickets that are not in their match. Resolves when the leader knows their outcome. */
  readonly missing: (ticketIds: readonly string[]) => Promise<void>
}

/** The tickets that a match must have when its record is written. */
interface Requirement {
  readonly matchId: string
  readonly ticketIds: readonly string[]
  /** True to lock the tickets; see `HostingChange`. */
  readonly locks: boolean
}

/**
 * Creates the server log of a leader. It is in the partition with the tickets, because followers may change tickets at
 * any time. So claiming a match and sending its players to a server are atomic with changes of their tickets.
 */
export function createPartitionServerLog({
  commits,
  load,
  expected,
  assigned,
  missing,
}: PartitionServerLogOptions): ServerLog {
  const open = new Map<string, HostingRecord>()

  /** Returns the assigned tickets of a match with their players. The tickets end with the match. */
  const endsOf = (key: string) =>
    assigned.of(key.slice(2)).map(({ id, players }) => ({ ticketId: id, players: players.map((one) => one.id) }))

  const changeOf = (key: string, record: HostingRecord | undefined, required?: Requirement): HostingChange => {
    if (record === undefined) return key.startsWith('m:') ? { key, ends: endsOf(key) } : { key }
    const text = JSON.stringify(record)
    if (required === undefined || keyOf(record) !== `m:${required.matchId}`) return { key, text }
    return { key, text, requires: required.ticketIds, locks: required.locks }
  }

  /** Returns the required tickets that are not in the match; if there are none, the entries were written. */
  const write = async (entries: readonly HostingEntry[], required?: Requirement): Promise<readonly string[]> => {
    const changed = afterEntries(open, entries)
    if (changed.size === 0) return []
    const changes = Array.from(changed, ([key, record]) => changeOf(key, record, required))
    for (const [key, record] of changed) {
      if (record !== undefined) continue
      open.delete(key)
      if (key.startsWith('m:')) assigned.forget(key.slice(2))
    }
    const unmet = await commits().hosting(changes)
    if (unmet.length === 0) putChanged(open, changed)
    return unmet
  }

  /** Reports the missing tickets of a match, except those that this leader itself has removed from it meanwhile. */
  const missingOf = async (matchId: string, unmet: readonly string[]): Promise<void> => {
    const present = new Set(expected(matchId))
    const wanted = unmet.filter((id) => present.has(id))
    if (wanted.length > 0) await missing(wanted)
  }

  /** Claims the tickets of a match. @throws {TicketsGone} */
  const claim = async (entries: readonly HostingEntry[], matchId: string): Promise<void> => {
    // Read the tickets at each attempt, because they may have changed.
    const unmet = await write(entries, { matchId, ticketIds: expected(matchId), locks: false })
    if (unmet.length === 0) return
    await missingOf(matchId, unmet)
    throw new TicketsGone(matchId, unmet)
  }

  /**
   * Sends players to the server. Players who have cancelled by now are first removed from the match. If that ends the
   * match, nobody is sent there, and nothing is written.
   */
  const assign = async (entries: readonly HostingEntry[], matchId: string): Promise<void> => {
    for (let isFirst = true; ; isFirst = false) {
      const ticketIds = expected(matchId)
      if (!isFirst && ticketIds.length + assigned.of(matchId).length === 0) return
      const unmet = await write(entries, { matchId, ticketIds, locks: true })
      if (unmet.length === 0) return
      await missingOf(matchId, unmet)
    }
  }

  return {
    resumes: true,
    append: async (entries) => {
      for (const entry of entries) {
        if (entry.kind === 'match') return claim(entries, entry.matchId)
        if (entry.kind === 'playing') return assign(entries, entry.matchId)
      }
      await write(entries)
    },
    open: async () => {
      const before = await load()
      open.clear()
      for (const record of [...before.servers, ...before.matches]) open.set(keyOf(record), record)
      return before
    },
  }
}

export type AssignedTickets = ReturnType<typeof createAssignedTickets>

/** Creates the index of the tickets of running matches, which end with their match. */
export function createAssignedTickets() {
  const byMatch = new Map<string, Map<string, Ticket>>()
  const matchOf = new Map<string, string>()

  const remove = (ticketId: string) => {
    const matchId = matchOf.get(ticketId)
    if (matchId === undefined) return
    matchOf.delete(ticketId)
    const tickets = byMatch.get(matchId)
    tickets?.delete(ticketId)
    if (tickets?.size === 0) byMatch.delete(matchId)
  }

  return {
    /** Adds a ticket to its match if it is assigned, otherwise removes it. */
    put: (ticket: Ticket) => {
      const { id, matchId, status } = ticket
      remove(id)
      if (status !== 'HOST_ASSIGNED' || matchId === undefined) return
      matchOf.set(id, matchId)
      byMatch.set(matchId, (byMatch.get(matchId) ?? new Map<string, Ticket>()).set(id, ticket))
    },
    /** Removes a ticket that is in no running match. */
    remove,
    of: (matchId: string): readonly Ticket[] => [...(byMatch.get(matchId)?.values() ?? [])],
    /** Removes a match that is over. */
    forget: (matchId: string) => {
      for (const ticketId of byMatch.get(matchId)?.keys() ?? []) matchOf.delete(ticketId)
      byMatch.delete(matchId)
    },
    matches: () => byMatch.keys(),
  }
}

/** A player of a running match without a ticket that is assigned to it. */
export interface UnassignedPlayer {
  readonly matchId: string
  readonly playerId: string
}

export function unassignedIn(
  { matchId, playingSince, playerIds }: MatchRecord,
  assigned: Pick<AssignedTickets, 'of'>,
): readonly UnassignedPlayer[] {
  if (playingSince === undefined) return []
  const tickets = assigned.of(matchId)
  const isPlaying = (playerId: string) => tickets.some(({ players }) => players.some(({ id }) => id === playerId))
  return playerIds.flatMap((playerId) => (isPlaying(playerId) ? [] : [{ matchId, playerId }]))
}

/**
 * Removes players whose ticket is no longer in their running match. While there was no leader, a follower has cancelled
 * the ticket by which they were about to join.
 */
export async function removeGonePlayers(
  leader: Pick<Leader, 'getTicket' | 'playersLeft'>,
  store: Pick<PartitionStore, 'playerTickets'>,
  unassigned: readonly UnassignedPlayer[],
): Promise<void> {
  if (unassigned.length === 0) return
  const tickets = await store.playerTickets(unassigned.map(({ playerId }) => playerId))
  for (const [index, { matchId, playerId }] of unassigned.entries()) {
    const isThere = tickets[index]?.some((id) => leader.getTicket(id)?.matchId === matchId) === true
    if (!isThere) leader.playersLeft(matchId, [playerId])
  }
}
