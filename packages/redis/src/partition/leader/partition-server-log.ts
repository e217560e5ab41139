import type { Ticket } from '@muster/matchmaker'
import {
  afterEntry,
  type ServerLog,
  type ServerEntry,
  type Leader,
  type ServerRecord,
  TicketsGone,
} from '@muster/matchmaker/internal'
import type { PartitionStore } from '../store/index.js'
import type { Commits } from './commits.js'

interface PartitionServerLogOptions {
  /** Those of the present lease epoch. */
  readonly commits: () => Pick<Commits, 'server'>
  /** Reads what was written before, oldest first. */
  readonly load: () => Promise<readonly ServerRecord[]>
  /** The tickets of a match whose players get the address as soon as its server listens. */
  readonly expected: (matchId: string) => readonly string[]
  readonly assigned: AssignedTickets
  /** These tickets are not in their match. Resolves when the leader knows their outcome. */
  readonly missing: (ticketIds: readonly string[]) => Promise<void>
}

/**
 * The store of a leader, kept in the partition beside the tickets: that is how a match is claimed, and how its
 * players are sent to a server, as one step with what other processes do to these tickets.
 */
export function createPartitionServerLog({
  commits,
  load,
  expected,
  assigned,
  missing,
}: PartitionServerLogOptions): ServerLog {
  const open = new Map<string, ServerRecord>()

  const after = (entry: ServerEntry) => afterEntry(open.get(entry.matchId), entry)

  /** Writes an entry that changes a record. */
  const write = async (
    intent: ServerRecord,
    requires?: readonly string[],
    locks = false,
  ): Promise<readonly string[]> => {
    const { matchId } = intent
    const unmet = await commits().server({ matchId, text: JSON.stringify(intent), requires, locks })
    if (unmet.length === 0) open.set(matchId, intent)
    return unmet
  }

  /** Unmet tickets that this leader itself has taken out of the match meanwhile need no change. */
  const missingOf = async (matchId: string, unmet: readonly string[]): Promise<void> => {
    const present = new Set(expected(matchId))
    const wanted = unmet.filter((id) => present.has(id))
    if (wanted.length > 0) await missing(wanted)
  }

  /** Claims the tickets of a match. @throws {TicketsGone} */
  const claim = async (intent: ServerRecord): Promise<void> => {
    // Of a further attempt, these need not be those of the first.
    const unmet = await write(intent, expected(intent.matchId))
    if (unmet.length === 0) return
    await missingOf(intent.matchId, unmet)
    throw new TicketsGone(intent.matchId, unmet)
  }

  /**
   * Sends players to the server. Players who have cancelled by now are taken out of the match first. If that ends the
   * match, nobody is sent there, and there is nothing to write.
   */
  const assign = async (entry: ServerEntry): Promise<void> => {
    for (let isFirst = true; ; isFirst = false) {
      const intent = after(entry)
      const ticketIds = expected(entry.matchId)
      const isOver = !isFirst && ticketIds.length + assigned.of(entry.matchId).length === 0
      if (intent === undefined || isOver) return
      const unmet = await write(intent, ticketIds, true)
      if (unmet.length === 0) return
      await missingOf(entry.matchId, unmet)
    }
  }

  const settle = async ({ matchId }: ServerEntry): Promise<void> => {
    if (!open.has(matchId)) return
    const ends = assigned
      .of(matchId)
      .map(({ id, players }) => ({ ticketId: id, players: players.map((one) => one.id) }))
    open.delete(matchId)
    assigned.forget(matchId)
    await commits().server({ matchId, ends })
  }

  return {
    resumes: true,
    append: async (entry) => {
      if (entry.kind === 'settled') return settle(entry)
      if (entry.kind === 'assigned') return assign(entry)
      const intent = after(entry)
      if (intent === undefined) return
      if (entry.kind === 'intent') return claim(intent)
      await write(intent)
    },
    open: async () => {
      const before = await load()
      open.clear()
      for (const intent of before) open.set(intent.matchId, intent)
      return before
    },
  }
}

export type AssignedTickets = ReturnType<typeof createAssignedTickets>

/** The tickets of running matches, which end with their match. */
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
    /** The ticket is as given now. */
    put: (ticket: Ticket) => {
      const { id, matchId, status } = ticket
      remove(id)
      if (status !== 'HOST_ASSIGNED' || matchId === undefined) return
      matchOf.set(id, matchId)
      byMatch.set(matchId, (byMatch.get(matchId) ?? new Map<string, Ticket>()).set(id, ticket))
    },
    /** The ticket is in no running match. */
    remove,
    of: (matchId: string): readonly Ticket[] => [...(byMatch.get(matchId)?.values() ?? [])],
    /** The match is over. */
    forget: (matchId: string) => {
      for (const ticketId of byMatch.get(matchId)?.keys() ?? []) matchOf.delete(ticketId)
      byMatch.delete(matchId)
    },
    matches: () => byMatch.keys(),
  }
}

/** A player of a running match whose ticket is not known to be assigned to it. */
export interface Joining {
  readonly matchId: string
  readonly playerId: string
}

export function joiningIn(
  { matchId, assigned: isRunning, requestId, playerIds = [] }: ServerRecord,
  assigned: Pick<AssignedTickets, 'of'>,
): readonly Joining[] {
  if (!isRunning || requestId === undefined) return []
  const tickets = assigned.of(matchId)
  const isPlaying = (playerId: string) => tickets.some(({ players }) => players.some(({ id }) => id === playerId))
  return playerIds.flatMap((playerId) => (isPlaying(playerId) ? [] : [{ matchId, playerId }]))
}

/**
 * Takes players out of running matches whose ticket is in the match no more: while nobody led, a follower has cancelled
 * the ticket by which they were about to join.
 */
export async function removeGonePlayers(
  leader: Pick<Leader, 'getTicket' | 'playersLeft'>,
  store: Pick<PartitionStore, 'playerTickets'>,
  joining: readonly Joining[],
): Promise<void> {
  if (joining.length === 0) return
  const tickets = await store.playerTickets(joining.map(({ playerId }) => playerId))
  for (const [index, { matchId, playerId }] of joining.entries()) {
    const isThere = tickets[index]?.some((id) => leader.getTicket(id)?.matchId === matchId) === true
    if (!isThere) leader.playersLeft(matchId, [playerId])
  }
}
