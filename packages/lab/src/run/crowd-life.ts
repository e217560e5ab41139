import type { Clock } from '@muster/core/clock'
import { createHeap, groupBy, messageOf } from '@muster/core/internal'
import type { Matchmaker, MatchmakerEvents, Player, Queue, Ticket } from '@muster/matchmaker'
import { onMatchEnd } from '@muster/matchmaker/internal'
import type { Crowd, CrowdParty, CrowdPlayer, CrowdVisit } from '../crowd/index.js'
import type { RatingBook } from '../ratings/rating-book.js'
import type { MatchOutcome, TicketOutcome } from './outcome.js'

interface CrowdLifeOptions {
  readonly crowd: Crowd
  readonly queues: readonly Queue[]
  readonly matchmaker: Matchmaker
  readonly clock: Clock
  readonly ratings: RatingBook | undefined
}

type Writable<T> = { -readonly [Key in keyof T]: T[Key] }
type TicketSoFar = Writable<TicketOutcome>
interface MatchSoFar extends Writable<Omit<MatchOutcome, 'tickets'>> {
  readonly id: string
  readonly tickets: number[]
  /** Number of tickets of the match whose players are still playing. */
  playing: number
}

/** An action at a time: a party comes, or the party of a ticket gives up or leaves its match. */
interface CrowdAction {
  readonly at: number
  /** Number of the action. Actions of the same time run in the order in which they were planned. */
  readonly turn: number
  readonly what: 'come' | 'losePatience' | 'leave'
  /** Index of the party that comes; otherwise index of the ticket. */
  readonly index: number
}

const idOf = (index: number) => `t${index}`
const indexOf = ({ id }: Ticket) => Number(id.slice(1))

