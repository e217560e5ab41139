import { InvalidInput } from '@muster/core'
import { type Clock, dateOf } from '@muster/core/clock'
import {
  type Allocator,
  type AllocatorListener,
  createJoinSigner,
  createServerKeys,
  type EndedMatches,
  type HostedMatch,
  type JoinGrant,
  type MatchRoster,
  type MatchResult,
  type ResultOutbox,
  type SeatsWanted,
  type ServerReport,
  type StopReason,
} from '@muster/hosting/internal'
import { MatchNotRunning, PlayerPlaying, Unavailable, UnknownSeat, UnknownServer } from '../errors.js'
import type { JoinTokenOptions } from '../options.js'
import type { Events } from '../events.js'
import { type Cooldowns, type Match, seatIdOf, type Ticket, type TicketStore } from '../tickets/index.js'
import { MatchIsFull } from './backfill-commands.js'
import { inCommon } from './match-order.js'
import type { MatchingApi } from './match-commands.js'
import type { MatchLifecycle } from './match-lifecycle.js'
import type { Matchmaker } from './matchmaker.js'

type BackfillCommands = Pick<Matchmaker, 'createBackfill' | 'updateBackfill' | 'cancelBackfill'>

interface ServerOutcomesOptions {
  readonly lifecycle: () => Pick<MatchLifecycle, 'find'>
  readonly matching: () => Pick<MatchingApi, 'playersLeft' | 'end'>
  readonly backfilling: () => BackfillCommands
  readonly tickets: () => Pick<TicketStore, 'find'>
  readonly conclude: Conclude
  readonly events: Events
}

/** What game servers say of their matches, and who plays these. */
export function createServerOutcomes(options: ServerOutcomesOptions): AllocatorListener['games'] {
  const { lifecycle, matching, backfilling, tickets, conclude, events } = options
  const problem = (matchId: string, error: unknown) => events.emit('problem', { during: 'server', error, matchId })
  return {
    rosterOf: (matchId) => {
      const match = lifecycle().find(matchId)
      return match === undefined || match.teamsUnknown ? undefined : rosterOf(match, tickets())
    },
    left: ({ id: matchId }, playerIds) => {
      try {
        void matching()
          .playersLeft(matchId, playerIds)
          .catch(() => {})
      } catch (error) {
        problem(matchId, error)
      }
    },
    over: (match, result, leftNow) => {
      conclude(match, { reason: 'over', result, leftNow })
      matching().end(match.id, 'over')
    },
    ended: (match, reason) => conclude(match, { reason }),
    seatsWanted: ({ id: matchId }, seats, isNew) => {
      try {
        want(matchId, seats)
        // Who is missing is counted here, now and later; the numbers of teams are of those who were missing once.
        return !seats.open || seats.teams !== undefined
      } catch (error) {
        // A match that does not run yet, or in which nobody is missing, is no mistake. Any other is told once.
        if (isNew && !(error instanceof MatchNotRunning || error instanceof MatchIsFull)) problem(matchId, error)
        return false
      }
    },
  }

  function want(matchId: string, { open, teams }: SeatsWanted): void {
    const backfill = lifecycle().find(matchId)?.backfill
    const { createBackfill, updateBackfill, cancelBackfill } = backfilling()
    if (!open) {
      if (backfill !== undefined) cancelBackfill(backfill.id)
      return
    }
    const wanted = teams && Object.entries(teams).map(([name, slots]) => ({ name, slots }))
    if (backfill === undefined) createBackfill({ matchId, teams: wanted })
    else if (wanted !== undefined) updateBackfill(backfill.id, { version: backfill.version, teams: wanted })
  }
}

/** How a match ended that was played. */
interface EndOfPlay {
  readonly reason: StopReason
  readonly result?: MatchResult | undefined
  /** Players who have left with the end. */
  readonly leftNow?: readonly string[] | undefined
}

/** Tells of the end of a match that was played, and keeps its result for the backend. Once for each match. */
type Conclude = (match: HostedMatch, end: EndOfPlay) => void

/** Creates the function that tells of the ends of matches. */
export function createConclude(options: {
  readonly results: Pick<ResultOutbox, 'add'> | undefined
  readonly events: Pick<Events, 'emit'>
  readonly clock: Pick<Clock, 'now'>
}): Conclude {
  const { results, events, clock } = options
  const concluded = new WeakSet<HostedMatch>()
  return (match, { reason, result, leftNow = [] }) => {
    if (concluded.has(match)) return
    concluded.add(match)
    const { id: matchId, queue, playerIds: present } = match
    const endedAt = dateOf(clock)
    const left = [...match.left, ...leftNow.map((playerId) => ({ playerId, at: endedAt }))]
    const playerIds = [...new Set([...match.left.map(({ playerId }) => playerId), ...present])]
    const { source, enrolled } = match.host ?? {}
    const from = {
      ...(source !== undefined && { source }),
      ...(enrolled !== undefined && { enrolmentKey: enrolled.key }),
    }
    results?.add({ matchId, queue, playerIds, left, result, endedAt, endReason: reason, ...from })
    events.emit('matchOver', { matchId, queue, playerIds, reason, result, ...(left.length > 0 && { left }), ...from })
  }
}

