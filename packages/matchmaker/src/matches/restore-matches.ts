import type { Clock } from '@muster/core/clock'
import { deepFreeze } from '@muster/core/internal'
import type { Assignment, RestoredMatches, MatchRecord, Order } from '@muster/hosting/internal'
import type { TeamShape } from '@muster/kernel'
import { defineQueue, type Queue } from '../queues/index.js'
import {
  mayWaitWhilePlaying,
  type Ledger,
  type Match,
  type QueueRuntime,
  type MatchSeat,
  type TicketRecord,
  type TicketState,
  hasEnded,
  type TicketStore,
  remaining,
} from '../tickets/index.js'
import type { Backfills, SavedBackfill } from './backfills.js'
import type { MatchLifecycle } from './match-lifecycle.js'
import { type FindPlacements, orderOf, teamsOf } from './match-order.js'
import { newMatch, playersOf, privateQueue } from './match.js'

interface MatchRestoreOptions {
  readonly inheriting: InheritedMatches
  readonly lifecycle: () => Pick<MatchLifecycle, 'adopt' | 'find'>
  readonly backfills: Pick<Backfills, 'restore'>
  readonly ledger: Pick<Ledger, 'backfillChanged'> | undefined
  readonly tickets: Pick<
    TicketStore,
    'find' | 'ofPlayer' | 'rejoin' | 'cancel' | 'requeue' | 'plays' | 'left' | 'matchOver'
  >
  readonly placing: (match: Match) => FindPlacements | undefined
  readonly clock: Pick<Clock, 'now'>
}

/** An open or filled backfill as written to the store. */
export interface StoredBackfill {
  readonly backfillId: string
  readonly text: string
}

interface MatchRestore extends RestoredMatches {
  /** Keeps backfills until their matches are taken over. */
  loadBackfills(saved: readonly StoredBackfill[]): void
}

/**
 * Continues the matches of an earlier process. A running match keeps its loaded tickets. A match whose server does not
 * run yet continues if all of its players are loaded; otherwise its tickets search again. Tickets of a match without a
 * record also search again: players who had accepted must accept again.
 */
export function createMatchRestore(options: MatchRestoreOptions): MatchRestore {
  const { inheriting, lifecycle, backfills, ledger, tickets, placing, clock } = options
  let saved: readonly StoredBackfill[] = []

  const giveUp = (match: Match) => {
    match.phase = 'over'
    const now = clock.now()
    for (const record of match.seated) tickets.requeue(record, 'dissolved', false, now)
    tickets.matchOver(match, 'match-over', now)
  }

  /** Marks the players of the match, by their tickets, as playing. */
  const goOnPlaying = (match: Match, playerIds: readonly string[]) => {
    const there = new Set(playerIds)
    const gone = match.placed.flatMap(({ ticket }) => ticket.players.flatMap(({ id }) => (there.has(id) ? [] : [id])))
    if (gone.length > 0) {
      match.placed = remaining(match.placed, new Set(gone))
      tickets.left(match, gone)
    }
    const known = match.placed.reduce((sum, { ticket }) => sum + ticket.players.length, 0)
    match.teamsUnknown = match.teams.length > 1 && known < there.size
  }

  const resumed = (match: Match, { playingSince, queue, playerIds, resumption }: MatchRecord): boolean => {
    if (match.phase === 'over' || match.queue.name !== queue) return false
    match.expansionMs = resumption?.expansionMs ?? 0
    if (playingSince !== undefined || match.assignment !== undefined) {
      goOnPlaying(match, playerIds)
      return true
    }
    const here = new Set(playersOf(match.seated))
    const isComplete = playerIds.length > 0 && playerIds.every((id) => here.has(id))
    return resumption !== undefined && isComplete && !inheriting.isFormer(match)
  }

  const restore = ({ backfillId, text }: StoredBackfill) => {
    const backfill = JSON.parse(text) as SavedBackfill
    const { matchId, filled } = backfill
    const match = lifecycle().find(filled?.matchId ?? matchId)
    const isSecond = filled === undefined && match?.backfill !== undefined
    if (match === undefined || isSecond) ledger?.backfillChanged(backfillId, undefined)
    else backfills.restore(backfill, match)
  }

  /** The last match of each ticket in the store. */
  const claims = new Map<string, string>()
  /** Players who play, according to the store. */
  let playing: readonly string[] = []

  /**
   * Moves the match's tickets into the state that the match's record implies. The record is authoritative, because
   * stored states of tickets may be missing.
   */
  const rejoin = ({ matchId, queue, ticketIds, playerIds, resumption }: MatchRecord) => {
    const now = clock.now()
    const there = new Set(playerIds)
    for (const [index, id] of ticketIds.entries()) {
      const record = tickets.find(id)
      if (record === undefined || claims.get(id) !== matchId || record.seat?.match.matchId === matchId) continue
      if (hasEnded(record) || !record.players.some((player) => there.has(player.id))) continue
      const team = resumption?.teams?.[resumption.teamOf?.[index] ?? 0]
      const match = inheriting.find(matchId, { queue, team, record }, now)
      if (match === undefined) continue
      inheriting.leave(record)
      const seat = tickets.rejoin(
        record,
        match,
        match.teams.findIndex(({ name }) => name === team),
        now,
      )
      if (seat !== undefined) inheriting.join(match, seat)
    }
  }

  /** Ends the searches of players who play in a match, unless the queue allows both at once. */
  const endSearches = () => {
    const now = clock.now()
    for (const record of playing.flatMap((id) => tickets.ofPlayer(id)))
      if (record.status === 'SEARCHING' && !mayWaitWhilePlaying(record.runtimes))
        tickets.cancel(record, 'elsewhere', now)
    playing = []
    claims.clear()
  }

  return {
    expect: (all) => {
      for (const { matchId, ticketIds } of all) for (const id of ticketIds) claims.set(id, matchId)
      playing = all.flatMap(({ playingSince, playerIds }) => (playingSince === undefined ? [] : playerIds))
    },

    assignmentOf: (matchId) => inheriting.assignmentOf(matchId),

    orderOf: (open): Order | undefined => {
      rejoin(open)
      const match = inheriting.take(open.matchId)
      if (match === undefined) return undefined
      for (const { ticket } of match.placed) tickets.plays(ticket.id)
      if (!resumed(match, open)) {
        giveUp(match)
        return undefined
      }
      lifecycle().adopt(match)
      return orderOf(match, teamsOf(match.seated), placing(match))
    },

    done: () => {
      for (const match of inheriting.end()) {
        for (const { ticket } of match.placed) tickets.plays(ticket.id)
        giveUp(match)
      }
      endSearches()
      for (const one of saved) restore(one)
      saved = []
    },

    loadBackfills: (more) => {
      saved = [...saved, ...more]
    },
  }
}

