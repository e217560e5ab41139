import { type Clock, dateOf } from '@muster/core/clock'
import { scrub } from '@muster/core/internal'
import type {
  AllocatorListener,
  HostedMatch,
  MatchResult,
  MatchRoster,
  ResultOutbox,
  SeatsWanted,
  Server,
  StopReason,
} from '@muster/hosting/internal'
import { MatchNotRunning } from '../errors.js'
import { createServerEvents, type Events } from '../events.js'
import { type Ledger, type Match, type PlayerLimits, seatIdOf, type TicketStore } from '../tickets/index.js'
import { MatchIsFull } from './backfill-commands.js'
import type { MatchCommands } from './match-commands.js'
import type { MatchLifecycle } from './match-lifecycle.js'
import { inCommon, placedOf } from './match-order.js'
import { type EndOfMatch, playersOf, waitingFor } from './match.js'
import type { Matchmaker } from './matchmaker.js'

/** The parts that receive the outcomes. Most are created after the allocator, so they are read only when needed. */
interface Receivers {
  readonly tickets: Pick<TicketStore, 'find'>
  readonly lifecycle: Pick<MatchLifecycle, 'find' | 'ready' | 'dissolve'>
  readonly matching: Pick<MatchCommands, 'playersLeft' | 'end'>
  readonly backfilling: Pick<Matchmaker, 'createBackfill' | 'updateBackfill' | 'cancelBackfill'>
  readonly limits: Pick<PlayerLimits, 'served'>
  readonly ledger: Pick<Ledger, 'served'> | undefined
  readonly results: Pick<ResultOutbox, 'add'> | undefined
  readonly events: Events
  readonly clock: Pick<Clock, 'now' | 'wallStepMs'>
}

/** Creates the listener that passes outcomes of hosting to matches, limits and events. */
export function createHostingOutcomes(to: Receivers): AllocatorListener {
  const { events, clock } = to
  const named = ({ id: matchId, queue, pool }: Server) =>
    pool === undefined ? { matchId, queue } : { matchId, queue, pool }
  const end = ({ id }: HostedMatch, why: EndOfMatch) => {
    const match = to.lifecycle.find(id)
    if (match !== undefined) to.lifecycle.dissolve(match, why, clock.now())
  }
  const served = (playerIds: readonly string[]) => {
    to.limits.served(playerIds, clock.now())
    to.ledger?.served(playerIds)
  }
  return {
    games: createGameOutcomes(to),
    servers: createServerEvents(events),
    created: (server, requestId) => {
      const { order, charged, chargedPlayers = [] } = server
      // A create that is repeated elsewhere for lack of capacity is not the players' doing. Only the first create
      // counts against their limits. Creates of an earlier process were already counted by that process.
      if (order !== undefined && !charged) served(chargedPlayers)
      events.emit('deploymentCreated', { ...named(server), requestId })
    },
    used: served,
    up: (server, requestId, unseenMs) =>
      events.emit('deploymentReady', {
        ...named(server),
        requestId,
        startMs: clock.now() - server.knownAt,
        unseenMs,
        placed: placedOf(server),
      }),
    ready: ({ id }, requestId, assignment) => to.lifecycle.ready(id, requestId, assignment, clock.now()),
    failed: (match, reason, counts) => end(match, { reason, counts }),
    faulty: (server, requestId, reason, detail) =>
      events.emit('deploymentFailed', { ...named(server), requestId, reason, detail: shortOf(detail) }),
    logs: (server, requestId, reason, logs) => events.emit('serverLogs', { ...named(server), requestId, reason, logs }),
    over: (match, stop) => end(match, { reason: 'stopped', stop }),
    stopped: (server, requestId, reason) => events.emit('deploymentStopped', { ...named(server), requestId, reason }),
    reaped: (requestId) => events.emit('orphanStopped', { requestId }),
    problem: (during, error, about, requestId) =>
      events.emit('problem', { during, error, matchId: about?.id, requestId, source: about?.source }),
  }
}

const LONGEST_DETAIL = 300

/** Scrubs and shortens a text of the deployment service, because it may contain anything. */
const shortOf = (detail: string | undefined) => detail && scrub(detail).replaceAll(/\s+/g, ' ').slice(0, LONGEST_DETAIL)