/** Simulates the behaviour of a crowd's parties during a run. Times are milliseconds from the crowd's start. */
export class CrowdLife {
  readonly #parties: readonly CrowdParty[]
  readonly #startsAt: number
  readonly #matchmaker: Matchmaker
  readonly #clock: Clock
  readonly #ratings: RatingBook | undefined
  /** Maximum milliseconds of a match, by queue; undefined if a queue has no limit. */
  readonly #longestMs: ReadonlyMap<string, number | undefined>
  readonly #visits: number
  readonly #actions = createHeap<CrowdAction>(
    (one, other) => one.at < other.at || (one.at === other.at && one.turn < other.turn),
  )
  #turns = 0
  /** For each party, the index of its next visit, i.e. of the next time that it queues. */
  readonly #nextVisits: Uint32Array
  readonly #tickets: TicketSoFar[] = []
  readonly #matches: MatchSoFar[] = []
  /** Index of each running match, by match id. */
  readonly #running = new Map<string, number>()
  /** True for a match whose latest server was warm, by match id. */
  readonly #warm = new Map<string, boolean>()
  #waiting = 0
  #visitsEnded = 0
  #isStopped = false

  constructor({ crowd, queues, matchmaker, clock, ratings }: CrowdLifeOptions) {
    const { parties } = crowd
    this.#parties = parties
    this.#startsAt = crowd.header.startsAt
    this.#matchmaker = matchmaker
    this.#clock = clock
    this.#ratings = ratings
    this.#longestMs = new Map(queues.map(({ name, deploy }) => [name, deploy.maxDurationMs]))
    this.#visits = parties.reduce((sum, party) => sum + party.visits.length, 0)
    this.#nextVisits = new Uint32Array(parties.length)
    matchmaker.on('serverAssigned', (event) => this.#play(event))
    matchmaker.on('serverTaken', ({ matchId, warm }) => void this.#warm.set(matchId, warm))
    onMatchEnd(matchmaker.on, (matchId) => {
      this.#running.delete(matchId)
      this.#warm.delete(matchId)
    })
    matchmaker.on('expired', ({ ticket }) => this.#end(this.#ticketOf(ticket), 'expired'))
    matchmaker.on('cancelled', ({ ticket, reason }) =>
      this.#end(this.#ticketOf(ticket), reason === 'cancelled' ? 'gaveUp' : reason),
    )
    matchmaker.on('ticketRequeued', ({ ticket }) => {
      // The event is planned for the same time instead of run at once, because the matchmaker is still processing the
      // match.
      if (this.#hasNoPatience(this.#ticketOf(ticket))) this.#plan(this.#now(), 'losePatience', indexOf(ticket))
    })
    if (queues.some(({ acceptance }) => acceptance !== undefined)) {
      matchmaker.on('matchFound', ({ tickets }) => this.#answer(tickets))
      matchmaker.on('backfillJoined', ({ tickets }) => this.#answer(tickets))
    }
    for (const [index, { at }] of parties.entries()) this.#plan(at, 'come', index)
  }

  /** Returns the time of the next action; Infinity if there is none. */
  nextAt(): number {
    return this.#actions.first()?.at ?? Infinity
  }
  /** Runs the next action. */
  act(): void {
    const action = this.#actions.shift()
    if (action?.what === 'come') this.#arrive(action.index)
    else if (action?.what === 'losePatience') this.#losePatience(action.index)
    else if (action?.what === 'leave') this.#leave(action.index)
  }
  /** Returns the number of tickets that have not ended. */
  waiting(): number {
    return this.#waiting
  }
  /** Returns the share of the parties' visits that have ended, from 0 to 1. */
  share(): number {
    return this.#visitsEnded / this.#visits
  }
  isOver(): boolean {
    return this.#visitsEnded === this.#visits
  }
  /** Stops the simulation: no further party comes, and tickets stay as they are. */
  stop(): void {
    this.#isStopped = true
  }
  tickets(): readonly TicketOutcome[] {
    return this.#tickets
  }
  matches(): readonly MatchOutcome[] {
    return this.#matches.map(({ id: _id, playing: _playing, ...match }) => match)
  }

  #arrive(party: number): void {
    const { players, queues: wanted, priority, visits } = this.#parties[party] as CrowdParty
    const index = this.#tickets.length
    const visit = this.#nextVisits[party] as number
    this.#nextVisits[party] = visit + 1
    const ticket: TicketSoFar = { party, visit, createdAt: this.#now(), end: 'waiting' }
    this.#tickets.push(ticket)
    this.#waiting += 1
    const named = wanted?.filter((name) => this.#longestMs.has(name)) ?? this.#fitting(players.length)
    try {
      if (named.length === 0) throw new Error('the party wants none of the queues of this run')
      this.#matchmaker.createTicket({
        id: idOf(index),
        queues: named,
        players: this.#queued(players),
        priority,
      })
      this.#plan(this.#now() + (visits[visit] as CrowdVisit).patienceMs, 'losePatience', index)
    } catch (error) {
      ticket.refusal = messageOf(error)
      this.#end(ticket, 'refused')
    }
  }
  /**
   * Returns the queues whose largest team has room for a party of this size. Returns all queues if none has: their
   * refusal names the reason.
   */
  #fitting(size: number): string[] {
    const all = [...this.#longestMs.keys()]
    const fitting = all.filter((name) => size <= (this.#matchmaker.largestParty(name) ?? Infinity))
    return fitting.length > 0 ? fitting : all
  }
  /** Returns the players as a ticket contains them. Rating attributes are added if the run has ratings. */
  #queued(players: readonly CrowdPlayer[]): Player[] {
    const rated = this.#ratings?.queued(players)
    return players.map(({ id, ip, coordinates, latencies, attributes: own, roles, avoid }, index) => {
      const attributes = rated === undefined ? own : { ...own, ...rated[index] }
      return { id, ip, coordinates, latencies, attributes, roles, avoid }
    })
  }
  /**
   * Cancels the ticket of a party that gives up. If its match has been found, the party stays, and gives up only if it
   * has to wait again.
   */
  #losePatience(index: number): void {
    const ticket = this.#tickets[index] as TicketSoFar
    if (ticket.endedAt !== undefined || this.#matchmaker.getTicket(idOf(index))?.status !== 'SEARCHING') return
    this.#matchmaker.cancelTicket(idOf(index))
  }
  #answer(tickets: readonly Ticket[]): void {
    for (const ticket of tickets) {
      // Skipped if the match is gone, e.g. because another player has declined it.
      if (this.#matchmaker.getTicket(ticket.id)?.acceptance === undefined) continue
      if (this.#visitOf(this.#ticketOf(ticket)).accepts ?? true) this.#matchmaker.acceptMatch(ticket.id)
      else this.#matchmaker.declineMatch(ticket.id)
    }
  }
  #play({ matchId, queue, tickets }: MatchmakerEvents['serverAssigned']): void {
    let index = this.#running.get(matchId)
    if (index === undefined) {
      index = this.#matches.length
      this.#running.set(matchId, index)
      const foundAt = Math.min(...tickets.map(({ matchedAt = this.#clock.now() }) => matchedAt)) - this.#startsAt
      const isWarm = this.#warm.get(matchId)
      this.#matches.push({ id: matchId, queue, foundAt, assignedAt: this.#now(), tickets: [], isWarm, playing: 0 })
    }
    const match = this.#matches[index] as MatchSoFar
    for (const one of tickets) {
      const ticket = this.#ticketOf(one)
      ticket.matchedAt = (one.matchedAt ?? this.#clock.now()) - this.#startsAt
      ticket.match = index
      ticket.team = one.team
      match.tickets.push(indexOf(one))
      match.playing += 1
      this.#end(ticket, 'assigned')
      const playMs = Math.min(this.#visitOf(ticket).playMs, this.#longestMs.get(queue) ?? Infinity)
      this.#plan(this.#now() + playMs, 'leave', indexOf(one))
    }
  }
  #end(ticket: TicketSoFar, how: TicketOutcome['end']): void {
    if (ticket.endedAt !== undefined || this.#isStopped) return
    ticket.end = how
    ticket.endedAt = this.#now()
    this.#waiting -= 1
    if (how !== 'assigned') this.#visited(ticket)
  }
  #leave(index: number): void {
    const ticket = this.#tickets[index] as TicketSoFar
    const match = this.#matches[ticket.match as number] as MatchSoFar
    this.#visited(ticket)
    match.playing -= 1
    if (match.playing === 0) this.#finish(match)
    // The match is already over if it has lasted as long as its queue allows.
    if (!this.#running.has(match.id)) return
    if (match.playing === 0) this.#running.delete(match.id)
    this.#matchmaker.playersLeft(
      match.id,
      this.#partyOf(ticket).players.map(({ id }) => id),
    )
  }
  /** Decides the winner of a match that was played to its end. */
  #finish(match: MatchSoFar): void {
    if (this.#ratings === undefined) return
    const teams = groupBy(match.tickets, (index) => this.#tickets[index]?.team ?? '')
    const playedBy = (index: number) => {
      const ticket = this.#tickets[index] as TicketSoFar
      return { players: this.#partyOf(ticket).players, waitMs: (ticket.matchedAt ?? 0) - ticket.createdAt }
    }
    match.ranking = this.#ratings.played(Array.from(teams, ([name, those]) => ({ name, tickets: those.map(playedBy) })))
  }
  /** Ends a visit. The party comes again after its break, if it has a further visit. */
  #visited(ticket: TicketSoFar): void {
    this.#visitsEnded += 1
    const { visits } = this.#partyOf(ticket)
    if (ticket.visit + 1 < visits.length)
      this.#plan(this.#now() + (this.#visitOf(ticket).breakMs ?? 0), 'come', ticket.party)
  }
  #hasNoPatience(ticket: TicketSoFar): boolean {
    return this.#now() - ticket.createdAt >= this.#visitOf(ticket).patienceMs
  }
  #ticketOf(ticket: Ticket): TicketSoFar {
    return this.#tickets[indexOf(ticket)] as TicketSoFar
  }
  #partyOf({ party }: TicketSoFar): CrowdParty {
    return this.#parties[party] as CrowdParty
  }
  #visitOf(ticket: TicketSoFar): CrowdVisit {
    return this.#partyOf(ticket).visits[ticket.visit] as CrowdVisit
  }
  #plan(at: number, what: CrowdAction['what'], index: number): void {
    this.#turns += 1
    this.#actions.add({ at, turn: this.#turns, what, index })
  }
  #now(): number {
    return this.#clock.now() - this.#startsAt
  }
}
