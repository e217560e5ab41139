import type { TeamShape } from '@muster/kernel'
import type { Allocator, ReturnReason, StopReason } from '@muster/hosting/internal'
import { InvalidBackfill } from '../errors.js'
import type { Queue } from '../queues/index.js'
import {
  type PrivateSeat,
  type BackfillRecord,
  type Match,
  type TicketRecord,
  type CancelReason,
  type TicketStore,
  vacanciesAfterLeaving,
  type PlacedTicket,
  presentIn,
  remaining,
  type Vacancies,
  vacated,
} from '../tickets/index.js'
import type { Backfills } from './backfills.js'

/** Why a match ends, and whether that counts against its tickets. */
export interface EndOfMatch {
  readonly reason: ReturnReason
  /**
   * True if the end counts as a failed attempt of each of its tickets. A list: the ids of the tickets for which it
   * counts. Default false.
   */
  readonly counts?: boolean | readonly string[] | undefined
  /** Why the server of the match is stopped. Default: `reason`. */
  readonly stop?: StopReason | undefined
}

/** Creates a match that gets a server without waiting for acceptance. */
export const newMatch = (matchId: string, queue: Queue, teams: readonly TeamShape[], foundAt: number): Match => ({
  matchId,
  queue,
  teams,
  foundAt: Math.floor(foundAt),
  expansionMs: 0,
  seated: NOBODY,
  placed: NOBODY,
  phase: 'due',
  teamsUnknown: false,
  fullBy: Infinity,
  requestId: undefined,
  assignment: undefined,
  backfill: undefined,
})

/**
 * Returns the queue of a private match. Players who leave before the server runs are not replaced and get no cooldown.
 */
export const privateQueue = (queue: Queue, { asks }: PrivateSeat): Queue => ({
  ...queue,
  replaceLeavers: false,
  cooldown: undefined,
  acceptance: asks && queue.acceptance !== undefined ? { ...queue.acceptance, replace: false } : undefined,
})

const NOBODY: readonly never[] = []

/** True if the ticket is in the match and has no server yet. */
export const isSeated = (record: TicketRecord, match: Match): boolean =>
  record.status === 'MATCH_FOUND' && record.seat?.match === match

/** Returns the tickets of the match that have no server yet. */
export const waitingFor = (match: Match): readonly TicketRecord[] =>
  match.seated.filter((record) => isSeated(record, match))

export const playersOf = (records: readonly TicketRecord[]): readonly string[] =>
  records.flatMap(({ players }) => players.map(({ id }) => id))

export const placed = (records: readonly TicketRecord[]): readonly PlacedTicket[] =>
  records.map((ticket) => ticket.seat ?? { ticket, team: 0 })

/** Tickets whose match awaits acceptance, with players who have not answered. */
interface Acceptances {
  /** Starts to wait for the players of a ticket. */
  expect(record: TicketRecord): void
  /** Records that these players accept. Returns those who had not accepted before. */
  accept(record: TicketRecord, playerIds: readonly string[]): readonly string[]
  /** Removes a ticket that has left its match. */
  forget(record: TicketRecord): void
  isPending(record: TicketRecord): boolean
  /** Gives all players who have not answered more time to accept. */
  extend(ms: number): void
  /** Returns the tickets whose time to accept is over. */
  overdue(now: number): TicketRecord[]
}

export function createAcceptances(tickets: Pick<TicketStore, 'setAcceptance'>): Acceptances {
  const pending = new Set<TicketRecord>()
  return {
    expect: (record) => void pending.add(record),
    accept: (record, playerIds) => {
      const acceptance = record.seat?.acceptance
      if (acceptance === undefined) return []
      const more = playerIds.filter((id) => !acceptance.accepted.includes(id))
      if (more.length === 0) return []
      const accepted = [...acceptance.accepted, ...more]
      if (accepted.length === record.players.length) pending.delete(record)
      tickets.setAcceptance(record, { until: acceptance.until, accepted })
      return more
    },
    forget: (record) => void pending.delete(record),
    isPending: (record) => pending.has(record),
    extend: (ms) => {
      for (const record of pending) {
        const acceptance = record.seat?.acceptance
        if (acceptance !== undefined)
          tickets.setAcceptance(record, { ...acceptance, until: Math.ceil(acceptance.until + ms) })
      }
    },
    overdue: (now) => Array.from(pending).filter(({ seat }) => (seat?.acceptance?.until ?? now) <= now),
  }
}

/** Removes tickets and players from a match, and replaces them or dissolves the match. */
interface Leaving {
  /** Removes tickets that have no server yet. They are replaced, or the match dissolves. */
  together(match: Match, records: readonly TicketRecord[], reason: CancelReason, now: number): void
  /** Removes players. Those who have no server yet leave with their whole ticket, which is cancelled. */
  players(match: Match, playerIds: readonly string[], now: number): void
}

interface LeavingOptions {
  readonly tickets: Pick<TicketStore, 'cancel' | 'left'>
  readonly acceptances: Pick<Acceptances, 'forget'>
  readonly replacing: ReturnType<typeof createReplacing>
  readonly dissolve: (match: Match, why: EndOfMatch, now: number) => void
}

