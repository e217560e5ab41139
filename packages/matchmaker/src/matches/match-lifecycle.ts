import { newId } from '@muster/core/internal'
import type { Random } from '@muster/core/clock'
import type { Allocator, Assignment, EndedMatches, StopReason } from '@muster/hosting/internal'
import { sameIdAgain } from '../errors.js'
import type { Events } from '../events.js'
import {
  type Cooldowns,
  type Match,
  ticketOf,
  type TicketRecord,
  type CancelReason,
  type MatchEnd,
  type TicketStore,
  filled,
} from '../tickets/index.js'
import type { Backfills } from './backfills.js'
import { type FindPlacements, orderOf, teamsOf } from './match-order.js'
import {
  createAcceptances,
  createLeaving,
  createReplacing,
  type EndOfMatch,
  isSeated,
  newMatch,
  placed,
  playersOf,
  waitingFor,
} from './match.js'
import type { GroupedTickets } from './rounds.js'

interface MatchLifecycleOptions {
  readonly tickets: TicketStore
  readonly backfills: Backfills
  readonly allocator: Pick<Allocator, 'room' | 'allocate' | 'find' | 'drop' | 'setPlayers'>
  readonly ended: Pick<EndedMatches, 'add'>
  readonly events: Events
  readonly cooldowns: Pick<Cooldowns, 'count'>
  readonly random: Random
  /** Chooses the placements for a match's server by its rules. */
  readonly placing: (match: Match) => FindPlacements | undefined
}

/*
 * The phases of a match (`MatchPhase`):
 *
 * found ─┬─ acceptance ──▶ asking ── all have accepted ──▶ due ── a server may be created ─┐
 *          └─ no acceptance ─────────────────────────────────────────────────────────────────┤
 *                                                                                            ▼
 * over ◀── stopped, ended, or all have left ── running ◀── its server listens ── deploying
 *
 * A match is also over if it is declined or cancelled, unless its queue replaces leavers, or if it gets no server. Its
 * other tickets then search again and keep their waiting time. Those of a private match may be cancelled instead.
 */

/** Moves each match through its phases and updates its tickets. The allocator handles its server. */
export class MatchLifecycle {
  readonly #options: MatchLifecycleOptions
  readonly #matches = new Map<string, Match>()
  /** Matches in phase `asking` or `due`. Of thousands of matches, each tick checks only these. */
  readonly #early = new Set<Match>()
  readonly #acceptances: ReturnType<typeof createAcceptances>
  readonly #replacing: ReturnType<typeof createReplacing>
  readonly #leaving: ReturnType<typeof createLeaving>