/** Creates the functions that handle game servers' reports about their matches and players. */
function createGameOutcomes(to: Receivers): AllocatorListener['games'] {
  const conclude = createConclude(to)
  const problem = (matchId: string, error: unknown) => to.events.emit('problem', { during: 'server', error, matchId })
  return {
    rosterOf: (matchId) => {
      const match = to.lifecycle.find(matchId)
      return match === undefined || match.teamsUnknown ? undefined : rosterOf(match, to.tickets)
    },
    left: ({ id: matchId }, playerIds) => {
      try {
        void to.matching.playersLeft(matchId, playerIds).catch(() => {})
      } catch (error) {
        problem(matchId, error)
      }
    },
    over: (match, result, leftNow) => {
      // A match whose players were not sent to its server was not played: its players search again.
      if (match.hasBegun) conclude(match, { reason: 'over', result, leftNow })
      to.matching.end(match.id, 'over')
    },
    ended: (match, reason) => conclude(match, { reason }),
    seatsWanted: ({ id: matchId }, seats, isNew) => {
      try {
        applySeatsWanted(to, matchId, seats)
        // True if the request need not be applied again. Numbers of seats by team hold for one moment, so they are
        // applied once. Without these numbers, Muster counts the missing players of an open match now and after each
        // later change.
        return !seats.open || seats.teams !== undefined
      } catch (error) {
        // The server may report a match that does not run yet or is full. That is no mistake of the server. Other
        // errors are emitted once.
        if (isNew && !(error instanceof MatchNotRunning || error instanceof MatchIsFull)) problem(matchId, error)
        return false
      }
    },
  }
}

function applySeatsWanted({ lifecycle, backfilling }: Receivers, matchId: string, { open, teams }: SeatsWanted): void {
  const backfill = lifecycle.find(matchId)?.backfill
  if (!open) {
    if (backfill !== undefined) backfilling.cancelBackfill(backfill.id)
    return
  }
  const wanted = teams && Object.entries(teams).map(([name, slots]) => ({ name, slots }))
  if (backfill === undefined) backfilling.createBackfill({ matchId, teams: wanted })
  else if (wanted !== undefined) backfilling.updateBackfill(backfill.id, { version: backfill.version, teams: wanted })
}

/** The end of a match that was played. */
interface EndOfPlay {
  readonly reason: StopReason
  readonly result?: MatchResult | undefined
  /** Players who left when the match ended. */
  readonly leftNow?: readonly string[] | undefined
}

/** Creates the function that reports the end of a played match, once, and stores its result for the backend. */
function createConclude(to: Receivers) {
  const { results, events, clock } = to
  const concluded = new WeakSet<HostedMatch>()
  return (match: HostedMatch, { reason, result, leftNow = [] }: EndOfPlay) => {
    if (concluded.has(match)) return
    concluded.add(match)
    const { id: matchId, queue } = match
    const endedAt = dateOf(clock)
    const found = to.lifecycle.find(matchId)
    // Whoever was about to join by a backfill was never sent to the server.
    const joining = found === undefined ? [] : waitingFor(found)
    const strangers = playersOf(joining)
    const present = match.playerIds.filter((id) => !strangers.includes(id))
    const left = [...match.left, ...leftNow.map((playerId) => ({ playerId, at: endedAt }))]
    const playerIds = [...new Set([...match.left.map(({ playerId }) => playerId), ...present])]
    const { source, enrolled } = match.host ?? {}
    const from = {
      ...(source !== undefined && { source }),
      ...(enrolled !== undefined && { enrolmentKey: enrolled.key }),
    }
    results?.add({ matchId, queue, playerIds, left, result, endedAt, endReason: reason, ...from })
    const joined = found?.placed.filter(({ ticket }) => !joining.some(({ id }) => id === ticket.id)) ?? []
    const ticketIds = [...new Set([...match.ticketIds, ...joined.map(({ ticket }) => ticket.id)])]
    const players = { playerIds, ticketIds, ...(left.length > 0 && { left }) }
    events.emit('matchOver', { matchId, queue, reason, result, ...players, ...from })
  }
}

function rosterOf({ queue, teams, placed }: Match, store: Pick<TicketStore, 'find'>): MatchRoster {
  const tickets = placed.map(({ ticket }) => ticket)
  // A match's ticket no longer holds players who left, but seat numbers count all players of the ticket as created.
  const seatOf = (ticketId: string, playerId: string) => {
    const whole = store.find(ticketId)
    const index = whole?.players.findIndex(({ id }) => id === playerId) ?? -1
    return whole === undefined || index === -1 ? undefined : seatIdOf(whole, index)
  }
  return {
    queue: queue.name,
    teams: teams.map(({ name }, team) => ({
      name,
      players: placed.flatMap(({ ticket, team: its }) =>
        its === team
          ? ticket.players.map(({ id, attributes }) => {
              const seatId = seatOf(ticket.id, id)
              return { id, ticketId: ticket.id, ...(seatId !== undefined && { seatId }), attributes }
            })
          : [],
      ),
    })),
    ...inCommon(queue.rules, tickets),
  }
}
