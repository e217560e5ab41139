import type { Tickets, TicketsOptions } from './tickets.js'
import type { TicketRecord } from './records.js'
import { ticketOf } from './ticket-view.js'
import type { Admitting } from './admission.js'
import { createCreating } from './creating.js'
import type { Place } from './locating.js'
import { createPlayerIndex } from './player-index.js'
import { createPlaying } from './playing.js'
import { createPrivateMatches, isPrivate, reasonOfOthers } from './private-matches.js'
import { createEndedTickets } from './ended-tickets.js'
import { createFollowing } from './following.js'
import { createLoading } from './loading.js'
import { moveAll } from './moving.js'
import { isIn, leaveOthers } from './pool-membership.js'
import { hasEnded, isSettled, type TicketStatus } from './ticket.js'
import { createChangeListeners } from './change-listeners.js'
import { atOnce, restAfter } from './rest.js'
import { createSearching } from './searching.js'

export function createTickets(options: TicketsOptions): Tickets {
  const { limits, locatePlayers, locateTimeoutMs, keepEndedMs, events, clock, ledger, inheriting } = options
  let { runtimes } = options
  const byId = new Map<string, TicketRecord>()
  const players = createPlayerIndex()
  const waiters = createChangeListeners()
  const ended = createEndedTickets(byId, keepEndedMs, ledger?.ended)
  const following = ledger && createFollowing()

  const playing = createPlaying()
  const privateMatches = createPrivateMatches()
  let admitting: Admitting = { ...options, players, playing }

  const touch = (record: TicketRecord) => {
    if (following?.putsOff(record) === true) return
    record.version += 1
    // First the ledger: it writes the changes of this turn before those who wait for them can go on.
    ledger?.changed(ticketOf(record))
    waiters.changed(record)
  }

  const waiting = createSearching({
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

  const end = (record: TicketRecord, status: TicketStatus, now: number): void => {
    waiting.leave(record, now)
    players.remove(record)
    record.status = status
    touch(record)
  }

  const settleAll = (records: readonly TicketRecord[], now: number) => {
    for (const record of records) waiting.settle(record, now)
  }

  const located = (record: TicketRecord, place: Place) => {
    record.place = place
    record.locating = false
    if (record.status !== 'SEARCHING' || byId.get(record.id) !== record) return
    // The ticket may be in the pools already, without a place.
    const now = clock.now()
    waiting.leave(record, now)
    waiting.settle(record, now)
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
      restAfter,
      clock,
    })

  const tickets: Tickets = {
    ...createCreating({
      byId,
      players,
      privateMatches,
      searching: waiting,
      admitting: () => admitting,
      located,
      ledger,
      events,
    }),

    find: (id) => byId.get(id),
    ofPlayer: (playerId) => [...players.ticketsOf(playerId), ...playing.ticketsOf(playerId)],
    advance: waiting.advance,

    reserve: (records, runtime) => {
      for (const record of records) leaveOthers(record, runtime)
    },
    release: (records, now) => {
      for (const record of records) if (record.runtimes.length > 1) waiting.settle(record, now)
    },

    take: (records, runtime, match, teams, now) => {
      for (const record of records) if (!isIn(record, runtime) && !isPrivate(record)) return false
      const asks = match.queue.acceptance
      const acceptance = asks && { until: Math.floor(now + asks.withinMs), accepted: [] }
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

    putBack: (record, reason, counts, now) => {
      const { seat } = record
      if (record.status !== 'MATCH_FOUND' || seat === undefined) return
      const { matchId, queue } = seat.match
      if (counts) record.attempts += 1
      if (record.attempts >= queue.maxAttempts) return tickets.cancel(record, 'attempts', now)
      if (isPrivate(record) && reason === 'stopped') return tickets.cancel(record, 'dissolved', now)
      record.status = 'SEARCHING'
      record.seat = undefined
      record.restsUntil = atOnce.has(reason) ? now : now + restAfter(record.attempts)
      record.waitingFor = atOnce.has(reason) ? 'players' : 'retry'
      touch(record)
      events.emit('returned', { matchId, queue: queue.name, ticket: ticketOf(record), reason })
      waiting.settle(record, now)
      settleAll(othersOf(record), now)
    },

    assign: (record, now) => {
      const others = othersOf(record)
      if (isPrivate(record)) privateMatches.forget(record)
      record.assignedAt = now
      end(record, 'HOST_ASSIGNED', now)
      if (record.seat === undefined || record.seat.match.phase === 'over') ended.add(record, now)
      else playing.add(record, record.seat.match)
      for (const other of others) tickets.cancel(other, 'elsewhere', now)
    },

    cancel: (record, reason, now) => {
      if (hasEnded(record)) return
      const others = othersOf(record)
      record.cancelledAt = now
      record.cancelReason = reason
      ended.add(record, now)
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
    left: playing.leave,
    matchOver: (match, how, now) => {
      for (const record of playing.end(match)) {
        record.matchEnd = how
        ended.add(record, now)
        touch(record)
      }
    },

    change: async (record, { version, signal, until }) => {
      const ticket = ticketOf(record)
      return ticket.version !== version || isSettled(ticket, until) ? ticket : waiters.wait(record, signal)
    },

    moveTo: (others, now) => {
      runtimes = others
      admitting = { ...admitting, runtimes }
      return moveAll(byId, runtimes, waiting, now)
    },

    privateMatches: privateMatches.waiting,
    endWaits: waiters.end,
    removeEnded: ended.advance,
    all: () => byId.values(),
    outside: waiting.outside,
    loading,
  }
  return tickets
}
