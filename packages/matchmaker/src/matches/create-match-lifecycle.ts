import type { MatchLifecycle, MatchLifecycleOptions } from './match-lifecycle.js'
import { createAcceptances } from './acceptances.js'
import { filled } from '../tickets/vacancies.js'
import type { StopReason } from '@muster/servers'
import { newId } from '@muster/core/runtime'
import type { Group } from './rounds.js'
import type { MatchEnd } from '../tickets/ticket.js'
import { ticketOf } from '../tickets/ticket-view.js'
import type { Match, TicketRecord } from '../tickets/records.js'
import { isSeated, newMatch, placed, playersOf, waitingFor } from './match.js'
import { orderOf, teamsOf } from './order.js'
import { createLeaving } from './leaving.js'
import { createReplacing } from './replacing.js'

export function createMatchLifecycle({
  tickets,
  backfills,
  allocator,
  ended,
  events,
  cooldowns,
  random,
  placing,
}: MatchLifecycleOptions): MatchLifecycle {
  const matches = new Map<string, Match>()
  /** Matches that are asking or due. Of thousands of matches, only these are looked at each tick. */
  const early = new Set<Match>()
  const acceptances = createAcceptances(tickets)
  const replacing = createReplacing({ backfills, allocator })

  const named = ({ matchId, queue }: Match) => ({ matchId, queue: queue.name })

  const seat = (match: Match, { runtime, records, teams }: Group, now: number): boolean => {
    if (!tickets.take(records, runtime, match, teams, now)) return false
    match.seated = match.seated.length === 0 ? records : [...match.seated, ...records]
    match.placed = match.placed.length === 0 ? placed(records) : [...match.placed, ...placed(records)]
    if (match.queue.acceptance !== undefined) for (const record of records) acceptances.expect(record)
    return true
  }

  /** @param teamOf for each seated ticket the index of its team. */
  const deploy = (match: Match, teamOf: readonly number[]): Promise<void> => {
    const { matchId, queue, seated, foundAt } = match
    match.phase = 'deploying'
    if (queue.acceptance !== undefined) {
      early.delete(match)
      for (const record of seated) tickets.setAcceptance(record, undefined)
    }
    const order = orderOf(match, { teamOf, placements: placing(match) })
    return allocator.allocate({ matchId, queue: queue.name, at: foundAt }, order)
  }

  /** Makes the match due for a server once nobody is missing and all have accepted. */
  const proceed = (match: Match, now: number) => {
    if (match.phase !== 'asking' || match.backfill !== undefined) return
    if (match.seated.some(acceptances.isPending)) return
    match.phase = 'due'
    serve(now)
  }

  const serve = (now: number) => {
    if (early.size === 0) return
    let room = allocator.room(now)
    for (const match of early) {
      if (match.phase !== 'due' || room <= 0) continue
      room -= 1
      void deploy(match, teamsOf(match.seated))
    }
  }

  /** Assigns tickets to the running server. */
  const arrive = (match: Match, records: readonly TicketRecord[], now: number) => {
    const { requestId, assignment } = match
    if (requestId === undefined || assignment === undefined || records.length === 0) return
    match.seated = match.seated.filter((record) => !records.includes(record))
    for (const record of records) {
      tickets.setAcceptance(record, undefined)
      tickets.assign(record, now)
    }
    events.emit('assigned', { ...named(match), requestId, assignment, tickets: records.map(ticketOf) })
  }

  const over = (match: Match, stop: StopReason, now: number) => {
    match.phase = 'over'
    matches.delete(match.matchId)
    ended.add(match.matchId)
    early.delete(match)
    if (match.backfill !== undefined) backfills.cancel(match.backfill)
    for (const record of match.seated) acceptances.forget(record)
    tickets.matchOver(match, matchEndOf(stop), now)
  }

  /** The match ends before its tickets return, so that a listener finds it gone. */
  const dissolve: MatchLifecycle['dissolve'] = (match, { reason, counts = false, stop = reason }, now) => {
    if (match.phase === 'over') return
    over(match, stop, now)
    drop(match, stop)
    const isAttempt = ({ id }: TicketRecord) => (typeof counts === 'boolean' ? counts : counts.includes(id))
    for (const record of waitingFor(match)) tickets.putBack(record, reason, isAttempt(record), now)
  }

  const leaving = createLeaving({ tickets, acceptances, replacing, dissolve })

  /**
   * Dissolves a match whose server is being stopped, before that is confirmed: nobody is sent there. Returns whether it
   * did.
   */
  const endIfGoing = (match: Match, now: number): boolean => {
    if (match.phase !== 'running' || allocator.find(match.matchId)?.phase === 'running') return false
    dissolve(match, { reason: 'stopped' }, now)
    return true
  }

  /** The tickets that wait for the server and for nothing else. */
  const expected = (match: Match): readonly TicketRecord[] =>
    waitingFor(match).filter((record) => !acceptances.isPending(record))

  const drop = ({ matchId }: Match, reason: StopReason) => {
    const allocation = allocator.find(matchId)
    if (allocation !== undefined) allocator.drop(allocation, reason)
  }

  return {
    find: (matchId) => matches.get(matchId),
    all: () => matches.values(),

    room: (now) => allocator.room(now) - early.size,

    advance: (now) => {
      serve(now)
      const late = acceptances.overdue(now)
      for (const match of new Set(late.map((record) => record.seat?.match))) {
        if (match === undefined) continue
        const unanswered = late.filter((record) => isSeated(record, match))
        cooldowns.count(match.queue, unanswered.flatMap(silentIn), 'not-accepted', now)
        leaving.together(match, unanswered, 'not-accepted', now)
      }
      for (const match of early) if (match.fullBy <= now) dissolve(match, { reason: 'not-accepted' }, now)
    },

    begin: (group, now) => {
      const { queue: itself, compiled } = group.runtime
      const { queue = itself } = group
      const asks = queue.acceptance !== undefined
      const match = newMatch(newId(random), queue, compiled.model.teams, now)
      match.expansionMs = group.expansionMs
      if (asks) match.phase = 'asking'
      if (!seat(match, group, now)) return undefined
      matches.set(match.matchId, match)
      if (asks) early.add(match)
      const begun = asks ? Promise.resolve() : deploy(match, group.teams)
      // Emitted last, so that a listener may cancel the tickets or stop the match.
      if (events.isHeard('matchFound')) {
        const { matchId, expansionMs } = match
        events.emit('matchFound', { matchId, queue: queue.name, tickets: group.records.map(ticketOf), expansionMs })
      }
      return begun
    },

    join: (group, now) => {
      const { backfill, records } = group
      if (backfill?.record.status !== 'OPEN' || backfill.record.version !== backfill.version) return
      const { match } = backfill.record
      if (endIfGoing(match, now)) return
      // Where players may wait while they play, this may be the match that they play in.
      if (match.queue.playersMayWaitWhilePlaying && records.some((record) => isSharing(record, match))) return
      if (!seat(match, group, now)) return
      const ids = records.map(({ id }) => id)
      replacing.refresh(backfill.record, filled(backfill.record, placed(records)), ids)
      if (match.backfill === undefined) match.fullBy = Infinity
      replacing.tellPlayers(match, (all) => [...all, ...playersOf(records)])
      events.emit('joined', { ...named(match), backfillId: backfill.record.id, tickets: records.map(ticketOf) })
      if (match.phase === 'running')
        arrive(
          match,
          records.filter((record) => isSeated(record, match) && !acceptances.isPending(record)),
          now,
        )
      else proceed(match, now)
    },

    accept: (record, playerIds, now) => {
      const match = record.seat?.match
      const accepted = acceptances.accept(record, playerIds)
      if (match === undefined || accepted.length === 0) return
      events.emit('accepted', { ...named(match), ticket: ticketOf(record), playerIds: accepted })
      if (!isSeated(record, match) || acceptances.isPending(record) || endIfGoing(match, now)) return
      if (match.phase === 'running') arrive(match, [record], now)
      else if (match.phase === 'deploying') tickets.setAcceptance(record, undefined)
      else proceed(match, now)
    },

    leave: (record, reason, now) => {
      const match = record.seat?.match
      if (match !== undefined) leaving.together(match, [record], reason, now)
    },

    ready: (matchId, requestId, assignment, now) => {
      const match = matches.get(matchId)
      if (match === undefined) return
      match.phase = 'running'
      match.requestId = requestId
      match.assignment = assignment
      arrive(match, expected(match), now)
    },

    desert: leaving.players,

    dissolve,
    close: (match, now) => {
      if (match.phase === 'over') return
      over(match, 'closed', now)
      drop(match, 'closed')
      for (const record of waitingFor(match)) tickets.cancel(record, 'closed', now)
    },
    adopt: (match) => {
      matches.set(match.matchId, match)
      for (const record of waitingFor(match)) if (isAsked(record)) acceptances.expect(record)
    },
    expected: (matchId) => {
      const match = matches.get(matchId)
      return match === undefined ? [] : expected(match).map(({ id }) => id)
    },
  }
}

const matchEndOf = (stop: StopReason): MatchEnd => {
  if (stop === 'crashed') return 'server-lost'
  return stop === 'nobody-joined' ? stop : 'match-over'
}

/** Whether the ticket's players are asked whether they accept, and have not all answered. */
const isAsked = ({ seat, players }: TicketRecord): boolean =>
  seat?.acceptance !== undefined && seat.acceptance.accepted.length < players.length

/** The players of the ticket who have not accepted. */
const silentIn = ({ seat, players }: TicketRecord): readonly string[] =>
  players.flatMap(({ id }) => (seat?.acceptance?.accepted.includes(id) === true ? [] : [id]))

/** Whether a player of the ticket is in the match already. */
const isSharing = ({ players }: TicketRecord, { placed: there }: Match): boolean =>
  players.some(({ id }) => there.some(({ ticket }) => ticket.players.some((player) => player.id === id)))
