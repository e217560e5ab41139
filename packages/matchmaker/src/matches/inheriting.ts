import type { Assignment } from '@muster/servers'
import type { Match, QueueRuntime, Seat, TicketRecord } from '../tickets/records.js'
import type { TicketState } from '../tickets/ticket-body.js'
import { newMatch, privateQueue } from './match.js'

/** The matches of an earlier process, put together again from the tickets that say they are in them. */
export interface Inheriting {
  /**
   * Seats a ticket in the match that its state names. Undefined, and the ticket is in no match, if its queue or team is
   * gone, or if all matches were taken over already.
   */
  seat(record: TicketRecord, state: TicketState): Seat | undefined
  /** The match of this id, made if no ticket was seated in it so far. Undefined if its queue or team is gone. */
  find(matchId: string, one: OfMatch, now: number): Match | undefined
  /** Where players of a match connect, by their tickets; undefined if none of them was told. */
  assignmentOf(matchId: string): Assignment | undefined
  /** A ticket was put into a match after all. */
  join(match: Match, seat: Seat): void
  /** The ticket is not in the match that it was seated in. */
  leave(record: TicketRecord): void
  /** Takes a match over; its tickets are in the order in which they joined. */
  take(matchId: string): Match | undefined
  /** Ends inheriting. Returns the matches that were not taken over. */
  end(): readonly Match[]
}

/** A ticket that belongs into a match, and the names of the match's queue and of the ticket's team. */
interface OfMatch {
  readonly queue: string
  readonly team: string | undefined
  readonly record: TicketRecord
}

/** @param runtime finds a queue by its name. */
export function createInheriting(runtime: (queue: string) => QueueRuntime | undefined): Inheriting {
  const matches = new Map<string, Match>()
  let isOver = false

  const matchOf = (
    matchId: string,
    { queue, compiled }: QueueRuntime,
    { privateSeat }: TicketRecord,
    matchedAt: number,
  ): Match => {
    const known = matches.get(matchId)
    if (known !== undefined) return known
    const itself = privateSeat === undefined ? queue : privateQueue(queue, privateSeat)
    const match = newMatch(matchId, itself, compiled.model.teams, matchedAt)
    match.phase = 'deploying'
    matches.set(matchId, match)
    return match
  }

  return {
    seat: (record, { status, matchId, queue, team: name, matchedAt = 0, acceptance, assignment }) => {
      const there = queue === undefined ? undefined : runtime(queue)
      if (isOver || there === undefined || matchId === undefined) return undefined
      const match = matchOf(matchId, there, record, matchedAt)
      const team = match.teams.findIndex((one) => one.name === name)
      if (team === -1) return undefined
      const seat = { ticket: record, match, team, matchedAt, acceptance }
      match.placed = [...match.placed, seat]
      if (status === 'MATCH_FOUND') match.seated = [...match.seated, record]
      else match.assignment = assignment
      return seat
    },

    find: (matchId, { queue, team, record }, now) => {
      const there = runtime(queue)
      if (there === undefined || !there.compiled.model.teams.some(({ name }) => name === team)) return undefined
      return matchOf(matchId, there, record, now)
    },
    assignmentOf: (matchId) => matches.get(matchId)?.assignment,
    join: (match, seat) => {
      match.placed = [...match.placed, seat]
      match.seated = [...match.seated, seat.ticket]
    },

    leave: (record) => {
      const match = record.seat?.match
      record.seat = undefined
      if (match === undefined || matches.get(match.matchId) !== match) return
      match.placed = match.placed.filter(({ ticket }) => ticket !== record)
      match.seated = match.seated.filter((one) => one !== record)
      if (match.placed.length === 0) matches.delete(match.matchId)
    },

    take: (matchId) => {
      const match = matches.get(matchId)
      matches.delete(matchId)
      if (match === undefined) return undefined
      match.seated = match.seated.toSorted(inOrderOfJoining)
      return match
    },

    end: () => {
      isOver = true
      const rest = [...matches.values()]
      matches.clear()
      return rest
    },
  }
}

const inOrderOfJoining = (one: TicketRecord, other: TicketRecord) =>
  (one.seat?.matchedAt ?? 0) - (other.seat?.matchedAt ?? 0) || one.createdAt - other.createdAt