export function createLeaving({ tickets, acceptances, replacing, dissolve }: LeavingOptions): Leaving {
  const together: Leaving['together'] = (match, records, reason, now) => {
    if (records.length === 0) return
    const gone = placed(records)
    match.seated = match.seated.filter((record) => !records.includes(record))
    match.placed = match.placed.filter(({ ticket }) => !gone.some((one) => one.ticket === ticket))
    for (const record of records) acceptances.forget(record)
    for (const record of records) tickets.cancel(record, reason, now)
    if (match.phase === 'over') return
    if (!replacing.replace(match, gone, now)) {
      const unaccepted = reason === 'declined' || reason === 'not-accepted'
      return dissolve(match, { reason: unaccepted ? 'not-accepted' : 'dissolved' }, now)
    }
    const left = replacing.setPlayers(match, (all) => without(all, new Set(playersOf(records))))
    // All other players left while this ticket was about to join.
    if (match.phase === 'running' && left?.length === 0) dissolve(match, { reason: 'dissolved', stop: 'left' }, now)
  }

  const desert = (match: Match, gone: ReadonlySet<string>) => {
    tickets.left(match, [...gone])
    replacing.setPlayers(match, (all) => without(all, gone), gone)
    match.placed = remaining(match.placed, gone)
    if (match.backfill !== undefined)
      replacing.refresh(match.backfill, vacanciesAfterLeaving(match.backfill, match.teams, gone))
  }

  return {
    together,
    players: (match, playerIds, now) => {
      const gone = new Set(playerIds)
      const leaving = waitingFor(match).filter(({ players }) => players.some(({ id }) => gone.has(id)))
      together(match, leaving, 'cancelled', now)
      // Players who were about to join the running match have just left it with their tickets. Only players who already
      // play are still to be removed.
      for (const id of playersOf(leaving)) gone.delete(id)
      if (match.phase === 'running' && gone.size > 0) desert(match, gone)
    },
  }
}

const without = (all: readonly string[], gone: ReadonlySet<string>) => all.filter((id) => !gone.has(id))

/**
 * True if a ticket that leaves the match is to be replaced. In a running match, this holds for every ticket that was
 * about to join.
 */
const isWanted = ({ phase, queue }: Match): boolean =>
  phase === 'running' || (phase === 'deploying' ? queue.replaceLeavers : queue.acceptance?.replace === true)

/**
 * True if a ticket of the match has waited until its queue's expiry. Then leavers are not replaced: repeated declines
 * must not keep the other players waiting longer than the queue allows.
 */
const isOverdue = ({ phase, queue, seated }: Match, now: number): boolean =>
  (phase === 'asking' || phase === 'due') && seated.some(({ createdAt }) => now - createdAt >= queue.expireAfterMs)

/** Creates the functions that replace players who left a match. */
export const createReplacing = (backfills: Backfills, allocator: Pick<Allocator, 'find' | 'setPlayers'>) => ({
  /**
   * Opens a backfill that replaces the leavers. Returns false if the queue does not replace leavers, if nobody is left
   * in the match, or if the rules cannot decide who would fit.
   */
  replace: (match: Match, gone: readonly PlacedTicket[], now: number): boolean => {
    if (!isWanted(match) || isOverdue(match, now)) return false
    if (match.placed.length === 0) return match.phase === 'running'
    const { backfill, teams } = match
    const vacancies = vacated(backfill ?? { rooms: teams.map(() => 0), present: presentIn(teams, match.placed) }, gone)
    try {
      if (backfill === undefined) backfills.open(match, vacancies)
      else backfills.change(backfill, vacancies)
    } catch (error) {
      if (error instanceof InvalidBackfill) return match.phase === 'running'
      throw error
    }
    if (match.phase === 'due') match.phase = 'asking'
    if (match.phase === 'asking') match.fullBy = Math.min(match.fullBy, now + (match.queue.acceptance?.withinMs ?? 0))
    return true
  },

  /** Updates the open backfill. Cancels it if its queue can no longer serve it. */
  refresh: (backfill: BackfillRecord, vacancies: Vacancies, ticketIds?: readonly string[]): void => {
    try {
      backfills.change(backfill, vacancies, ticketIds)
    } catch (error) {
      if (!(error instanceof InvalidBackfill)) throw error
      backfills.cancel(backfill)
    }
  },

  /**
   * Stores who plays on the server, for a process that takes over after a crash. Returns the players.
   * @param gone players who have played and leave
   */
  setPlayers: (
    { matchId }: Match,
    change: (playerIds: readonly string[]) => readonly string[],
    gone?: ReadonlySet<string>,
  ): readonly string[] | undefined => {
    const hosted = allocator.find(matchId)
    if (hosted === undefined) return undefined
    const playerIds = change(hosted.playerIds)
    allocator.setPlayers(
      hosted,
      playerIds,
      hosted.playerIds.filter((id) => gone?.has(id)),
    )
    return playerIds
  },
})
