import { deepFreeze, type Yielder } from '@muster/core/internal'
import type { ReturnReason } from '@muster/hosting/internal'
import { type InvalidTicket, sameIdAgain, UnknownQueue } from '../errors.js'
import {
  admit,
  type AdmittedTicket,
  type AdmissionContext,
  entriesOf,
  type TicketHistory,
  assertSameTicket,
} from './admission.js'
import { createChangeListeners } from './change-listeners.js'
import type { CheckedTicket } from './checked-ticket.js'
import { createFollowing, createTicketLoader, type TicketLoader, type SeatInherited } from './load-tickets.js'
import type { PlayerLocation } from './locate-players.js'
import { createPlayerIndex, createPlaying } from './player-index.js'
import { createPrivateMatches, isPrivate, reasonOfOthers } from './private-matches.js'
import { invalidTicket } from './ticket-input.js'
import type { Ledger } from './ticket-ledger.js'
import {
  atOnce,
  createTicketPools,
  isIn,
  leaveOthers,
  setRuntimes,
  retryDelay,
  type OnRefused,
  type TicketPools,
} from './ticket-pools.js'
import { type Match, type QueueRuntime, type MatchSeat, ticketOf, type TicketRecord } from './ticket-record.js'
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

interface TicketsOptions extends Omit<AdmissionContext, 'players' | 'playing'> {
  readonly locateTimeoutMs: number
  readonly endedTicketTtlMs: number
  readonly events: TicketListener
  /** Keeps tickets after the process ends. With a ledger, tickets are loaded first, and change only after `lead`. */
  readonly ledger?: Pick<Ledger, 'changed' | 'created' | 'ended'> | undefined
  /** The matches of loaded tickets. */
  readonly inheriting: SeatInherited
}

interface RefusedTicket {
  readonly record: TicketRecord
  /** Name of the queue that refuses the ticket. */
  readonly queue: string
  readonly error: InvalidTicket | UnknownQueue
}

/** Holds all tickets. Every change of a ticket is one of these methods. */
export class TicketStore {
  /** Loads tickets of other and earlier processes; undefined without a ledger. */
  readonly loading: TicketLoader | undefined
  readonly #options: TicketsOptions
  readonly #byId = new Map<string, TicketRecord>()
  /** Ended tickets, sorted by their end. They can be read for `endedTicketTtlMs`. */
  readonly #ended: TicketRecord[] = []
  readonly #players = createPlayerIndex()
  readonly #playing = createPlaying()
  readonly #privateMatches = createPrivateMatches()
  readonly #listeners = createChangeListeners()
  readonly #following: ReturnType<typeof createFollowing> | undefined
  readonly #pools: TicketPools
  #admission: AdmissionContext