function rosterOf({ queue, teams, placed }: Match, store: Pick<TicketStore, 'find'>): MatchRoster {
  const tickets = placed.map(({ ticket }) => ticket)
  // A ticket in a match has lost the players who left: places count by the ticket as it was made.
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

interface ServerCommandsOptions {
  readonly allocator: Pick<
    Allocator,
    | 'registerServer'
    | 'enrolling'
    | 'reportServer'
    | 'waitForOrders'
    | 'joinToken'
    | 'joinKeys'
    | 'drainServer'
    | 'findServer'
    | 'dropServer'
  >
  readonly lifecycle: Pick<MatchLifecycle, 'find'>
  readonly matching: Pick<MatchingApi, 'recorded' | 'end'>
  readonly ended: Pick<EndedMatches, 'has'>
}

/** The commands of game servers. */
export function createServerCommands({
  allocator,
  lifecycle,
  matching,
  ended,
}: ServerCommandsOptions): Pick<
  Matchmaker,
  | 'registerServer'
  | 'isEnrolmentKey'
  | 'enrolServer'
  | 'revokeEnrolment'
  | 'reportServer'
  | 'waitForServerOrders'
  | 'joinToken'
  | 'joinKeys'
  | 'drainServer'
  | 'stopServer'
> {
  const unknown = (serverId: string) =>
    new UnknownServer(`There is no game server ${JSON.stringify(serverId)}. It may have ended.`)
  return {
    registerServer: (token, registration) => allocator.registerServer(token, registration),
    isEnrolmentKey: (key) => allocator.enrolling.isEnrolmentKey(key),
    enrolServer: async (key, request, from) => {
      const server = allocator.enrolling.enrol(key, request, from)
      await matching.recorded(server.id)
      return server
    },
    revokeEnrolment: async (keyId) => {
      await Promise.all(allocator.enrolling.revoke(keyId).map((id) => matching.recorded(id)))
    },
    reportServer: async (token, report) => {
      assertTeams(report, (matchId) => lifecycle.find(matchId))
      const { orders, before } = allocator.reportServer(token, report)
      // What it said of matches has happened, also of those that it left out. It is answered once a restart would know.
      const about = new Set([...before, ...report.matches.map(({ id }) => id)])
      await Promise.all(Array.from(about, (id) => matching.recorded(id)))
      return orders
    },
    drainServer: async (serverId) => {
      if (!allocator.drainServer(serverId) && !ended.has(serverId)) throw unknown(serverId)
      await matching.recorded(serverId)
    },
    stopServer: async (serverId) => {
      const server = allocator.findServer(serverId)
      if (server === undefined && !ended.has(serverId)) throw unknown(serverId)
      const about = [serverId, ...Array.from(server?.guests ?? [], ({ id }) => id)]
      if (server !== undefined) {
        // The players of a match that has the server for itself leave it first.
        matching.end(serverId, 'stopped')
        allocator.dropServer(server, 'stopped')
      }
      await Promise.all(about.map((id) => matching.recorded(id)))
    },
    joinToken: (ticket, playerId) => {
      const grant = joinGrantOf(ticket, playerId)
      return grant && allocator.joinToken(grant)
    },
    joinKeys: () => allocator.joinKeys(),
    waitForServerOrders: async (token, wait) => {
      const { orders, before } = await allocator.waitForOrders(token, wait)
      // A match that is not listed is over for the server: it hears of that once a restart would know.
      const there = new Set(orders.matches.map(({ id }) => id))
      await Promise.all(before.flatMap((id) => (there.has(id) ? [] : [matching.recorded(id)])))
      return orders
    },
  }
}

type SeatCommands = Pick<
  Matchmaker,
  'listedServers' | 'holdSeats' | 'followSeat' | 'releaseSeat' | 'seatsOf' | 'startServer'
>

interface SeatCommandsOptions {
  readonly browser: Allocator['browser']
  readonly cooldowns: Pick<Cooldowns, 'check'>
  readonly findPlayer: Matchmaker['findPlayer']
  readonly find: Allocator['findServer']
  readonly matching: Pick<MatchingApi, 'recorded'>
  readonly clock: Pick<Clock, 'now'>
  readonly assertNotClosed: () => void
}

/**
 * Where players on cooldown are counted who let seats expire. It has the terms of a queue: 60 s, then twice as long
 * each time, at most 15 minutes (our choices).
 */
export const SEATS_QUEUE = {
  name: 'seats',
  cooldown: {
    name: 'seats',
    firstMs: 60_000,
    factor: 2,
    maxMs: 900_000,
    forgiveAfterMs: 3_600_000,
    for: ['not-accepted'],
  },
} as const

/** The commands of players about listed servers. */
export function createSeatCommands(options: SeatCommandsOptions): SeatCommands {
  const { browser, cooldowns, findPlayer, find, matching, clock, assertNotClosed } = options
  /** @throws {PlayerPlaying}; {PlayerCoolingDown} */
  const assertFree = (playerIds: readonly string[]) => {
    assertNotClosed()
    for (const playerId of playerIds) {
      cooldowns.check(playerId, SEATS_QUEUE, clock.now())
      const { tickets, match } = findPlayer(playerId)
      const playing = tickets.find(({ matchId, ended }) => matchId !== undefined && ended === undefined)
      const matchId = playing?.matchId ?? match?.matchId
      if (matchId !== undefined) throw new PlayerPlaying(playerId, playing?.id, matchId)
    }
  }
  const noSeat = () => new UnknownSeat('There is no such seat, or it is not yours.')
  return {
    listedServers: (known) => browser.changes(known),
    holdSeats: (request) => {
      assertFree(request.playerIds)
      return browser.hold(request)
    },
    followSeat: (seatId, playerId) => {
      const seat = browser.follow(seatId, playerId)
      if (seat === undefined) throw noSeat()
      return seat
    },
    releaseSeat: async (seatId, playerId) => {
      const serverId = browser.release(seatId, playerId)
      if (serverId === undefined) throw noSeat()
      await matching.recorded(serverId)
    },
    seatsOf: (playerId) => browser.ofPlayer(playerId),
    startServer: async (request) => {
      assertFree(request.playerIds)
      const started = browser.start(request)
      const { serverId, isNew } = started
      try {
        await matching.recorded(serverId)
        if (find(serverId) === undefined && !browser.isStarting(serverId))
          throw new Unavailable('The store cannot record the server, so none is started. Retry.')
      } catch (error) {
        if (isNew) browser.cancel(serverId, request.playerIds)
        throw error
      }
      return started
    },
  }
}

/** @throws {InvalidInput} naming the field, if seats are wanted in a team that the match does not have */
function assertTeams({ matches }: ServerReport, find: (matchId: string) => Match | undefined): void {
  for (const [index, { id, seats }] of matches.entries()) {
    const match = find(id)
    if (match === undefined || seats?.teams === undefined) continue
    for (const [name, slots] of Object.entries(seats.teams)) {
      const team = match.teams.find((one) => one.name === name)
      const field = `matches.${index}.seats.teams.${name}`
      if (team === undefined) throw new InvalidInput(`${field}: the match has no such team`, { field })
      if (slots > team.max)
        throw new InvalidInput(`${field}: must be at most ${team.max}, the players of the team, got ${slots}`, {
          field,
        })
    }
  }
}

/** Makes join tokens, in a process that has the master secret of the servers' tokens and no matches of its own. */
export function createJoinTokens(
  { alg }: JoinTokenOptions,
  masterSecret: () => string,
  clock: Pick<Clock, 'now' | 'wallStepMs'>,
): Pick<Matchmaker, 'joinToken' | 'joinKeys'> {
  const signer = createJoinSigner(alg, createServerKeys(masterSecret))
  return {
    joinToken: (ticket, playerId) => {
      const grant = joinGrantOf(ticket, playerId)
      return grant && signer.grant(grant, clock)
    },
    joinKeys: signer.keySet,
  }
}

/** What a player may join by their ticket; undefined unless its server runs, with the player in its match. */
function joinGrantOf(ticket: Ticket, playerId: string): JoinGrant | undefined {
  const { id, status, assignment, matchId, ended, left, players, team } = ticket
  const index = players.findIndex((player) => player.id === playerId)
  if (status !== 'HOST_ASSIGNED' || ended !== undefined || index === -1) return undefined
  if (left?.includes(playerId) === true) return undefined
  if (assignment?.server === undefined || matchId === undefined) return undefined
  return {
    server: assignment.server,
    matchId,
    playerId,
    seatId: seatIdOf(ticket, index),
    team,
    groupId: players.length > 1 ? id : undefined,
  }
}