/** Matches of an earlier process, rebuilt from the tickets that name them. */
interface InheritedMatches {
  /**
   * Seats a ticket in the match that its state names. Returns undefined, without a seat, if all matches were taken over
   * already.
   */
  seat(record: TicketRecord, state: TicketState): MatchSeat | undefined
  /** True if the match's queue or one of its teams no longer exists. Such a match continues only if it is played. */
  isFormer(match: Match): boolean
  /**
   * Returns the match of this id, which is created if no ticket was seated in it. Returns undefined if its queue or
   * team no longer exists.
   */
  find(matchId: string, one: OfMatch, now: number): Match | undefined
  /** Returns the address for players of a match, from their tickets; undefined if no ticket has it. */
  assignmentOf(matchId: string): Assignment | undefined
  /** Adds a ticket to a match after the tickets were loaded. */
  join(match: Match, seat: MatchSeat): void
  /** Removes the ticket from the match in which it was seated. */
  leave(record: TicketRecord): void
  /** Takes a match over. Its tickets are in the order in which they joined. */
  take(matchId: string): Match | undefined
  /** Ends the takeover. Returns the matches that were not taken over. */
  end(): readonly Match[]
}

/** A ticket that belongs to a match, and the names of the match's queue and of the ticket's team. */
interface OfMatch {
  readonly queue: string
  readonly team: string | undefined
  readonly record: TicketRecord
}

/** Creates the store of matches of an earlier process. @param runtime finds a queue by its name. */
export function createInheritedMatches(runtime: (queue: string) => QueueRuntime | undefined): InheritedMatches {
  const matches = new Map<string, Match>()
  const former = new WeakSet<Match>()
  let isOver = false

  /** @param there the queue; undefined if the configuration no longer has it. */
  const matchOf = (
    matchId: string,
    name: string,
    there: QueueRuntime | undefined,
    { privateSeat }: TicketRecord,
    matchedAt: number,
  ): Match => {
    const known = matches.get(matchId)
    if (known !== undefined) return known
    const queue = there?.queue ?? formerQueue(name)
    const itself = privateSeat === undefined ? queue : privateQueue(queue, privateSeat)
    const match = newMatch(matchId, itself, there?.compiled.model.teams ?? [], matchedAt)
    match.phase = 'deploying'
    if (there === undefined) former.add(match)
    matches.set(matchId, match)
    return match
  }

  return {
    seat: (record, { status, matchId, queue, team: name = '', matchedAt = 0, acceptance, assignment }) => {
      if (isOver || queue === undefined || matchId === undefined) return undefined
      const match = matchOf(matchId, queue, runtime(queue), record, matchedAt)
      // Without a seat, players of a match that is played would not learn of its server and its end. The match's record
      // says whether it is played: the states of its tickets may be older.
      let team = match.teams.findIndex((one) => one.name === name)
      if (team === -1) {
        team = match.teams.length
        match.teams = [...match.teams, formerTeam(name)]
        former.add(match)
      }
      const seat = { ticket: record, match, team, matchedAt, acceptance }
      match.placed = [...match.placed, seat]
      if (status === 'MATCH_FOUND') match.seated = [...match.seated, record]
      else match.assignment = deepFreeze(assignment)
      return seat
    },
    isFormer: (match) => former.has(match),

    find: (matchId, { queue, team, record }, now) => {
      const there = runtime(queue)
      if (there === undefined || !there.compiled.model.teams.some(({ name }) => name === team)) return undefined
      return matchOf(matchId, queue, there, record, now)
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

/**
 * Returns a queue for matches that run, and whose queue the configuration no longer has. It is never used to make a
 * match or to create a server.
 */
const formerQueue = (name: string): Queue =>
  defineQueue({ name, matchSize: 1, deploy: { application: 'former', version: 'former' } })

/** Returns a team that no player can join, because its queue does not have it. */
const formerTeam = (name: string): TeamShape => ({ name, max: 0, min: new Uint16Array(1) })

const inOrderOfJoining = (one: TicketRecord, other: TicketRecord) =>
  (one.seat?.matchedAt ?? 0) - (other.seat?.matchedAt ?? 0) || one.createdAt - other.createdAt