  constructor(options: TicketsOptions) {
    const { limits, locatePlayers, locateTimeoutMs, clock, ledger, inheriting } = options
    this.#options = options
    this.#admission = { ...options, players: this.#players, playing: this.#playing }
    this.#following = ledger && createFollowing()
    this.#pools = createTicketPools({
      locateTimeoutMs,
      isFollowing: () => this.#following?.isOn() === true,
      isElsewhere: (record) => this.#othersOf(record).some(({ status }) => status === 'MATCH_FOUND'),
      changed: (record) => this.#touch(record),
      out: (record, reason, now) => {
        if (this.#following?.putsOff(record, reason) !== true) this.cancel(record, reason, now)
      },
    })
    this.loading =
      this.#following &&
      createTicketLoader({
        following: this.#following,
        limits,
        byId: this.#byId,
        players: this.#players,
        privateMatches: this.#privateMatches,
        searching: this.#pools,
        inheriting,
        runtimes: () => this.#admission.runtimes,
        locatePlayers,
        located: (record, place) => this.#located(record, place),
        touch: (record) => this.#touch(record),
        out: (record, reason, now) => this.cancel(record, reason, now),
        retryDelayMs: retryDelay,
        clock,
      })
  }

  /**
   * Creates a ticket, or returns the existing ticket of the same id.
   * @param past what is already known about an imported ticket.
   * @throws {InvalidTicket}; {UnknownQueue}; {PlayerBusy}; {PlayerPlaying}; {PlayerOverLimit}
   */
  create(ticket: CheckedTicket, past?: TicketHistory): Ticket {
    const before = ticket.id === undefined ? undefined : this.#byId.get(ticket.id)
    if (before !== undefined) {
      assertSameTicket(before, ticket)
      // A ticket that was handed over may be imported back.
      if (past === undefined || before.cancelReason !== 'handed-over') return ticketOf(before)
    }
    const admitted = admit(ticket, past, this.#admission)
    const { record } = admitted
    if (before === undefined && this.#byId.has(record.id)) throw sameIdAgain()
    const entries = isPrivate(record) ? undefined : entriesOf(record)
    if (before !== undefined) record.version = before.version + 1
    this.#options.ledger?.created?.([record])
    return this.#begin(admitted, entries)
  }

  /**
   * Creates the tickets of a private match: all or none. Returns them, or those that exist already. @throws like
   * `create`
   */
  createTogether(checked: readonly CheckedTicket[]): readonly Ticket[] {
    const before = checked.map(({ id }) => this.#byId.get(id ?? ''))
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
    // Admit all tickets before any of them is created.
    const admitted = checked.map((ticket) => admit(ticket, undefined, this.#admission))
    this.#options.ledger?.created?.(admitted.map(({ record }) => record))
    for (const one of admitted) this.#begin(one, undefined)
    // A listener of `ticketCreated` may have cancelled a ticket before the later ones existed.
    const ended = admitted.find(({ record }) => record.cancelReason !== undefined)?.record.cancelReason
    if (ended !== undefined) for (const { record, now } of admitted) this.cancel(record, reasonOfOthers(ended), now)
    return admitted.map(({ record }) => ticketOf(record))
  }

  find(id: string): TicketRecord | undefined {
    return this.#byId.get(id)
  }
  all(): Iterable<TicketRecord> {
    return this.#byId.values()
  }
  /** Returns the tickets of a player that have not ended, and those of running matches that the player is in. */
  ofPlayer(playerId: string): readonly TicketRecord[] {
    return [...this.#players.ticketsOf(playerId), ...this.#playing.ticketsOf(playerId)]
  }
  /** Returns the tickets of each private match that waits for a server. */
  privateMatches(): Iterable<readonly TicketRecord[]> {
    return this.#privateMatches.waiting()
  }
  /** Returns the searching tickets that are in no pool because they cannot be matched now. */
  outside(): Iterable<TicketRecord> {
    return this.#pools.outside()
  }

  /**
   * Runs due timers. Cancels expired and absent tickets, and moves tickets that may be matched again into the pools.
   * @param wasPaused true if this process was paused, so that no client could be seen
   */
  advance(now: number, wasPaused: boolean): void {
    this.#pools.advance(now, wasPaused)
  }

  /** Reserves grouped tickets for this runtime: until `claim` or `release`, no other runtime can group them. */
  reserve(records: readonly TicketRecord[], runtime: QueueRuntime): void {
    for (const record of records) leaveOthers(record, runtime)
  }
  release(records: readonly TicketRecord[], now: number): void {
    for (const record of records) if (record.runtimes.length > 1) this.#pools.syncPools(record, now)
  }

  /**
   * Moves the tickets into a match. In a queue with acceptance, the match then awaits acceptance. Returns false and
   * changes nothing if one of the tickets has left the runtime.
   * @param teams the index of each ticket's team.
   */
  claim(
    records: readonly TicketRecord[],
    runtime: QueueRuntime,
    match: Match,
    teams: readonly number[],
    now: number,
  ): boolean {
    for (const record of records) if (!isIn(record, runtime) && !isPrivate(record)) return false
    const terms = match.queue.acceptance
    const acceptance = terms && deepFreeze({ until: Math.floor(now + terms.withinMs), accepted: [] })
    for (let index = 0; index < records.length; index += 1) {
      const record = records[index] as TicketRecord
      this.#pools.leave(record, now, runtime)
      record.status = 'MATCH_FOUND'
      record.seat = { ticket: record, match, team: teams[index] as number, matchedAt: now, acceptance }
      this.#touch(record)
    }
    if (this.#players.isShared()) for (const record of records) this.#syncAll(this.#othersOf(record), now)
    return true
  }

  /**
   * Moves a ticket into the match of an earlier process that the store names, regardless of the ticket's loaded state.
   * Returns its seat; undefined if the ticket is assigned or cancelled.
   */
  rejoin(record: TicketRecord, match: Match, team: number, now: number): MatchSeat | undefined {
    if (record.status !== 'SEARCHING' && record.status !== 'MATCH_FOUND') return undefined
    this.#pools.leave(record, now)
    record.status = 'MATCH_FOUND'
    record.seat = { ticket: record, match, team, matchedAt: now, acceptance: undefined }
    this.#touch(record)
    return record.seat
  }

  /** Marks exactly these tickets as having a match but no server: see `waitingFor`. */
  shortOfServers(records: readonly TicketRecord[], yielder: Yielder): Promise<void> {
    return this.#pools.shortOfServers(records, yielder)
  }

  /** Sets the acceptance state of the ticket's match. */
  setAcceptance(record: TicketRecord, acceptance: Acceptance | undefined): void {
    if (record.seat === undefined || record.seat.acceptance === acceptance) return
    record.seat.acceptance = deepFreeze(acceptance)
    this.#touch(record)
  }

  /**
   * Returns the ticket to the queue after its match dissolved. Cancels it instead after `maxAttempts`, and in a stopped
   * private match. Does nothing to a ticket that is not MATCH_FOUND.
   * @param counts true if the dissolved match is a failed attempt.
   */
  requeue(record: TicketRecord, reason: ReturnReason, counts: boolean, now: number): void {
    const { seat } = record
    if (record.status !== 'MATCH_FOUND' || seat === undefined) return
    const { matchId, queue } = seat.match
    if (counts) record.attempts += 1
    if (counts && record.attempts >= queue.maxAttempts) return this.cancel(record, 'attempts', now)
    if (isPrivate(record) && reason === 'stopped') return this.cancel(record, 'dissolved', now)
    record.status = 'SEARCHING'
    record.seat = undefined
    record.restsUntil = atOnce.has(reason) ? now : now + retryDelay(record.attempts)
    record.waitingFor = atOnce.has(reason) ? 'players' : 'retry'
    this.#touch(record)
    this.#options.events.emit('ticketRequeued', { matchId, queue: queue.name, ticket: ticketOf(record), reason })
    this.#pools.syncPools(record, now)
    this.#syncAll(this.#othersOf(record), now)
  }

  /** Assigns the ticket, which can be read while its match runs. Its players no longer wait for other matches. */
  assign(record: TicketRecord, now: number): void {
    const others = this.#othersOf(record)
    if (isPrivate(record)) this.#privateMatches.forget(record)
    record.assignedAt = now
    this.#end(record, 'HOST_ASSIGNED', now)
    if (record.seat === undefined || record.seat.match.phase === 'over') this.#keepEnded(record, now)
    else this.#playing.add(record, record.seat.match)
    for (const other of others) this.cancel(other, 'elsewhere', now)
  }

  /** Cancels the ticket. Does nothing to a ticket that has ended. */
  cancel(record: TicketRecord, reason: CancelReason, now: number): void {
    if (hasEnded(record)) return
    const { events } = this.#options
    const others = this.#othersOf(record)
    record.cancelledAt = now
    record.cancelReason = reason
    this.#keepEnded(record, now)
    this.#end(record, 'CANCELLED', now)
    if (reason === 'expired') events.emit('expired', { ticket: ticketOf(record) })
    else events.emit('cancelled', { ticket: ticketOf(record), reason })
    this.#syncAll(others, now)
    for (const other of this.#privateMatches.end(record)) this.cancel(other, reasonOfOthers(reason), now)
  }

  /** Marks a ticket as being in a running match, because an earlier process assigned it. */
  plays(id: string): void {
    const record = this.#byId.get(id)
    if (record?.status === 'HOST_ASSIGNED' && record.seat !== undefined) this.#playing.add(record, record.seat.match)
  }
  /** Removes players who have left a running match. */
  left(match: Match, playerIds: readonly string[]): void {
    for (const record of this.#playing.leave(match, playerIds)) {
      const { left: before = [] } = record
      const gone = record.players.flatMap(({ id }) => (playerIds.includes(id) && !before.includes(id) ? [id] : []))
      if (gone.length === 0) continue
      record.left = Object.freeze([...before, ...gone])
      this.#touch(record)
    }
  }
  /** Ends the tickets of a running match that has ended. @param how becomes their `ended` reason */
  matchOver(match: Match, how: MatchEnd, now: number): void {
    for (const record of this.#playing.end(match)) {
      record.matchEnd = how
      this.#keepEnded(record, now)
      this.#touch(record)
    }
  }

  /** Resolves like `Matchmaker.waitForChange`. Rejects with `signal.reason`. */
  async change(record: TicketRecord, { version, signal, until }: WaitOptions): Promise<Ticket> {
    const ticket = ticketOf(record)
    return ticket.version !== version || isSettled(ticket, until) ? ticket : this.#listeners.wait(record, signal)
  }
  /** Rejects all callers that wait for a change. */
  endWaits(error: Error): void {
    this.#listeners.end(error)
  }

  /** Moves all tickets to new runtimes. Returns the tickets that one of their queues now refuses. */
  replaceQueues(runtimes: ReadonlyMap<string, QueueRuntime>, now: number): RefusedTicket[] {
    this.#admission = { ...this.#admission, runtimes }
    const refused: RefusedTicket[] = []
    for (const record of this.#byId.values()) {
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
      (record: TicketRecord): OnRefused =>
      ({ queue }, error) =>
        void refused.push({ record, queue: queue.name, error })
    for (const record of this.#byId.values()) this.#pools.syncPools(record, now, undefined, refuse(record))
    return refused
  }

  /** Removes tickets that ended longer ago than `endedTicketTtlMs`. */
  removeEnded(now: number): void {
    const { endedTicketTtlMs } = this.#options
    const kept = this.#ended.findIndex((record) => now - (record.endedAt ?? now) < endedTicketTtlMs)
    for (const record of this.#ended.splice(0, kept === -1 ? this.#ended.length : kept)) {
      // Another ticket may have been created with the id of this one.
      if (this.#byId.get(record.id) === record) this.#byId.delete(record.id)
    }
  }

  #begin({ record, found, now }: AdmittedTicket, entries: ReturnType<typeof entriesOf>): Ticket {
    this.#byId.set(record.id, record)
    this.#players.add(record)
    if (isPrivate(record)) this.#privateMatches.add(record)
    const created = ticketOf(record)
    // Emit `ticketCreated` before the ticket enters pools. There an imported ticket may expire at once, and its
    // cancellation must be emitted after its creation.
    this.#options.events.emit('ticketCreated', { ticket: created })
    this.#pools.syncPools(record, now, entries)
    void found?.then((place) => this.#located(record, place))
    // A listener may have cancelled the ticket.
    return record.version === created.version ? created : ticketOf(record)
  }

  #located(record: TicketRecord, place: PlayerLocation): void {
    record.place = place
    record.locating = false
    if (record.status !== 'SEARCHING' || this.#byId.get(record.id) !== record) return
    // The ticket may already be in the pools without a location, so enter it anew.
    const now = this.#options.clock.now()
    this.#pools.leave(record, now)
    this.#pools.syncPools(record, now)
  }

  /** Raises the ticket's version, unless changes are deferred. */
  #touch(record: TicketRecord): void {
    if (this.#following?.putsOff(record) === true) return
    record.version += 1
    // Append to the log before waking waiters, so that clients never outrun it.
    this.#options.ledger?.changed(ticketOf(record))
    this.#listeners.changed(record)
  }

  #end(record: TicketRecord, status: TicketStatus, now: number): void {
    this.#pools.leave(record, now)
    this.#players.remove(record)
    record.status = status
    this.#touch(record)
  }

  /** Keeps the ended ticket for `endedTicketTtlMs`. */
  #keepEnded(record: TicketRecord, now: number): void {
    record.endedAt = now
    this.#ended.push(record)
    this.#options.ledger?.ended?.(record.id)
  }

  /** Returns the other tickets of the ticket's players. There is nearly always none. */
  #othersOf(record: TicketRecord): readonly TicketRecord[] {
    return this.#players.isShared()
      ? record.players.flatMap(({ id }) => this.#players.ticketsOf(id).filter((other) => other !== record))
      : []
  }

  #syncAll(records: readonly TicketRecord[], now: number): void {
    for (const record of records) this.#pools.syncPools(record, now)
  }
}
