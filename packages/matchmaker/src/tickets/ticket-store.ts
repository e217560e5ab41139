import type { Yielder } from '@muster/core/internal'
import type { ReturnReason } from '@muster/hosting/internal'
import { type InvalidTicket, UnknownQueue } from '../errors.js'
import {
  admit,
  type AdmittedTicket,
  type AdmissionContext,
  entriesOf,
  type PastOfTicket,
  assertSameTicket,
} from './admission.js'
import { type ChangeListeners, createChangeListeners } from './change-listeners.js'
import type { CheckedTicket } from './checked-ticket.js'
import { createFollowing, createLoading, type Loading, type SeatInherited } from './load-tickets.js'
import type { Place } from './locate-players.js'
import { createPlayerIndex, createPlaying } from './player-index.js'
import { createPrivateMatches, isPrivate, type PrivateMatches, reasonOfOthers } from './private-matches.js'
import { invalidTicket } from './ticket-input.js'
import type { Ledger } from './ticket-ledger.js'
import {
  atOnce,
  createTicketPools,
  isIn,
  leaveOthers,
  setRuntimes,
  retryDelay,
  type Refused,
  type TicketPools,
} from './ticket-pools.js'
import { type Match, type QueueRuntime, type Seat, ticketOf, type TicketRecord } from './ticket-record.js'
import {
  type Acceptance,
  type CancelReason,
  hasEnded,
  isSettled,
  type MatchEnd,
  type Ticket,
  type TicketListener,
  type TicketStatus,
  type WaitOptions,
} from './ticket.js'

/** All tickets. Every change of a ticket is one of these functions. */
export interface TicketStore {
  /**
   * Creates a ticket, or returns the one with the same id.
   * @param past of a ticket that waited elsewhere before.
   * @throws {InvalidTicket}; {UnknownQueue}; {PlayerBusy}; {PlayerPlaying}; {PlayerOverLimit}
   */
  create(ticket: CheckedTicket, past?: PastOfTicket): Ticket
  /** Creates the tickets of a private match: all or none. Those that exist already are returned. @throws as `create` */
  createTogether(tickets: readonly CheckedTicket[]): readonly Ticket[]
  find(id: string): TicketRecord | undefined
  /** The tickets of a player that have not ended, and those of matches that run with the player in it. */
  ofPlayer(playerId: string): readonly TicketRecord[]
  /** Does what is due: expires tickets, and moves those into the pools that may be grouped now. */
  advance(now: number): void
  /** Reserves grouped tickets for this runtime: until `claim` or `release`, no other runtime can group them. */
  reserve(records: readonly TicketRecord[], runtime: QueueRuntime): void
  release(records: readonly TicketRecord[], now: number): void
  /**
   * Puts a ticket into a match of an earlier process that it was in by the store, whatever it was loaded as. Returns
   * its seat; undefined if the ticket has ended, or if the match is over for it.
   */
  rejoin(record: TicketRecord, match: Match, team: number, now: number): Seat | undefined
  /**
   * Takes the tickets into a match; in a queue with acceptance, the match awaits acceptance first. Returns false, and
   * changes nothing, if one of them has left the runtime.
   * @param teams for each of them the index of its team.
   */
  claim(
    records: readonly TicketRecord[],
    runtime: QueueRuntime,
    match: Match,
    teams: readonly number[],
    now: number,
  ): boolean
  /** Marks exactly these tickets as having a match but no server: see `waitingFor`. */
  shortOfServers(records: readonly TicketRecord[], yielder: Yielder): Promise<void>
  /** Sets the acceptance state of its match. */
  setAcceptance(record: TicketRecord, acceptance: Acceptance | undefined): void
  /**
   * Returns the ticket to the queue after its match dissolved. Does nothing to a ticket that is not MATCH_FOUND.
   * @param counts whether that is an attempt that failed.
   */
  requeue(record: TicketRecord, reason: ReturnReason, counts: boolean, now: number): void
  /** Assigns the ticket. It stays readable while its match runs, and its players wait for no other match. */
  assign(record: TicketRecord, now: number): void
  /** The ticket is in a running match, since an earlier process assigned it. */
  plays(id: string): void
  /** These players have left a running match. */
  left(match: Match, playerIds: readonly string[]): void
  /** A running match has ended: its tickets say how. */
  matchOver(match: Match, how: MatchEnd, now: number): void
  /** Cancels the ticket. Does nothing to a ticket that has ended. */
  cancel(record: TicketRecord, reason: CancelReason, now: number): void
  /** Resolves as `Matchmaker.waitForChange`. Rejects with the reason of the signal. */
  change(record: TicketRecord, options: WaitOptions): Promise<Ticket>
  readonly endWaits: ChangeListeners['end']
  /** Moves all tickets to new runtimes. Returns those that one of their queues refuses now. */
  replaceQueues(runtimes: ReadonlyMap<string, QueueRuntime>, now: number): RefusedTicket[]
  /** Removes tickets that ended longer ago than `endedTicketTtlMs`. */
  removeEnded(now: number): void
  /** Takes over tickets of other processes, and of earlier ones; undefined without a ledger. */
  readonly loading: Loading | undefined
  all(): Iterable<TicketRecord>
  /** The tickets of private matches that wait for a server. */
  readonly privateMatches: PrivateMatches['waiting']
  readonly outside: TicketPools['outside']
}