  constructor(options: MatchLifecycleOptions) {
    const { tickets, backfills, allocator } = options
    this.#options = options
    this.#acceptances = createAcceptances(tickets)
    this.#replacing = createReplacing(backfills, allocator)
    this.#leaving = createLeaving({
      tickets,
      acceptances: this.#acceptances,
      replacing: this.#replacing,
      dissolve: (match, why, now) => this.dissolve(match, why, now),
    })
  }

  find(matchId: string): Match | undefined {
    return this.#matches.get(matchId)
  }
  all(): Iterable<Match> {
    return this.#matches.values()
  }

  /**
   * Returns how many more matches may be made now. Matches that await acceptance or a server count as made.
   * @param pool the pool whose warm servers are added.
   */
  room(now: number, pool?: string): number {
    return this.#options.allocator.room(now, pool) - this.#early.size
  }

  /**
   * Deploys servers for due matches. Removes tickets that did not accept in time. Dissolves matches that were not full
   * in time, or for which no server may be created.
   * @param pausedMs milliseconds for which this process was just paused. Players have that much more time to accept.
   */
  advance(now: number, pausedMs: number): void {
    if (pausedMs > 0) {
      this.#acceptances.extend(pausedMs)
      for (const match of this.#early) match.fullBy += pausedMs
    }
    this.#serve(now)
    const late = this.#acceptances.overdue(now)
    for (const match of new Set(late.map((record) => record.seat?.match))) {
      if (match === undefined) continue
      const unanswered = late.filter((record) => isSeated(record, match))
      this.#options.cooldowns.count(match.queue, unanswered.flatMap(silentIn), 'not-accepted', now)
      this.#leaving.together(match, unanswered, 'not-accepted', now)
    }
    for (const match of this.#early) {
      if (match.fullBy <= now) this.dissolve(match, { reason: 'not-accepted' }, now)
      else if (isUnserved(match, now)) this.dissolve(match, { reason: 'dissolved' }, now)
    }
  }

  /**
   * Makes a match. Resolves once the store has recorded that the match needs a server, or immediately if the match
   * awaits acceptance. Returns undefined and changes nothing if a ticket no longer searches.
   */
  begin(group: GroupedTickets, now: number): Promise<void> | undefined {
    const { events, random } = this.#options
    const { queue: itself, compiled } = group.runtime
    const { queue = itself } = group
    const needsAcceptance = queue.acceptance !== undefined
    const match = newMatch(newId(random), queue, compiled.model.teams, now)
    if (this.#matches.has(match.matchId)) throw sameIdAgain()
    match.expansionMs = group.expansionMs
    if (needsAcceptance) match.phase = 'asking'
    if (!this.#seat(match, group, now)) return undefined
    this.#matches.set(match.matchId, match)
    if (needsAcceptance) this.#early.add(match)
    const begun = needsAcceptance ? Promise.resolve() : this.#deploy(match, group.teams)
    // Emit `matchFound` last, so that a listener may cancel the tickets or stop the match.
    if (events.hasListeners('matchFound')) {
      const { matchId, expansionMs } = match
      events.emit('matchFound', { matchId, queue: queue.name, tickets: group.records.map(ticketOf), expansionMs })
    }
    return begun
  }

  /**
   * Adds tickets to a match by its backfill. Does nothing if the backfill or one of the tickets has changed, or if a
   * player is already in the match.
   */
  join(group: GroupedTickets, now: number): void {
    const { backfill, records } = group
    if (backfill?.record.status !== 'OPEN' || backfill.record.version !== backfill.version) return
    const { id: backfillId, match } = backfill.record
    // Players may queue while they play, so they may already be in this match.
    if (match.queue.playersMayWaitWhilePlaying && records.some((record) => isSharing(record, match))) return
    if (!this.#seat(match, group, now)) return
    const ids = records.map(({ id }) => id)
    const vacancies = filled(backfill.record, placed(records))
    this.#replacing.refresh(backfill.record, vacancies, ids)
    if (vacancies.rooms.every((room) => room === 0)) match.fullBy = Infinity
    this.#replacing.setPlayers(match, (all) => [...all, ...playersOf(records)])
    this.#options.events.emit('backfillJoined', { ...named(match), backfillId, tickets: records.map(ticketOf) })
    if (match.phase !== 'running') return this.#proceed(match, now)
    const seated = records.filter((record) => isSeated(record, match) && !this.#acceptances.isPending(record))
    this.#arrive(match, seated, now)
  }

  /** Records that players accept the match that was found for their ticket. */
  accept(record: TicketRecord, playerIds: readonly string[], now: number): void {
    const { events, tickets } = this.#options
    const match = record.seat?.match
    const accepted = this.#acceptances.accept(record, playerIds)
    if (match === undefined || accepted.length === 0) return
    events.emit('matchAccepted', { ...named(match), ticket: ticketOf(record), playerIds: accepted })
    if (!isSeated(record, match) || this.#acceptances.isPending(record)) return
    if (match.phase === 'running') this.#arrive(match, [record], now)
    else if (match.phase === 'deploying') tickets.setAcceptance(record, undefined)
    else this.#proceed(match, now)
  }

  /** Removes a ticket that has no server yet from its match. */
  leave(record: TicketRecord, reason: CancelReason, now: number): void {
    const match = record.seat?.match
    if (match !== undefined) this.#leaving.together(match, [record], reason, now)
  }

  /** Removes players who have left. Tickets that have no server yet are cancelled. */
  desert(match: Match, playerIds: readonly string[], now: number): void {
    this.#leaving.players(match, playerIds, now)
  }

  /** Called when the server of the match listens: players may connect. */
  ready(matchId: string, requestId: string, assignment: Assignment, now: number): void {
    const match = this.#matches.get(matchId)
    if (match === undefined) return
    match.phase = 'running'
    match.requestId = requestId
    match.assignment = assignment
    this.#arrive(match, this.#expectedIn(match), now)
  }

  /** Returns the ids of the match's tickets that wait for nothing but its server. */
  expected(matchId: string): readonly string[] {
    const match = this.#matches.get(matchId)
    return match === undefined ? [] : this.#expectedIn(match).map(({ id }) => id)
  }

  /**
   * Ends a match and stops its server, unless a pool keeps the server. Then requeues the tickets that have no address
   * yet, so that listeners of the requeue no longer find the match.
   */
  dissolve(match: Match, { reason, counts = false, stop = reason }: EndOfMatch, now: number): void {
    if (match.phase === 'over') return
    this.#end(match, stop, now)
    const isAttempt = ({ id }: TicketRecord) => (typeof counts === 'boolean' ? counts : counts.includes(id))
    for (const record of waitingFor(match)) this.#options.tickets.requeue(record, reason, isAttempt(record), now)
  }

  /** Ends a match because the matchmaker closes. Cancels its tickets that have no server. */
  close(match: Match, now: number): void {
    if (match.phase === 'over') return
    this.#end(match, 'closed', now)
    for (const record of waitingFor(match)) this.#options.tickets.cancel(record, 'closed', now)
  }

  /** Takes over a match of an earlier process. Its server is being deployed or runs. */
  adopt(match: Match): void {
    this.#matches.set(match.matchId, match)
    for (const record of waitingFor(match)) if (isAsked(record)) this.#acceptances.expect(record)
  }

  #seat(match: Match, { runtime, records, teams }: GroupedTickets, now: number): boolean {
    if (!this.#options.tickets.claim(records, runtime, match, teams, now)) return false
    match.seated = match.seated.length === 0 ? records : [...match.seated, ...records]
    match.placed = match.placed.length === 0 ? placed(records) : [...match.placed, ...placed(records)]
    if (match.queue.acceptance !== undefined) for (const record of records) this.#acceptances.expect(record)
    return true
  }

  /** Makes the match due for a server once it is full and all have accepted. */
  #proceed(match: Match, now: number): void {
    // A backfill may be cancelled while players are missing. Then the match dissolves at `fullBy`.
    if (match.phase !== 'asking' || match.fullBy < Infinity) return
    if (match.seated.some(this.#acceptances.isPending)) return
    match.phase = 'due'
    this.#serve(now)
  }

  #serve(now: number): void {
    if (this.#early.size === 0) return
    for (const match of this.#early) {
      if (match.phase !== 'due' || this.#options.allocator.room(now, match.queue.pool) <= 0) continue
      void this.#deploy(match, teamsOf(match.seated))
    }
  }

  /** Requests a server for a match. @param teamOf the index of the team of each seated ticket. */
  #deploy(match: Match, teamOf: readonly number[]): Promise<void> {
    const { allocator, placing, tickets } = this.#options
    const { matchId, queue, seated, foundAt } = match
    match.phase = 'deploying'
    if (queue.acceptance !== undefined) {
      this.#early.delete(match)
      for (const record of seated) tickets.setAcceptance(record, undefined)
    }
    const order = orderOf(match, teamOf, placing(match))
    return allocator.allocate({ matchId, queue: queue.name, at: foundAt }, order)
  }

  /** Returns the match's tickets that wait for nothing but its server. */
  #expectedIn(match: Match): readonly TicketRecord[] {
    return waitingFor(match).filter((record) => !this.#acceptances.isPending(record))
  }

  /** Assigns tickets to the running server. */
  #arrive(match: Match, records: readonly TicketRecord[], now: number): void {
    const { events, tickets } = this.#options
    const { requestId, assignment } = match
    if (requestId === undefined || assignment === undefined || records.length === 0) return
    match.seated = match.seated.filter((record) => !records.includes(record))
    for (const record of records) {
      tickets.setAcceptance(record, undefined)
      tickets.assign(record, now)
    }
    events.emit('serverAssigned', { ...named(match), requestId, assignment, tickets: records.map(ticketOf) })
  }

  #end(match: Match, stop: StopReason, now: number): void {
    const { allocator, backfills, ended, tickets } = this.#options
    match.phase = 'over'
    ended.add(match.matchId)
    this.#early.delete(match)
    if (match.backfill !== undefined) backfills.cancel(match.backfill)
    for (const record of match.seated) this.#acceptances.forget(record)
    tickets.matchOver(match, matchEndOf(stop), now)
    const hosted = allocator.find(match.matchId)
    if (hosted !== undefined) allocator.drop(hosted, stop)
    // Delete the match last: `drop` reports the end of the match, and that report reads the match's tickets.
    this.#matches.delete(match.matchId)
  }
}

const named = ({ matchId, queue }: Match) => ({ matchId, queue: queue.name })

const matchEndOf = (stop: StopReason): MatchEnd => {
  if (stop === 'crashed') return 'server-lost'
  return stop === 'nobody-joined' ? stop : 'match-over'
}

/**
 * True if a due match has had no server until one of its tickets would have expired. Its players must not wait longer
 * than the queue allows.
 */
const isUnserved = ({ phase, queue, foundAt, seated }: Match, now: number): boolean =>
  phase === 'due' &&
  now >= foundAt + (queue.acceptance?.withinMs ?? 0) &&
  seated.some(({ createdAt }) => now - createdAt >= queue.expireAfterMs)

/** True if the ticket's match awaits acceptance and some of its players have not answered. */
const isAsked = ({ seat, players }: TicketRecord): boolean =>
  seat?.acceptance !== undefined && seat.acceptance.accepted.length < players.length

/** Returns the players of the ticket who have not accepted. */
const silentIn = ({ seat, players }: TicketRecord): readonly string[] =>
  players.flatMap(({ id }) => (seat?.acceptance?.accepted.includes(id) === true ? [] : [id]))

/** True if a player of the ticket is in the match already. */
const isSharing = ({ players }: TicketRecord, { placed: there }: Match): boolean =>
  players.some(({ id }) => there.some(({ ticket }) => ticket.players.some((player) => player.id === id)))
