import type { Clock } from '@muster/core/clock'
import { createHeap, groupBy } from '@muster/core/internal'
import type { Matchmaker, Player, Queue, Ticket } from '@muster/matchmaker'
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
  /** Number of its tickets whose players play still. */
  playing: number
}

/** What somebody does at a time: a party comes, a ticket's party loses its patience or leaves its match. */
interface Action {
  readonly at: number
  /** Of the same time, what was planned first comes first. */
  readonly turn: number
  readonly what: 'come' | 'losePatience' | 'leave'
  /** Of the party that comes, or of the ticket. */
  readonly index: number
}

const idOf = (index: number) => `t${index}`
const indexOf = ({ id }: Ticket) => Number(id.slice(1))

export type CrowdLife = ReturnType<typeof createCrowdLife>

/** What the parties of a crowd do, and what happens to them. Times are milliseconds from the crowd's start. */
export function createCrowdLife({ crowd, queues, matchmaker, clock, ratings }: CrowdLifeOptions) {
  const { parties } = crowd
  const { startsAt } = crowd.header
  const names = queues.map(({ name }) => name)
  const longestMs = new Map(queues.map(({ name, deploy }) => [name, deploy.maxDurationMs]))
  const actions = createHeap<Action>(
    (one, other) => one.at < other.at || (one.at === other.at && one.turn < other.turn),
  )
  let turns = 0
  const plan = (at: number, what: Action['what'], index: number) => {
    turns += 1
    actions.add({ at, turn: turns, what, index })
  }
  const nextVisits = new Uint32Array(parties.length)
  const tickets: TicketSoFar[] = []
  const matches: MatchSoFar[] = []
  /** Index of each match that has been assigned and is not over. */
  const running = new Map<string, number>()
  /** Whether the server was warm that a match has taken last. */
  const warm = new Map<string, boolean>()
  let waiting = 0
  let visitsEnded = 0
  let isStopped = false

  const now = () => clock.now() - startsAt
  const partyOf = ({ party }: TicketSoFar) => parties[party] as CrowdParty
  const visitOf = (ticket: TicketSoFar) => partyOf(ticket).visits[ticket.visit] as CrowdVisit
  const isOpen = ({ endedAt }: TicketSoFar) => endedAt === undefined

  /** The visit is over: the party comes again after its break. */
  const visited = (ticket: TicketSoFar) => {
    visitsEnded += 1
    const { visits } = partyOf(ticket)
    if (ticket.visit + 1 < visits.length) plan(now() + (visitOf(ticket).breakMs ?? 0), 'come', ticket.party)
  }
  const end = (ticket: TicketSoFar, how: TicketOutcome['end']) => {
    if (!isOpen(ticket) || isStopped) return
    ticket.end = how
    ticket.endedAt = now()
    waiting -= 1
    if (how !== 'assigned') visited(ticket)
  }

  /** The players as their ticket has them. */
  const queued = (players: readonly CrowdPlayer[]): Player[] => {
    const rated = ratings?.queued(players)
    return players.map(({ id, ip, coordinates, latencies, attributes: own, roles, avoid }, index) => {
      const attributes = rated === undefined ? own : { ...own, ...rated[index] }
      return { id, ip, coordinates, latencies, attributes, roles, avoid }
    })
  }

  const come = (party: number) => {
    const { players, queues: wanted, priority, visits } = parties[party] as CrowdParty
    const index = tickets.length
    const visit = nextVisits[party] as number
    nextVisits[party] = visit + 1
    const ticket: TicketSoFar = { party, visit, createdAt: now(), end: 'waiting' }
    tickets.push(ticket)
    waiting += 1
    const named = wanted?.filter((name) => longestMs.has(name))
    try {
      if (named?.length === 0) throw new Error('no queue of the run is among those that the party wants')
      matchmaker.createTicket({ id: idOf(index), queues: named ?? names, players: queued(players), priority })
      plan(now() + (visits[visit] as CrowdVisit).patienceMs, 'losePatience', index)
    } catch (error) {
      ticket.refusal = error instanceof Error ? error.message : String(error)
      end(ticket, 'refused')
    }
  }

  /** A party whose match is found stays, and gives up if it has to wait again. */
  const losePatience = (index: number) => {
    const ticket = tickets[index] as TicketSoFar
    if (!isOpen(ticket) || matchmaker.getTicket(idOf(index))?.status !== 'SEARCHING') return
    matchmaker.cancelTicket(idOf(index))
  }
  const hasNoPatience = (ticket: TicketSoFar) => now() - ticket.createdAt >= visitOf(ticket).patienceMs

  const leave = (index: number) => {
    const ticket = tickets[index] as TicketSoFar
    const match = matches[ticket.match as number] as MatchSoFar
    visited(ticket)
    match.playing -= 1
    if (match.playing === 0) finish(match)
    // It is over already if it has lasted for as long as its queue allows.
    if (!running.has(match.id)) return
    if (match.playing === 0) running.delete(match.id)
    matchmaker.playersLeft(
      match.id,
      partyOf(ticket).players.map(({ id }) => id),
    )
  }

  /** The match has been played. */
  const finish = (match: MatchSoFar) => {
    if (ratings === undefined) return
    const teams = groupBy(match.tickets, (index) => tickets[index]?.team ?? '')
    const playedBy = (index: number) => {
      const ticket = tickets[index] as TicketSoFar
      return { players: partyOf(ticket).players, waitMs: (ticket.matchedAt ?? 0) - ticket.createdAt }
    }
    match.ranking = ratings.played(Array.from(teams, ([name, those]) => ({ name, tickets: those.map(playedBy) })))
  }

  matchmaker.on('serverAssigned', ({ matchId, queue, tickets: assigned }) => {
    let index = running.get(matchId)
    if (index === undefined) {
      index = matches.length
      running.set(matchId, index)
      const foundAt = Math.min(...assigned.map(({ matchedAt = clock.now() }) => matchedAt)) - startsAt
      const isWarm = warm.get(matchId)
      matches.push({ id: matchId, queue, foundAt, assignedAt: now(), tickets: [], isWarm, playing: 0 })
    }
    const match = matches[index] as MatchSoFar
    for (const one of assigned) {
      const ticket = tickets[indexOf(one)] as TicketSoFar
      ticket.matchedAt = (one.matchedAt ?? clock.now()) - startsAt
      ticket.match = index
      ticket.team = one.team
      match.tickets.push(indexOf(one))
      match.playing += 1
      end(ticket, 'assigned')
      const playMs = Math.min(visitOf(ticket).playMs, longestMs.get(queue) ?? Infinity)
      plan(now() + playMs, 'leave', indexOf(one))
    }
  })
  matchmaker.on('serverTaken', ({ matchId, warm: isWarm }) => void warm.set(matchId, isWarm))
  onMatchEnd(matchmaker.on, (matchId) => {
    running.delete(matchId)
    warm.delete(matchId)
  })
  matchmaker.on('expired', ({ ticket }) => end(tickets[indexOf(ticket)] as TicketSoFar, 'expired'))
  matchmaker.on('cancelled', ({ ticket, reason }) =>
    end(tickets[indexOf(ticket)] as TicketSoFar, reason === 'cancelled' ? 'gaveUp' : reason),
  )
  matchmaker.on('ticketRequeued', ({ ticket }) => {
    // Later in this instant: the matchmaker is still at work on the match.
    if (hasNoPatience(tickets[indexOf(ticket)] as TicketSoFar)) plan(now(), 'losePatience', indexOf(ticket))
  })

  const answer = ({ tickets: asked }: { readonly tickets: readonly Ticket[] }) => {
    for (const ticket of asked) {
      // Another of the match may have declined.
      if (matchmaker.getTicket(ticket.id)?.acceptance === undefined) continue
      if (visitOf(tickets[indexOf(ticket)] as TicketSoFar).accepts ?? true) matchmaker.acceptMatch(ticket.id)
      else matchmaker.declineMatch(ticket.id)
    }
  }
  if (queues.some(({ acceptance }) => acceptance !== undefined)) {
    matchmaker.on('matchFound', answer)
    matchmaker.on('backfillJoined', answer)
  }

  for (const [index, { at }] of parties.entries()) plan(at, 'come', index)
  const visits = parties.reduce((sum, party) => sum + party.visits.length, 0)

  const acts: Readonly<Record<Action['what'], (index: number) => void>> = { come, losePatience, leave }
  return {
    /** When somebody acts next; Infinity if nobody does. */
    nextAt: () => actions.first()?.at ?? Infinity,
    /** Lets act whoever does so next. */
    act: () => {
      const action = actions.shift()
      if (action !== undefined) acts[action.what](action.index)
    },
    /** Number of tickets that have not ended. */
    waiting: () => waiting,
    /** Share of the visits that have ended, from 0 to 1. */
    share: () => visitsEnded / visits,
    isOver: () => visitsEnded === visits,
    /** From now on nobody comes, and tickets stay as they are. */
    stop: () => {
      isStopped = true
    },
    tickets: (): readonly TicketOutcome[] => tickets,
    matches: (): readonly MatchOutcome[] => matches.map(({ id: _id, playing: _playing, ...match }) => match),
  }
}