interface TicketsOptions extends Omit<AdmissionContext, 'players' | 'playing'> {
  readonly locateTimeoutMs: number
  readonly endedTicketTtlMs: number
  readonly events: TicketListener
  /** Of a matchmaker whose tickets outlive it: they are loaded first, and change from `lead` on. */
  readonly ledger?: Pick<Ledger, 'changed' | 'created' | 'ended'> | undefined
  /** The matches that loaded tickets are in. */
  readonly inheriting: SeatInherited
}

interface RefusedTicket {
  readonly record: TicketRecord
  /** Name of the queue that refuses the ticket. */
  readonly queue: string
  readonly error: InvalidTicket | UnknownQueue
}

export function createTicketStore(options: TicketsOptions): TicketStore {
  const { limits, locatePlayers, locateTimeoutMs, endedTicketTtlMs, events, clock, ledger, inheriting } = options
  let { runtimes } = options
  const byId = new Map<string, TicketRecord>()
  const players = createPlayerIndex()
  const waiters = createChangeListeners()
  /** Tickets that have ended, which can be read for `endedTicketTtlMs`, in the order of their ends. */
  const ended: TicketRecord[] = []
  const following = ledger && createFollowing()

  const playing = createPlaying()
  const privateMatches = createPrivateMatches()
  let admissionContext: AdmissionContext = { ...options, players, playing }

  const touch = (record: TicketRecord) => {
    if (following?.putsOff(record) === true) return
    record.version += 1
    // Append to the log before waking waiters, so that clients never outrun it.
    ledger?.changed(ticketOf(record))
    waiters.changed(record)
  }

  const waiting = createTicketPools({
    locateTimeoutMs,
    isFollowing: () => following?.isOn() === true,
    isElsewhere: (record) => othersOf(record).some(({ status }) => status === 'MATCH_FOUND'),
    changed: touch,
    out: (record, reason, now) => {
      if (following?.putsOff(record, reason) !== true) tickets.cancel(record, reason, now)
    },
  })

  /** The other tickets of its players; nearly always there are none. */
  const othersOf = (record: TicketRecord): readonly TicketRecord[] =>
    players.isShared()
      ? record.players.flatMap(({ id }) => players.ticketsOf(id).filter((other) => other !== record))
      : []

  /** From now on the ticket is kept for `endedTicketTtlMs`. */
  const keepEnded = (record: TicketRecord, now: number) => {
    record.endedAt = now
    ended.push(record)
    ledger?.ended?.(record.id)
  }

  const end = (record: TicketRecord, status: TicketStatus, now: number): void => {
    waiting.leave(record, now)
    players.remove(record)
    record.status = status
    touch(record)
  }

  const settleAll = (records: readonly TicketRecord[], now: number) => {
    for (const record of records) waiting.syncPools(record, now)
  }

  const located = (record: TicketRecord, place: Place) => {
    record.place = place
    record.locating = false
    if (record.status !== 'SEARCHING' || byId.get(record.id) !== record) return
    // The ticket may be in the pools already, without a place.
    const now = clock.now()
    waiting.leave(record, now)
    waiting.syncPools(record, now)
  }

  const begin = ({ record, found, now }: AdmittedTicket, entries: ReturnType<typeof entriesOf>): Ticket => {
    byId.set(record.id, record)
    players.add(record)
    if (isPrivate(record)) privateMatches.add(record)
    waiting.syncPools(record, now, entries)
    void found?.then((place) => located(record, place))
    const created = ticketOf(record)
    events.emit('ticketCreated', { ticket: created })
    // A listener may have cancelled the ticket.
    return record.version === created.version ? created : ticketOf(record)
  }

  const loading =
    following &&
    createLoading({
      following,
      limits,
      byId,
      players,
      privateMatches,
      searching: waiting,
      inheriting,
      runtimes: () => runtimes,
      locatePlayers,
      located,
      touch,
      out: (record, reason, now) => tickets.cancel(record, reason, now),
      retryDelayMs: retryDelay,
      clock,
    })

  const tickets: TicketStore = {
    create: (ticket, past) => {
      const before = ticket.id === undefined ? undefined : byId.get(ticket.id)
      if (before !== undefined) {
        assertSameTicket(before, ticket)
        // A ticket that was handed over may come back.
        if (past === undefined || before.cancelReason !== 'handed-over') return ticketOf(before)
      }
      const admitted = admit(ticket, past, admissionContext)
      const { record } = admitted
      const entries = isPrivate(record) ? undefined : entriesOf(record)
      if (before !== undefined) record.version = before.version + 1
      ledger?.created?.([record])
      return begin(admitted, entries)
    },

    createTogether: (checked) => {
      const before = checked.map(({ id }) => byId.get(id ?? ''))
      if (before.some((record) => record !== undefined)) {
        for (const [index, ticket] of checked.entries()) {
          const known = before[index]
          const { team, tickets: count } = known?.privateSeat ?? {}
          const isSame = team === ticket.privateSeat?.team && count === checked.length
          if (known === undefined || !isSame)
            throw invalidTicket('id', 'id: already belongs to other tickets. Use a new id.')
          assertSameTicket(known, ticket)
        }
        return before.flatMap((record) => (record === undefined ? [] : ticketOf(record)))
      }
      // None of them exists before all of them may.
      const admitted = checked.map((ticket) => admit(ticket, undefined, admissionContext))
      ledger?.created?.(admitted.map(({ record }) => record))
      return admitted.map((one) => begin(one, undefined))
    },

    find: (id) => byId.get(id),
    ofPlayer: (playerId) => [...players.ticketsOf(playerId), ...playing.ticketsOf(playerId)],
    advance: waiting.advance,

    reserve: (records, runtime) => {
      for (const record of records) leaveOthers(record, runtime)
    },
    release: (records, now) => {
      for (const record of records) if (record.runtimes.length > 1) waiting.syncPools(record, now)
    },

    claim: (records, runtime, match, teams, now) => {
      for (const record of records) if (!isIn(record, runtime) && !isPrivate(record)) return false
      const terms = match.queue.acceptance
      const acceptance = terms && { until: Math.floor(now + terms.withinMs), accepted: [] }
      for (let index = 0; index < records.length; index += 1) {
        const record = records[index] as TicketRecord
        waiting.leave(record, now, runtime)
        record.status = 'MATCH_FOUND'
        record.seat = { ticket: record, match, team: teams[index] as number, matchedAt: now, acceptance }
        touch(record)
      }
      if (players.isShared()) for (const record of records) settleAll(othersOf(record), now)
      return true
    },

    rejoin: (record, match, team, now) => {
      if (record.status !== 'SEARCHING' && record.status !== 'MATCH_FOUND') return undefined
      waiting.leave(record, now)
      record.status = 'MATCH_FOUND'
      record.seat = { ticket: record, match, team, matchedAt: now, acceptance: undefined }
      touch(record)
      return record.seat
    },

    shortOfServers: waiting.shortOfServers,

    setAcceptance: (record, acceptance) => {
      if (record.seat === undefined || record.seat.acceptance === acceptance) return
      record.seat.acceptance = acceptance
      touch(record)
    },

    requeue: (record, reason, counts, now) => {
      const { seat } = record
      if (record.status !== 'MATCH_FOUND' || seat === undefined) return
      const { matchId, queue } = seat.match
      if (counts) record.attempts += 1
      if (record.attempts >= queue.maxAttempts) return tickets.cancel(record, 'attempts', now)
      if (isPrivate(record) && reason === 'stopped') return tickets.cancel(record, 'dissolved', now)
      record.status = 'SEARCHING'
      record.seat = undefined
      record.restsUntil = atOnce.has(reason) ? now : now + retryDelay(record.attempts)
      record.waitingFor = atOnce.has(reason) ? 'players' : 'retry'
      touch(record)
      events.emit('ticketRequeued', { matchId, queue: queue.name, ticket: ticketOf(record), reason })
      waiting.syncPools(record, now)
      settleAll(othersOf(record), now)
    },

    assign: (record, now) => {
      const others = othersOf(record)
      if (isPrivate(record)) privateMatches.forget(record)
      record.assignedAt = now
      end(record, 'HOST_ASSIGNED', now)
      if (record.seat === undefined || record.seat.match.phase === 'over') keepEnded(record, now)
      else playing.add(record, record.seat.match)
      for (const other of others) tickets.cancel(other, 'elsewhere', now)
    },

    cancel: (record, reason, now) => {
      if (hasEnded(record)) return
      const others = othersOf(record)
      record.cancelledAt = now
      record.cancelReason = reason
      keepEnded(record, now)
      end(record, 'CANCELLED', now)
      if (reason === 'expired') events.emit('expired', { ticket: ticketOf(record) })
      else events.emit('cancelled', { ticket: ticketOf(record), reason })
      settleAll(others, now)
      for (const other of privateMatches.end(record)) tickets.cancel(other, reasonOfOthers(reason), now)
    },

    plays: (id) => {
      const record = byId.get(id)
      if (record?.status === 'HOST_ASSIGNED' && record.seat !== undefined) playing.add(record, record.seat.match)
    },
    left: (match, playerIds) => {
      for (const record of playing.leave(match, playerIds)) {
        const { left: before = [] } = record
        const gone = record.players.flatMap(({ id }) => (playerIds.includes(id) && !before.includes(id) ? [id] : []))
        if (gone.length === 0) continue
        record.left = [...before, ...gone]
        touch(record)
      }
    },
    matchOver: (match, how, now) => {
      for (const record of playing.end(match)) {
        record.matchEnd = how
        keepEnded(record, now)
        touch(record)
      }
    },

    change: async (record, { version, signal, until }) => {
      const ticket = ticketOf(record)
      return ticket.version !== version || isSettled(ticket, until) ? ticket : waiters.wait(record, signal)
    },

    replaceQueues: (others, now) => {
      runtimes = others
      admissionContext = { ...admissionContext, runtimes }
      const refused: RefusedTicket[] = []
      for (const record of byId.values()) {
        if (hasEnded(record)) continue
        for (const queue of record.queues) {
          if (runtimes.has(queue)) continue
          const error = new UnknownQueue(`Queue ${JSON.stringify(queue)} has been removed from the configuration.`)
          refused.push({ record, queue, error })
        }
        setRuntimes(
          record,
          record.queues.flatMap((queue) => runtimes.get(queue) ?? []),
        )
      }
      const refuse =
        (record: TicketRecord): Refused =>
        ({ queue }, error) =>
          void refused.push({ record, queue: queue.name, error })
      for (const record of byId.values()) waiting.syncPools(record, now, undefined, refuse(record))
      return refused
    },

    privateMatches: privateMatches.waiting,
    endWaits: waiters.end,
    removeEnded: (now) => {
      const kept = ended.findIndex((record) => now - (record.endedAt ?? now) < endedTicketTtlMs)
      for (const record of ended.splice(0, kept === -1 ? ended.length : kept)) {
        // Another ticket may have been created by its id.
        if (byId.get(record.id) === record) byId.delete(record.id)
      }
    },
    all: () => byId.values(),
    outside: waiting.outside,
    loading,
  }
  return tickets
}
